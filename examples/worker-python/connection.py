"""One connection of Python's sqlite3: opening, settings, and scripts run and counted on it."""

import re
import sqlite3
import time
import urllib.parse

import scripts

ERRORS_MAX = 8  # different messages that are kept a script
HISTOGRAM_MAX_NS = 3600 * 10**9
OUTCOMES = ("ok", "busy", "conflict", "failed", "skipped", "open")
SQLITE_BUSY, SQLITE_BUSY_SNAPSHOT = 5, 517


class Failure(Exception):
    """What ends the job: becomes the `error` line."""

    def __init__(self, phase, message, **more):
        super().__init__(message)
        self.phase = phase
        self.more = more  # code, script, statement, place


def unescape(text):
    """The bytes that a text on the wire stands for: \\xNN is one byte."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()),
                  text.encode())


def quote(name):
    return '"' + name.replace('"', '""') + '"'


def bucket(ns):
    """src/core/histogram.h: 128 buckets for each power of two."""
    if ns < 128:
        return ns
    e = ns.bit_length() - 1
    return (e - 6) * 128 + (ns >> e - 7) - 128


class Histogram:
    def __init__(self):
        self.buckets = {}
        self.count = self.overflow = self.sum_ns = self.max_ns = 0
        self.min_ns = None

    def record(self, ns):
        self.count += 1
        self.sum_ns += ns
        self.min_ns = ns if self.min_ns is None else min(ns, self.min_ns)
        self.max_ns = max(ns, self.max_ns)
        if ns > HISTOGRAM_MAX_NS:
            self.overflow += 1
        else:
            self.buckets[bucket(ns)] = self.buckets.get(bucket(ns), 0) + 1

    def add(self, other):
        for index, count in other.buckets.items():
            self.buckets[index] = self.buckets.get(index, 0) + count
        self.count += other.count
        self.overflow += other.overflow
        self.sum_ns += other.sum_ns
        self.max_ns = max(self.max_ns, other.max_ns)
        lows = [low for low in (self.min_ns, other.min_ns) if low is not None]
        self.min_ns = min(lows, default=None)

    def json(self):
        return {"count": self.count, "overflow": self.overflow, "sum": self.sum_ns,
                "min": self.min_ns, "max": self.max_ns if self.count else None,
                "buckets": [[index, self.buckets[index]] for index in sorted(self.buckets)]}


class Tally:
    """What became of one script's executions on one connection, or, added up, on all."""

    def __init__(self, statements):
        self.outcomes = dict.fromkeys(OUTCOMES, 0)
        self.attempted = self.retries = self.rows_read = self.rows_changed = 0
        self.time_ns = self.slow = 0
        self.acknowledged = [0] * statements
        self.errors = {}  # (statement, code, message): count
        self.latency = Histogram()
        self.service = Histogram()  # the parts of a latency, told of an open loop only
        self.lag = Histogram()
        self.seconds = {}  # second from 0: [executions, slow ones]

    def restart(self):
        """For the measured part; rows that are committed stay committed."""
        acknowledged = self.acknowledged
        self.__init__(len(acknowledged))
        self.acknowledged = acknowledged

    def fail(self, statement, code, message):
        key = (statement, code, message)
        if key not in self.errors and len(self.errors) >= ERRORS_MAX:
            key = (None, 0, f"other messages than the first {ERRORS_MAX}")
        self.errors[key] = self.errors.get(key, 0) + 1

    def time(self, lag_ns, service_ns, limit_ns, second):
        """An ok execution. In a closed loop nothing is due before it begins: its lag is 0."""
        ns = lag_ns + service_ns
        self.latency.record(ns)
        self.service.record(service_ns)
        self.lag.record(lag_ns)
        counts = self.seconds.setdefault(second, [0, 0])
        counts[0] += 1
        counts[1] += ns > limit_ns
        self.slow += ns > limit_ns

    def add(self, other):
        for name in ("outcomes", "errors"):
            into = getattr(self, name)
            for key, count in getattr(other, name).items():
                into[key] = into.get(key, 0) + count
        for name in ("attempted", "retries", "rows_read", "rows_changed", "time_ns", "slow"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.acknowledged = [a + b for a, b in zip(self.acknowledged, other.acknowledged)]
        for name in ("latency", "service", "lag"):
            getattr(self, name).add(getattr(other, name))
        for second, (done, slow) in other.seconds.items():
            counts = self.seconds.setdefault(second, [0, 0])
            counts[0] += done
            counts[1] += slow

    def errors_json(self):
        return [{"statement": statement, "code": code, "message": message, "count": count}
                for (statement, code, message), count in self.errors.items()]


class Entry:
    """One script of a role on one connection."""

    def __init__(self, job, index, weight, number):
        tree = job["scripts"][index]
        self.index = index
        self.weight = weight
        self.sql = [statement["sql"] for statement in tree["statements"]]
        self.one = [statement["one"] for statement in tree["statements"]]
        self.tally = Tally(len(self.sql))
        try:
            self.script = scripts.Script(tree, job["variables"], number,
                                         job.get("connections_total", 1))
        except KeyError as error:
            raise Failure("prepare", f"the scale gives no value for :{error.args[0]}",
                          script=index) from error

    def draw(self, op, phase):
        try:
            return self.script.draw(op)
        except scripts.ScriptError as error:
            raise Failure(phase, str(error), script=self.index, place=error.place) from error


class Connection:
    def __init__(self, job, number=0, role=0, shares=()):
        self.job = job
        self.number = number
        self.role = role
        self.entries = [Entry(job, share["script"], share["weight"], number) for share in shares]
        self.cut = False  # what runs is to be interrupted and counts as open
        self.op = self.done = 0
        self.unstarted = 0  # operations of an open loop that were due and never began
        self.first_ns = None
        self.ended_ns = self.settled_ns = 0
        self.cpu_ns = self.run_queue_ns = 0
        self.mix = None
        # A file that is not there must be an error, and a path is never anything but a path.
        name = "file:" + urllib.parse.quote(unescape(job["database"])) + "?mode=rw"
        try:
            # No transactions but those that are asked for; one thread at a time uses it.
            self.db = sqlite3.connect(name, uri=True, isolation_level=None,
                                      timeout=job["busy_timeout_ms"] / 1000,
                                      check_same_thread=False, cached_statements=1000)
        except sqlite3.Error as error:
            raise Failure("open", str(error), code=code_of(error)) from error
        # Text that is no UTF-8 must come back as the bytes that it is.
        self.db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")

    # ---- before anything is timed ------------------------------------------------------------

    def apply_settings(self):
        """Sets them all, then reads all back: a PRAGMA that SQLite does not know says nothing."""
        problems = {}
        for setting in self.job["settings"]:
            self.setting(setting, f"PRAGMA {setting['name']} = {pragma_value(setting['value'])}",
                         problems)
        found = []
        for setting in self.job["settings"]:
            row = self.setting(setting, f"PRAGMA {setting['name']}", problems)
            found.append({"name": setting["name"], "asked": setting["value"],
                          "got": None if row is None or row[0] is None else str(row[0]),
                          "required": setting["required"],
                          "problem": problems.get(setting["name"])})
        return found

    def setting(self, setting, sql, problems):
        try:
            if not re.fullmatch(r"[A-Za-z_]\w*", setting["name"], re.ASCII):
                raise sqlite3.OperationalError(f"'{setting['name']}' is no name of a setting")
            return self.execute_patiently(sql).fetchone()
        except sqlite3.Error as error:
            if setting["required"]:
                raise Failure("settings", f"setting {setting['name']} = {setting['value']}: "
                              f"{error}", code=code_of(error)) from error
            problems.setdefault(setting["name"], str(error))
            return None

    def execute_patiently(self, sql):
        """While another process switches the file to WAL, SQLite refuses to do the same at once,
        whatever the timeout."""
        until_ns = time.monotonic_ns() + max(5000, self.job["busy_timeout_ms"]) * 1_000_000
        while True:
            try:
                return self.db.execute(sql)
            except sqlite3.OperationalError as error:
                if (code_of(error) & 0xFF) != SQLITE_BUSY or time.monotonic_ns() > until_ns:
                    raise
            time.sleep(0.005)

    def prepare(self):
        """Python prepares at the first use and keeps statements in a cache. Explaining them finds
        mistakes now; the step Transaction tells by its p2 whether a statement writes."""
        for entry in self.entries:
            tree = self.job["scripts"][entry.index]
            for number, statement in enumerate(tree["statements"]):
                where = {"script": entry.index, "statement": number}
                try:
                    steps = self.db.execute("EXPLAIN " + statement["sql"],
                                            [None] * len(statement["parameters"])).fetchall()
                except sqlite3.Error as error:
                    raise Failure("prepare", str(error), code=code_of(error), **where) from error
                writes = any(step[1] == "Transaction" and step[3] > 0 for step in steps)
                if writes and tree["kind"] == "read":
                    raise Failure("prepare", "this statement writes, but suite.json calls its "
                                  "script a read: write \"kind\": \"write\"", **where)

    # ---- one execution -----------------------------------------------------------------------

    def run(self, sql, values, one, keep):
        """Runs a statement to its end: rows read, rows changed, and the rows where they are to be
        kept."""
        before = self.db.total_changes
        cursor = self.db.execute(sql, values)
        if one:
            row = cursor.fetchone()
            rows = [] if row is None else [row]
            count = len(rows)
        elif keep:
            rows = cursor.fetchall()
            count = len(rows)
        else:
            rows = None
            count = 0
            for _ in cursor:
                count += 1
        changed = cursor.rowcount
        cursor.close()
        if changed < 0:  # Python counts them for INSERT, UPDATE and DELETE as the first word only
            changed = self.db.total_changes - before
        return count, changed, rows

    def execute(self, entry, calls, answers=None):
        """The outcome of all calls, tried again after a conflict. `answers` gets (statement,
        values, rows changed, rows) of each statement of the last try that ran."""
        tally = entry.tally
        tally.attempted += 1
        for _ in range(self.job.get("max_tries", 10) - 1):
            outcome, read, changed = self.try_once(entry, calls, answers)
            if outcome != "conflict":
                break
            tally.retries += 1
        else:
            outcome, read, changed = self.try_once(entry, calls, answers)
        tally.outcomes[outcome] += 1
        if outcome == "ok":
            tally.rows_read += read
            tally.rows_changed += changed
        return outcome

    def try_once(self, entry, calls, answers):
        tally = entry.tally
        read = changed = 0
        pending = None  # rows changed in the open transaction, by statement
        statement = None
        if answers is not None:
            answers.clear()
        try:
            for kind, statement, values in calls:
                if self.cut:
                    return self.roll_back(tally, "open"), read, changed
                if kind == "statement":
                    rows, touched, kept = self.run(entry.sql[statement], values,
                                                   entry.one[statement], answers is not None)
                    read += rows
                    changed += touched
                    (tally.acknowledged if pending is None else pending)[statement] += touched
                    if answers is not None:
                        answers.append((statement, values, touched, kept))
                elif kind == "commit":
                    self.db.execute("COMMIT")
                    tally.acknowledged = [a + b for a, b in zip(tally.acknowledged, pending)]
                    pending = None
                else:
                    self.db.execute("BEGIN IMMEDIATE" if kind == "begin_write" else "BEGIN")
                    pending = [0] * len(entry.sql)
            return "ok", read, changed
        except sqlite3.Error as error:
            code = code_of(error)
            if self.cut:
                outcome = "open"
            elif code == SQLITE_BUSY_SNAPSHOT:
                outcome = "conflict"
            elif code & 0xFF == SQLITE_BUSY:
                outcome = "busy"
            else:
                outcome = "failed"
                tally.fail(statement, code, str(error))
            return self.roll_back(tally, outcome), read, changed

    def roll_back(self, tally, outcome):
        try:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
        except sqlite3.Error as error:
            if outcome not in ("failed", "open"):
                tally.fail(None, code_of(error), str(error))
                return "failed"
        return outcome

    # ---- many executions ---------------------------------------------------------------------

    def restart(self, warmup):
        """Streams of random numbers anew: warm-up and measured part never draw the same."""
        seed = self.job["seed"]
        mix, parameters = ((scripts.WARMUP_MIX, scripts.WARMUP_PARAMETERS) if warmup else
                           (scripts.MIX, scripts.PARAMETERS))
        self.mix = scripts.Random(seed, mix, self.number, 0)
        for entry in self.entries:
            entry.script.random = scripts.Random(seed, parameters, self.number, entry.index)
            entry.tally.restart()
        self.done = self.unstarted = 0

    def pick(self):
        if len(self.entries) == 1:
            return self.entries[0]
        drawn = self.mix.below(sum(entry.weight for entry in self.entries))
        for entry in self.entries:
            drawn -= entry.weight
            if drawn < 0:
                return entry
        raise AssertionError("drawn beyond the sum of the weights")

    def loop(self, phase, start_ns, deadline_ns, operations, stopped, pace=None):
        """Executions until the deadline (None: none), their number, or stopped(). With a pace
        each waits until it is due."""
        limit_ns = self.job["latency_limit_ns"]
        self.first_ns = None
        self.ended_ns = self.settled_ns = start_ns
        while operations is None or self.done < operations:
            entry = self.pick()
            calls = entry.draw(self.op, phase)  # before the clock starts
            if pace is not None:
                wait_until(pace.due_ns, deadline_ns, stopped)
            if stopped():
                break
            began_ns = time.monotonic_ns()
            if deadline_ns is not None and began_ns >= deadline_ns:
                break
            outcome = self.execute(entry, calls)
            now_ns = time.monotonic_ns()
            entry.tally.time_ns += now_ns - began_ns
            if outcome == "ok":
                lag_ns = 0 if pace is None else began_ns - pace.due_ns
                entry.tally.time(lag_ns, now_ns - began_ns, limit_ns, (now_ns - start_ns) // 10**9)
            if pace is not None:
                pace.next()
            if self.first_ns is None:
                self.first_ns = began_ns
            self.ended_ns = now_ns
            if outcome != "open":
                self.settled_ns = now_ns
            self.op += 1
            self.done += 1
        if pace is not None:
            self.end_pace(pace, deadline_ns, stopped)

    def end_pace(self, pace, deadline_ns, stopped):
        """It served until then, though it may have waited: its window ends there."""
        until_ns = self.ended_ns
        if deadline_ns is not None or stopped():
            now_ns = time.monotonic_ns()
            until_ns = now_ns if deadline_ns is None else min(now_ns, deadline_ns)
        if self.settled_ns == self.ended_ns:
            self.settled_ns = max(self.settled_ns, until_ns)
        self.ended_ns = max(self.ended_ns, until_ns)
        self.unstarted = pace.backlog(until_ns)


def wait_until(due_ns, deadline_ns, stopped):
    """Until then or the deadline. A thread that looked at the clock instead of sleeping would hold
    the interpreter's lock, which the other connections need; what a sleep is late is in the lag."""
    until_ns = due_ns if deadline_ns is None else min(due_ns, deadline_ns)
    while not stopped() and (left_ns := until_ns - time.monotonic_ns()) > 0:
        time.sleep(min(left_ns, 50 * 10**6) / 1e9)


def code_of(error):
    """SQLite's extended code; Python's own complaints have none."""
    return getattr(error, "sqlite_errorcode", 0)


def pragma_value(value):
    """A number or a word as it is, everything else as a text."""
    if re.fullmatch(r"[+-]?\d+(\.\d*)?|[A-Za-z_]\w*", value, re.ASCII):
        return value
    if re.fullmatch(r"'([^']|'')*'", value):
        return value
    return "'" + value.replace("'", "''") + "'"


def run_queue_ns():
    """Time that this thread has waited for a core."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1])
    except (OSError, IndexError, ValueError):
        return None
