#!/usr/bin/env python3
"""Writes digest.json: what the digests of src/base/digest.h must give.

A second implementation, written from the definition in that header: the bytes of a row are put
together first and hashed as a whole. The worker's end-to-end tests use it as well.

    python3 tests/vectors/make-digest.py > tests/vectors/digest.json

`bytes`: bytes in hex and their digest. `rows`: columns, then the value digest and the strict one.
A column is ["null"], ["integer", decimal text], ["real", the double's 8 bytes, big end first],
["text", bytes] or ["blob", bytes], bytes in hex.
"""

import json
import math
import struct

MASK = 0xFFFFFFFF


def finalize(h):
    h = (h ^ h >> 16) * 0x85EBCA6B & MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & MASK
    return h ^ h >> 16


def digest(data):
    """The digest of bytes, as a number."""
    a, b = 0x811C9DC5, 0x70697430
    for byte in data:
        a = (a ^ byte) * 0x01000193 & MASK
        b ^= byte
        b = ((b << 5 | b >> 27) & MASK) * 0x9E3779B1 & MASK
    a ^= len(data) & MASK
    b = b + a & MASK
    return finalize(a) << 32 | finalize(b)


def double(value):
    # -0.0 + 0.0 is 0.0.
    return b"\0\0\0\0\0\0\xf8\x7f" if math.isnan(value) else struct.pack("<d", value + 0.0)


def sized(tag, data):
    return tag + struct.pack("<I", len(data)) + data


def row_bytes(columns, strict):
    """Columns are None, int, float, str or bytes; a text that is no UTF-8 is ("text", bytes)."""
    out = b""
    for column in columns:
        if column is None:
            out += b"n"
        elif isinstance(column, bytes):
            out += sized(b"b", column)
        elif isinstance(column, (str, tuple)):
            out += sized(b"t", column.encode() if isinstance(column, str) else column[1])
        elif strict:
            out += b"r" + double(column) if isinstance(column, float) else \
                b"i" + struct.pack("<q", column)
        elif isinstance(column, float):
            out += b"d" + double(column)
        elif abs(column) <= 2**53 - 1:
            out += b"d" + double(float(column))
        else:
            out += sized(b"l", str(column).encode())
    return out


def row(columns, strict):
    return digest(row_bytes(columns, strict))


def column_json(column):
    if column is None:
        return ["null"]
    if isinstance(column, int):
        return ["integer", str(column)]
    if isinstance(column, float):
        return ["real", struct.pack(">d", column).hex()]
    if isinstance(column, bytes):
        return ["blob", column.hex()]
    return ["text", (column.encode() if isinstance(column, str) else column[1]).hex()]


BYTES = [b"", b"\0", b"\0\0", b"a", b"b", b"ab", b"ba", bytes(range(256)), b"\xff" * 7,
         b"the same bytes in pieces", b"x" * 1000]

NEGATIVE_NAN = struct.unpack(">d", bytes.fromhex("fff8000000000001"))[0]

ROWS = [
    [], [None], [None, None], [0], [0.0], [-0.0], [1], [1.0], [-1], [-1.0], [0.1], [1e300],
    [5e-324], [math.inf], [-math.inf], [math.nan], [NEGATIVE_NAN],
    [2**53 - 1], [2**53], [2**53 + 1], [-2**53 + 1], [-2**53], [2.0**53], [2**63 - 1], [-2**63],
    ["1"], [b"1"], [""], [b""], ["a", "b"], ["ab", ""], ["", "ab"], ["ab"],
    ["n"], ["z\u00fcri\u4e2d\U0001f600"], [("text", b"a\0b")], [("text", b"\xff\xfe")],
    [b"\0\xff" * 9], ["x" * 300], [1, "name 1", None, 2.5, b"\0"],
]


def main():
    data = [[item.hex(), "%016x" % digest(item)] for item in BYTES]
    rows = [[[column_json(c) for c in columns], "%016x" % row(columns, False),
             "%016x" % row(columns, True)] for columns in ROWS]
    print('{"bytes":[')
    print(",\n".join(json.dumps(item, separators=(",", ":")) for item in data))
    print('],"rows":[')
    print(",\n".join(json.dumps(item, separators=(",", ":")) for item in rows))
    print("]}")


if __name__ == "__main__":
    main()
