"""Digests of answers, as src/base/digest.h defines them, and values as SQL literals.

tests/vectors/digest.json holds every language to the same digests.
"""

import math
import struct

WORD = 0xFFFFFFFF
LIMIT = 2**53 - 1
OUTCOMES = {"ok": b"o", "failed": b"f", "busy": b"y", "conflict": b"c"}


def finalize(h):
    h = (h ^ h >> 16) * 0x85EBCA6B & WORD
    h = (h ^ h >> 13) * 0xC2B2AE35 & WORD
    return h ^ h >> 16


def digest(data):
    a, b = 0x811C9DC5, 0x70697430
    for byte in data:
        a = (a ^ byte) * 0x01000193 & WORD
        b ^= byte
        b = (b << 5 & WORD | b >> 27) * 0x9E3779B1 & WORD
    a ^= len(data) & WORD
    return finalize(a) << 32 | finalize(b + a & WORD)


def number(value):
    return struct.pack("<Q", value)


def double(value):
    if math.isnan(value):
        return bytes.fromhex("000000000000f87f")
    return struct.pack("<d", value + 0.0)  # which makes 0.0 of -0.0


def sized(tag, data):
    return tag + struct.pack("<I", len(data)) + data


def column_bytes(column, strict):
    if column is None:
        return b"n"
    if isinstance(column, str):
        return sized(b"t", text_bytes(column))
    if isinstance(column, bytes):
        return sized(b"b", column)
    if strict:
        return b"r" + double(column) if isinstance(column, float) else \
            b"i" + struct.pack("<q", column)
    if isinstance(column, float) or abs(column) <= LIMIT:
        return b"d" + double(float(column))
    return sized(b"l", str(column).encode())


def text_bytes(text):
    """As the database has them: bytes that are no UTF-8 travel through Python as surrogates."""
    return text.encode("utf-8", "surrogateescape")


def row_digest(row, strict):
    return digest(b"".join(column_bytes(column, strict) for column in row))


def answer_digest(outcome, answers, compare, strict):
    """Of one execution; answers: (rows changed, rows) of each statement that ran."""
    data = OUTCOMES[outcome]
    for changed, rows in answers:
        data += number(changed)
        if compare == "count":
            data += number(len(rows))
        else:
            hashes = [row_digest(row, strict) for row in rows]
            if compare == "set":
                hashes.sort()
            data += b"".join(map(number, hashes))
    return digest(data)


def table_digest(rows, total):
    """total: the sum of the digests of its rows, so that their order does not matter."""
    return digest(number(rows) + number(total % 2**64))


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, str):
        if "\0" in value:
            return f"CAST(x'{text_bytes(value).hex()}' AS TEXT)"
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "9e999" if value > 0 else "-9e999"
    text = next(t for t in (f"{value:.{digits}g}" for digits in (15, 16, 17))
                if float(t) == value)
    return text if "." in text or "e" in text else text + ".0"
