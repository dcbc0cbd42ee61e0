#!/usr/bin/env python3
"""Writes histogram.json: what the buckets and percentiles of src/core/histogram.h must give.

A second implementation, written from the definition in that header; it keeps all samples in a
sorted list and does its arithmetic in fractions:

    python3 tests/vectors/make-histogram.py > tests/vectors/histogram.json

`buckets`: a value, the index of its bucket, the bucket's lowest value and the first beyond it.
`percentiles`: samples as [first, step, count] runs (step 0: one value, count times) and points
[numerator, denominator, exact nearest-rank value, what the histogram says].
"""

import json
from fractions import Fraction
from math import ceil, floor

MAX_NS = 3600 * 10**9
POINTS = [(1, 1000), (1, 2), (95, 100), (99, 100), (999, 1000), (9999, 10000), (99999, 100000),
          (1, 1)]


def index(value):
    if value < 128:
        return value
    e = value.bit_length() - 1
    return (e - 6) * 128 + (value >> e - 7) - 128


def bounds(k):
    """By search, not by the formula turned round: index() is monotonic."""
    def first(wanted):
        low, high = 0, 2**43
        while low < high:
            middle = (low + high) // 2
            if index(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low
    return first(k), first(k + 1)


def percentile(samples, point):
    """samples sorted. Returns the exact value and the histogram's."""
    rank = ceil(Fraction(*point) * len(samples))
    exact = samples[rank - 1]
    if rank == 1 or rank == len(samples) or exact > MAX_NS:
        return exact, exact if rank == 1 else samples[-1]
    lower, upper = bounds(index(exact))
    first, last = position(samples, lower), position(samples, upper)
    lower, upper = max(lower, samples[0]), min(upper, samples[-1] + 1, MAX_NS + 1)
    share = Fraction(2 * (rank - first) - 1, 2 * (last - first))
    return exact, lower + floor((upper - lower) * share)


def position(samples, value):
    low, high = 0, len(samples)
    while low < high:
        middle = (low + high) // 2
        if samples[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


VALUES = sorted({0, 1, 2, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 65535, 65536, 999999,
                 1000000, 5000000, 123456789, 10**9, 2**32 - 1, 2**32, 2**32 + 1, 2**41 - 1, 2**41,
                 MAX_NS - 1, MAX_NS} | {2**e + 2**e // 128 * k + d for e in (10, 20, 33, 40)
                                        for k in (0, 1, 127) for d in (-1, 0)})

SAMPLES = [
    [[500000000, 0, 1]],
    [[1000, 0, 99], [9000000, 0, 1]],
    [[1000, 0, 1000], [9000000, 0, 1]],
    [[1000, 1000, 10000]],
    [[1000, 1000, 1000000]],
    # One rank too many or too few is another value.
    [[10, 0, 9990], [100, 0, 10]],
    [[10, 0, 9989], [100, 0, 11]],
    [[10, 0, 999000], [100, 0, 1000]],
    [[10, 0, 9999], [100, 0, 1]],
    [[0, 0, 5]],
    [[1, 0, 1], [2, 0, 1]],
    [[1000, 1, 4]],
    [[1003, 0, 3]],
    [[MAX_NS, 0, 3], [MAX_NS + 1, 0, 1], [2 * MAX_NS, 0, 1]],
    [[5 * MAX_NS, 0, 2]],
]


def main():
    buckets = [[v, index(v), *bounds(index(v))] for v in VALUES]
    cases = []
    for runs in SAMPLES:
        samples = sorted(first + step * i for first, step, count in runs for i in range(count))
        points = [[*point, *percentile(samples, point)] for point in POINTS]
        cases.append({"samples": runs, "points": points})
    print('{"buckets":[')
    print(",\n".join(json.dumps(b, separators=(",", ":")) for b in buckets))
    print('],"percentiles":[')
    print(",\n".join(json.dumps(c, separators=(",", ":")) for c in cases))
    print("]}")


main()
