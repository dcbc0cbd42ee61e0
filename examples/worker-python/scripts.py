"""Random numbers, and compiled scripts turned into calls with values.

docs/script-language.md, "For those who write a worker", says what has to be alike in every
language; src/base/random.h has the formulas of the random numbers. tests/vectors/ holds them to it.
"""

import math

LIMIT = 2**53 - 1  # of the language's integers
CALLS_MAX = 1_000_000
TEXT_MAX = 1_000_000
WORD = 0xFFFFFFFF
BACKLOG_COUNTED = 100_000

# What a stream of random numbers is drawn for.
MIX, PARAMETERS, WARMUP_MIX, WARMUP_PARAMETERS, PACING, VERIFY = 1, 2, 3, 4, 5, 6


def mix(h):
    h = (h ^ h >> 16) * 0x85EBCA6B & WORD
    h = (h ^ h >> 13) * 0xC2B2AE35 & WORD
    return h ^ h >> 16


class Random:
    """The generator sfc32; each (seed, purpose, connection, script) is a stream of its own."""

    def __init__(self, *inputs):
        words = []
        for i in range(3):
            h = 0x70697430 ^ i * 0x9E3779B9 & WORD
            for number in inputs:
                h = mix(h ^ number) * 0x85EBCA6B + 0xC2B2AE35 & WORD
            words.append(mix(h ^ (i + 1) * 0x9E3779B9 & WORD))
        self.a, self.b, self.c = words
        self.counter = 1
        for _ in range(12):
            self.next()

    def next(self):
        """32 bits."""
        result = self.a + self.b + self.counter & WORD
        self.counter = self.counter + 1 & WORD
        self.a = self.b ^ self.b >> 9
        self.b = self.c * 9 & WORD
        self.c = (self.c << 21 | self.c >> 11) + result & WORD
        return result

    def below(self, n):
        """0 to n - 1, each as likely: numbers that are too large are drawn again."""
        last = n - 1
        if last <= WORD:
            mask = (1 << last.bit_length()) - 1
            while (drawn := self.next() & mask) > last:
                pass
            return drawn
        mask = (1 << (last >> 32).bit_length()) - 1
        while (drawn := (self.next() & mask) << 32 | self.next()) > last:
            pass
        return drawn

    def unit(self):
        """0 to 1, without 1."""
        high = self.next() >> 5
        return (high * 67108864.0 + (self.next() >> 6)) / 9007199254740992.0

    def gaussian(self, lo, hi, parameter):
        while True:
            u = 1.0 - self.unit()
            z = math.sqrt(-2.0 * math.log(u)) * math.sin(2.0 * math.pi * self.unit())
            if abs(z) < parameter:
                return spread(lo, hi, (z + parameter) / (2.0 * parameter))

    def exponential(self, lo, hi, parameter):
        cut = math.exp(-parameter)
        u = 1.0 - self.unit()
        return spread(lo, hi, -math.log(cut + (1.0 - cut) * u) / parameter)

    def zipfian(self, lo, hi, parameter):
        n = float(hi - lo + 1)
        if n <= 1.0:
            return lo
        exponent = parameter - 1.0
        b = math.pow(2.0, exponent)
        while True:
            u = 1.0 - self.unit()
            v = self.unit()
            try:
                x = float(math.floor(math.pow(u, -1.0 / exponent)))
            except OverflowError:  # infinite: beyond n
                continue
            if x > n:
                continue
            t = math.pow(1.0 + 1.0 / x, exponent)
            if v * x * (t - 1.0) / (b - 1.0) <= t / b:
                return lo + int(x) - 1


class Pace:
    """When the operations of a connection are due in an open loop: a Poisson process."""

    def __init__(self, seed, number, mean_ns, start_ns):
        self.random = Random(seed, PACING, number, 0)
        self.mean_ns = mean_ns
        self.sum_ns = 0.0
        self.start_ns = start_ns
        self.next()

    def next(self):
        self.sum_ns += -math.log(1.0 - self.random.unit()) * self.mean_ns
        self.due_ns = self.start_ns + math.floor(self.sum_ns)

    def backlog(self, until_ns):
        """How many are due before a moment. Very many are told from the time that is left."""
        count = 0
        while self.due_ns < until_ns and count < BACKLOG_COUNTED:
            self.next()
            count += 1
        if self.due_ns < until_ns:
            count += 1 + int((until_ns - self.due_ns) / self.mean_ns)
        return count


def spread(lo, hi, fraction):
    return min(hi, lo + math.floor(float(hi - lo + 1) * fraction))


class ScriptError(Exception):
    """A mistake in a script's arithmetic."""

    def __init__(self, place, message):
        super().__init__(message)
        self.place = place  # [line, column]


ZERO = {"integer": 0, "double": 0.0, "text": ""}
SHAPES = {"random_gaussian": ("at least 2.0", lambda p: p >= 2.0),
          "random_exponential": ("greater than 0", lambda p: p > 0.0),
          "random_zipfian": ("in 1.001 to 1000", lambda p: 1.001 <= p <= 1000.0)}


