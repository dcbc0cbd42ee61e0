#!/usr/bin/env python3
"""Writes random.json: what the generator of src/base/random.h must give.

A second implementation, written from the definition in that header and from nothing
else. Every language that draws random numbers for a workload is tested against the file:

    python3 tests/vectors/make-random.py > tests/vectors/random.json

A stream is [seed, purpose, connection, script]. Integers beyond 2^53 - 1 are decimal
strings. The ranges of the three distributions stay below 2^31 numbers: the wider the range, the
likelier that a last bit of a language's log, exp, sin or pow shows.
"""

import math
import struct

WORD = 0xFFFFFFFF
GOLDEN = 0x9E3779B9
LIMIT = 2**53 - 1


def fmix32(h):
    h ^= h >> 16
    h = h * 0x85EBCA6B & WORD
    h ^= h >> 13
    h = h * 0xC2B2AE35 & WORD
    return h ^ h >> 16


class Random:
    def __init__(self, stream):
        words = []
        for i in range(3):
            h = 0x70697430 ^ i * GOLDEN & WORD
            for value in stream:
                h = fmix32(h ^ value) * 0x85EBCA6B + 0xC2B2AE35 & WORD
            words.append(fmix32(h ^ (i + 1) * GOLDEN & WORD))
        self.state = words + [1]
        for _ in range(12):
            self.next()

    def next(self):
        a, b, c, counter = self.state
        result = a + b + counter & WORD
        rotated = (c << 21 | c >> 11) & WORD
        self.state = [b ^ b >> 9, c + (c << 3) & WORD, rotated + result & WORD, counter + 1 & WORD]
        return result

    def below(self, n):
        bits = (n - 1).bit_length()
        while True:
            if bits <= 32:
                drawn = self.next() & (1 << bits) - 1
            else:
                high = self.next() & (1 << bits - 32) - 1
                drawn = high << 32 | self.next()
            if drawn < n:
                return drawn

    def unit(self):
        x = self.next() >> 5
        y = self.next() >> 6
        return (x * 2.0**26 + y) / 2.0**53

    def gaussian(self, lo, hi, parameter):
        while True:
            u = 1.0 - self.unit()
            v = self.unit()
            z = math.sqrt(-2.0 * math.log(u)) * math.sin(2.0 * math.pi * v)
            if abs(z) < parameter:
                return scale(lo, hi, (z + parameter) / (2.0 * parameter))

    def exponential(self, lo, hi, parameter):
        cut = math.exp(-parameter)
        u = 1.0 - self.unit()
        return scale(lo, hi, -math.log(cut + (1.0 - cut) * u) / parameter)

    def zipfian(self, lo, hi, parameter):
        n = float(hi - lo + 1)
        if n <= 1.0:
            return lo
        b = power(2.0, parameter - 1.0)
        while True:
            u = 1.0 - self.unit()
            v = self.unit()
            raised = power(u, -1.0 / (parameter - 1.0))
            if not raised < n + 1.0:
                continue
            x = float(math.floor(raised))
            t = power(1.0 + 1.0 / x, parameter - 1.0)
            if v * x * (t - 1.0) / (b - 1.0) <= t / b:
                return lo + int(x) - 1


def power(base, exponent):
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


def scale(lo, hi, fraction):
    return min(hi, lo + math.floor(float(hi - lo + 1) * fraction))


def text(value):
    if isinstance(value, str):
        return '"%s"' % value
    if isinstance(value, float):
        return "%.17g" % value
    if isinstance(value, list):
        return "[" + ",".join(map(text, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join('"%s":%s' % (key, text(value[key])) for key in value) + "}"
    return str(value) if abs(value) <= LIMIT else '"%d"' % value


STREAMS = [
    [0, 0, 0, 0],
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
    [1, 2, 3, 4],
    [4, 3, 2, 1],
    [42, 2, 0, 0],
    [42, 4, 0, 0],
    [WORD, 7, WORD, WORD],
]

BOUNDS = [1, 2, 3, 6, 10, 256, 1000, 100000, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32,
          2**32 + 1, 3 * 2**32, 10**12, 2**53 - 1, 2**53, 2**53 + 1, 2**54 - 1, 2**54]

GAUSSIAN = [(1, 100000, 2.0), (1, 100000, 2.5), (0, 9, 5.0), (-1000, 1000, 3.0), (1, 1000, 50.0),
            (7, 7, 2.0), (1, 2**31 - 1, 2.5)]
EXPONENTIAL = [(1, 100000, 0.1), (1, 100000, 1.0), (0, 9, 2.5), (-1000, 1000, 5.0), (1, 1000, 50.0),
               (1, 1000, 800.0), (7, 7, 1.0), (1, 2**31 - 1, 10.0)]
ZIPFIAN = [(1, 100000, 1.001), (1, 100000, 1.07), (0, 9, 1.5), (-1000, 1000, 2.0), (1, 1000, 10.0),
           (1, 1000, 1000.0), (7, 7, 2.0), (1, 2**31 - 1, 1.1)]


ARRIVALS = [(1, 0, 1e6), (1, 1, 1e6), (2026, 3, 4e3), (7, 99, 4e9 / 3.0), (4294967295, 0, 0.5),
            (5, 2, 1e14)]


def arrivals(seed, connection, mean_ns):
    """When the operations of a connection are due in an open loop, in ns from its start."""
    stream = [seed, 5, connection, 0]
    random = Random(stream)
    due = 0.0
    values = []
    for _ in range(24):
        due += -math.log(1.0 - random.unit()) * mean_ns
        values.append(math.floor(due))
    return {"stream": stream, "mean_ns": mean_ns, "values": values, "next": random.next()}


def distribution(name, cases, script):
    result = []
    for k, (lo, hi, parameter) in enumerate(cases):
        stream = [2026, 2, k, script]
        random = Random(stream)
        values = [getattr(random, name)(lo, hi, parameter) for _ in range(24)]
        # A raw number behind them shows that as many were drawn.
        result.append({"stream": stream, "lo": lo, "hi": hi, "parameter": parameter,
                       "values": values, "next": random.next()})
    return result


def main():
    sections = {"raw": [], "below": [], "unit": []}
    for stream in STREAMS:
        random = Random(stream)
        sections["raw"].append({"stream": stream, "values": [random.next() for _ in range(16)]})
    for k, n in enumerate(BOUNDS):
        stream = [7, 2, 0, k]
        random = Random(stream)
        values = [random.below(n) for _ in range(12)]
        sections["below"].append({"stream": stream, "n": n, "values": values,
                                  "next": random.next()})
    for stream in STREAMS[:4]:
        random = Random(stream)
        values = [random.unit() for _ in range(8)]
        bits = [struct.pack(">d", value).hex() for value in values]
        sections["unit"].append({"stream": stream, "values": values, "bits": bits})
    sections["gaussian"] = distribution("gaussian", GAUSSIAN, 1)
    sections["exponential"] = distribution("exponential", EXPONENTIAL, 2)
    sections["zipfian"] = distribution("zipfian", ZIPFIAN, 3)
    sections["arrivals"] = [arrivals(*case) for case in ARRIVALS]

    print("{")
    for i, name in enumerate(sections):
        print('"%s":[' % name)
        print(",\n".join(map(text, sections[name])))
        print("]" + ("," if i + 1 < len(sections) else ""))
    print("}")


if __name__ == "__main__":
    main()