class Script:
    """A compiled script on one connection: draw() gives the calls of one operation."""

    def __init__(self, tree, scale, connection, connections):
        self.tree = tree
        self.random = None  # the stream that is drawn from
        self.ends = None  # "low", "high", "beyond": not from the stream but the ends of ranges
        given = {"connection": connection, "connections": connections}
        self.values = []
        for variable in tree["variables"]:
            name = variable["name"]
            fixed = scale[name] if variable["from"] == "scale" else given.get(name, 0)
            self.values.append(ZERO[variable["type"]] if variable["from"] == "set" else int(fixed))
        self.calls = []
        self.turns = 0

    def assign(self, builtin, value):
        for i, variable in enumerate(self.tree["variables"]):
            if variable["from"] == "builtin" and variable["name"] == builtin:
                self.values[i] = value

    def draw(self, op):
        """A list of (kind, statement, values): kind is "statement", "begin_read", "begin_write"
        or "commit"; the others are None where the kind has none."""
        for i, variable in enumerate(self.tree["variables"]):
            if variable["from"] == "set":
                self.values[i] = ZERO[variable["type"]]
        self.assign("op", op)
        return self.block(self.tree["steps"])

    def block(self, steps):
        """The calls of some steps, with the variables as they are."""
        self.calls = []
        self.turns = 0
        self.run(steps)
        return self.calls

    def run(self, steps):
        for step in steps:
            kind = step["step"]
            if kind == "set":
                self.values[step["variable"]] = self.value(step["expression"])
            elif kind == "repeat":
                self.repeat(step)
            elif len(self.calls) >= CALLS_MAX:
                raise ScriptError(step["place"], "more than 1,000,000 calls in one operation")
            elif kind == "statement":
                parameters = self.tree["statements"][step["statement"]]["parameters"]
                values = [self.values[i] for i in parameters]
                self.calls.append((kind, step["statement"], values))
            else:
                self.calls.append((kind, None, None))

    def repeat(self, step):
        count = self.value(step["count"])
        if count < 0:
            raise ScriptError(step["place"], "a negative count of \\repeat")
        for turn in range(1, count + 1):
            self.turns += 1
            if self.turns > CALLS_MAX:
                raise ScriptError(step["place"],
                                  "more than 1,000,000 turns of \\repeat in one operation")
            if step["variable"] is not None:
                self.values[step["variable"]] = turn
            self.run(step["steps"])

    # ---- expressions: arguments from left to right -------------------------------------------

    def value(self, e):
        op = e["op"]
        if op == "constant":
            return float(e["value"]) if e["type"] == "double" else e["value"]
        if op == "variable":
            return self.values[e["variable"]]
        arguments = e["arguments"]
        if op == "if":
            return self.value(arguments[1 if self.value(arguments[0]) != 0 else 2])
        if op == "choice":
            return self.value(arguments[self.pick(len(arguments))])
        if op.startswith("random"):
            return self.ranged(e)
        values = [self.value(argument) for argument in arguments]
        if op in ("add", "subtract", "multiply", "divide", "modulo"):
            return arithmetic(e, *values)
        if op in COMPARISONS:
            return int(COMPARISONS[op](*values))
        if op == "format":  # its directives are among Python's
            return short(e, values[0] % tuple(values[1:]))
        return {"negate": lambda: -values[0], "length": lambda: len(values[0]),
                "min": lambda: min(values), "max": lambda: max(values),
                "int": lambda: whole(e, values[0]), "double": lambda: float(values[0])}[op]()

    def pick(self, count):
        if self.ends is None:
            return self.random.below(count)
        return 0 if self.ends == "low" else count - 1

    def ranged(self, e):
        lo, hi = self.value(e["arguments"][0]), self.value(e["arguments"][1])
        if lo > hi:
            raise ScriptError(e["place"], "empty range: the low end is above the high")
        parameter = None
        if e["op"] != "random":
            parameter = float(self.value(e["arguments"][2]))
            right, is_right = SHAPES[e["op"]]
            if not is_right(parameter):
                raise ScriptError(e["arguments"][2]["place"],
                                  f"the last argument of {e['op']}() must lie {right}")
        if self.ends is not None:
            return {"low": lo, "high": hi, "beyond": min(hi + 1, LIMIT)}[self.ends]
        if parameter is None:
            return lo + self.random.below(hi - lo + 1)
        return getattr(self.random, e["op"].removeprefix("random_"))(lo, hi, parameter)


COMPARISONS = {"equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b,
               "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b,
               "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b}


def arithmetic(e, a, b):
    op = e["op"]
    if e["type"] == "double":
        a, b = float(a), float(b)
    if op in ("divide", "modulo") and b == 0:
        raise ScriptError(e["place"], "division by zero")
    if op == "add":
        result = a + b
    elif op == "subtract":
        result = a - b
    elif op == "multiply":
        result = a * b
    elif e["type"] == "double":
        result = a / b
    else:  # as in C: towards zero, the remainder has the sign of the left side
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        result = quotient if op == "divide" else a - b * quotient
    if not (math.isfinite(result) if e["type"] == "double" else abs(result) <= LIMIT):
        raise ScriptError(e["place"], "overflow: a number beyond the language's range")
    return result


def whole(e, number):
    number = round(number)  # a half goes to the even one
    if abs(number) > LIMIT:
        raise ScriptError(e["place"], "overflow: int() of a number beyond 2^53 - 1")
    return number


def short(e, text):
    if len(text.encode()) > TEXT_MAX:
        raise ScriptError(e["place"], "texts too long: one has at most 1,000,000 bytes")
    return text
