#!/usr/bin/env python3
"""A worker for pitot in Python: the module sqlite3, measured through docs/worker-protocol.md.

    worker.py --engine NAME [--option KEY=VALUE]

It shows what a worker in another language has to do, with Python's own modules alone: it takes
the jobs run, verify and check, and leaves load to others. connection.py runs scripts on a
connection and counts; scripts.py evaluates them; digests.py hashes answers.

Threads: the main one speaks with pitot and measures nothing; one reads what pitot says; one for
each connection, or for the whole of a verify or check, works.
"""

import argparse
import json
import os
import queue
import re
import resource
import sqlite3
import sys
import threading
import time

import digests
import scripts
from connection import Connection, Failure, Tally, code_of, quote, run_queue_ns

SECOND_NS = 10**9
INTEGRITY_LINES_MAX = 100
SECONDS_MAX = 3600
# Shadow tables of virtual ones are the engine's own business.
TABLES = ("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') "
          "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")


class Wire:
    """Lines to pitot on descriptor 3, and lines from it on standard input."""

    def __init__(self):
        self.events = queue.Queue()  # what the other threads tell the main one
        self.over = False  # the result or error is out: the end of input is no surprise

    def send(self, kind, **keys):
        data = json.dumps(escape({"kind": kind, **keys})).encode() + b"\n"
        while data:
            try:
                data = data[os.write(3, data):]
            except BrokenPipeError:
                os._exit(1)

    def read(self):
        """A thread of its own. The end of input means that pitot is gone."""
        rest = b""
        while part := os.read(0, 1 << 16):
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                try:
                    line = json.loads(line)
                    if not isinstance(line["kind"], str):
                        raise TypeError
                    self.events.put(("line", line))
                except (ValueError, TypeError, KeyError):
                    self.events.put(("failed", Failure("protocol", "expected a JSON object with "
                                                       "a text \"kind\"")))
        if not self.over:
            os._exit(1)

    def work(self, name, function, *arguments):
        """Runs it in a thread that tells the main one how it ended."""
        def thread():
            try:
                self.events.put((name, function(*arguments)))
            except Failure as failure:
                self.events.put(("failed", failure))
            except BaseException as error:  # a mistake in this program
                self.events.put(("failed", Failure("internal", repr(error))))
        threading.Thread(target=thread, daemon=True).start()

    def next(self, until_ns=None):
        """The next event, or (None, None) when the time is over; failures are raised."""
        wait = None if until_ns is None else max(0, until_ns - time.monotonic_ns()) / 1e9
        try:
            name, value = self.events.get(timeout=wait)
        except queue.Empty:
            return None, None
        if name == "failed":
            raise value
        return name, value


def escape(value):
    """Bytes that are no UTF-8 are written as \\xNN in every text on the wire."""
    if isinstance(value, str):
        value = value.replace("\\x", "\\x5cx")
        return re.sub("[\udc80-\udcff]", lambda found: f"\\x{ord(found[0]) - 0xDC00:02x}", value)
    if isinstance(value, dict):
        return {escape(key): escape(item) for key, item in value.items()}
    return [escape(item) for item in value] if isinstance(value, list) else value


class Progress:
    """A line about once a second, from the main thread."""

    def __init__(self, wire, phase):
        self.wire = wire
        self.phase = phase
        self.started_ns = time.monotonic_ns()
        self.next_ns = self.started_ns + SECOND_NS

    def tell(self, done, total=None, table=None):
        now = time.monotonic_ns()
        if now >= self.next_ns:
            self.next_ns = now + SECOND_NS
            self.wire.send("progress", phase=self.phase, done=done, total=total, table=table,
                           elapsed_ns=now - self.started_ns)


def unexpected(line):
    return Failure("protocol", f"\"{line['kind']}\" was not expected at this moment")


# ---- run -----------------------------------------------------------------------------------


class Run:
    def __init__(self, wire, job):
        self.wire = wire
        self.job = job
        self.rate = job.get("rate")  # operations a second that are due; None: a closed loop
        self.stop = False
        self.partial = False
        self.gate = threading.Event()  # opened by `go`
        self.at_ns = None
        self.connections = []

    def stopped(self):
        return self.stop

    def deadline_ns(self):
        duration_ns = self.job.get("duration_ns")
        return None if duration_ns is None else self.at_ns + int(duration_ns)

    def result(self):
        settings = self.open()
        warmup_started_ns = time.monotonic_ns()
        for connection in self.connections:
            self.wire.work("left", self.member, connection, warmup_started_ns)
        if self.await_members("warmup", "at gate"):
            self.wire.send("ready", warmup_operations=sum(c.done for c in self.connections),
                           warmup_ns=time.monotonic_ns() - warmup_started_ns,
                           acknowledged=self.acknowledged(), connections=settings)
            self.await_go()
        if self.at_ns is None:  # `stop` came first: a window that is empty
            self.at_ns = time.monotonic_ns()
            usage = [usage_now()] * 2
        else:
            usage = self.measure()
        started_ns = time.monotonic_ns()
        for connection in self.connections:
            connection.db.close()
        return self.total(usage, time.monotonic_ns() - started_ns)

    def open(self):
        """All connections, one after the other: SQLite refuses two that switch a file to WAL at
        once. Returns what `ready` says of them."""
        found = []
        for index, role in enumerate(self.job["roles"]):
            for _ in range(role["connections"]):
                number = self.job["first_connection"] + len(self.connections)
                connection = Connection(self.job, number, index, role["scripts"])
                self.connections.append(connection)
                found.append({"connection": number, "role": index,
                              "settings": connection.apply_settings()})
                connection.prepare()
        return found

    def member(self, connection, warmup_started_ns):
        """The thread of a connection."""
        warmup = self.job["warmup"]
        connection.restart(warmup=True)
        until_ns = warmup_started_ns + int(warmup["ns"]) if "ns" in warmup else None
        connection.loop("warmup", warmup_started_ns, until_ns, warmup.get("operations"),
                        self.stopped)
        self.wire.events.put(("at gate", connection))
        self.gate.wait()
        if self.at_ns is None:
            return
        connection.restart(warmup=False)
        time.sleep(max(0, self.at_ns - time.monotonic_ns()) / 1e9)
        cpu_ns, queue_ns = time.thread_time_ns(), run_queue_ns()
        pace = None
        if self.rate is not None:
            mean_ns = self.job["connections_total"] * 1e9 / self.rate
            pace = scripts.Pace(self.job["seed"], connection.number, mean_ns, self.at_ns)
        role = self.job["roles"][connection.role]
        operations = role.get("operations", self.job.get("operations"))
        connection.loop("run", self.at_ns, self.deadline_ns(), operations, self.stopped, pace)
        connection.cpu_ns = time.thread_time_ns() - cpu_ns
        queue_end_ns = run_queue_ns()
        known = queue_ns is not None and queue_end_ns is not None
        connection.run_queue_ns = queue_end_ns - queue_ns if known else None

    def await_members(self, phase, name, cut_ns=None, snapshot=None):
        """Until all connections are there. False: `stop` came before `go`. What still runs at
        cut_ns is interrupted."""
        progress = Progress(self.wire, phase)
        there = 0
        while there < len(self.connections):
            until_ns = progress.next_ns if cut_ns is None else min(progress.next_ns, cut_ns)
            if snapshot is not None and not snapshot:
                until_ns = min(until_ns, self.at_ns)
            event, value = self.wire.next(until_ns)
            there += event == name
            if event == "line" and value["kind"] != "stop":
                raise unexpected(value)
            now = time.monotonic_ns()
            if event == "line":
                self.stop = self.partial = True
                if self.at_ns is None:
                    return False
                stop_cut_ns = now + int(self.job["grace_ns"])
                cut_ns = stop_cut_ns if cut_ns is None else min(cut_ns, stop_cut_ns)
            if snapshot is not None and not snapshot and now >= self.at_ns:
                snapshot.append(usage_now())
            if cut_ns is not None and now >= cut_ns:
                cut_ns = now + SECOND_NS // 100  # again: the next statement may have begun
                for connection in self.connections:
                    connection.cut = True
                    connection.db.interrupt()
            progress.tell(sum(c.done for c in self.connections))
        return True

    def await_go(self):
        _, line = self.wire.next()
        if line["kind"] == "stop":
            self.stop = self.partial = True
        elif line["kind"] != "go":
            raise unexpected(line)
        else:
            self.at_ns = int(line["at_ns"])

    def measure(self):
        """Usage at the start and at the end."""
        deadline_ns = self.deadline_ns()
        cut_ns = None if deadline_ns is None else deadline_ns + int(self.job["grace_ns"])
        usage = []
        self.gate.set()
        self.await_members("run", "left", cut_ns, usage)
        return [usage[0] if usage else usage_now(), usage_now()]

    def acknowledged(self):
        """What the warm-up wrote stays written."""
        found = []
        for index, tree in enumerate(self.job["scripts"]):
            for statement in range(len(tree["statements"])):
                rows = sum(entry.tally.acknowledged[statement] for c in self.connections
                           for entry in c.entries if entry.index == index)
                if rows > 0:
                    found.append({"script": index, "statement": statement, "rows_changed": rows})
        return found

    def total(self, usage, close_ns):
        entries = []  # (role, script, what all its connections counted)
        for index, role in enumerate(self.job["roles"]):
            for share, item in enumerate(role["scripts"]):
                statements = len(self.job["scripts"][item["script"]]["statements"])
                tally = Tally(statements)
                for connection in self.connections:
                    if connection.role == index:
                        tally.add(connection.entries[share].tally)
                outcomes = sum(tally.outcomes.values())
                if tally.attempted != outcomes:
                    raise Failure("internal", f"{tally.attempted} attempts, {outcomes} outcomes")
                entries.append((index, item["script"], tally))
        ended_ns = max([self.at_ns] + [c.ended_ns for c in self.connections])
        used = {key: None if usage[0][key] is None else usage[1][key] - usage[0][key]
                for key in usage[0]}
        return dict(job="run", partial=self.partial, started_ns=self.at_ns, ended_ns=ended_ns,
                    **used, close_ns=close_ns, peak_memory_bytes=peak_memory_bytes(),
                    connections=[self.connection_json(c) for c in self.connections],
                    scripts=[script_json(*entry, self.rate is not None) for entry in entries],
                    seconds=seconds_json([tally for _, _, tally in entries]))

    def connection_json(self, c):
        late_ns = None if c.first_ns is None else c.first_ns - self.at_ns
        backlog = {"offered": c.done + c.unstarted, "unstarted": c.unstarted}
        return {"connection": c.number, "role": c.role,
                "operations": sum(entry.tally.outcomes["ok"] for entry in c.entries),
                "ended_ns": max(self.at_ns, c.settled_ns), "cpu_ns": c.cpu_ns,
                "run_queue_ns": c.run_queue_ns, "late_ns": late_ns,
                "slept_ns": None, "waits": None,  # SQLite's own busy handler does not count
                **({} if self.rate is None else backlog)}


def script_json(role, script, tally, paced):
    parts = {"service": tally.service.json(), "lag": tally.lag.json()} if paced else {}
    return {"role": role, "script": script, "attempted": tally.attempted, **tally.outcomes,
            "retries": tally.retries, "rows_read": tally.rows_read,
            "rows_changed": tally.rows_changed, "time_ns": tally.time_ns, "slow": tally.slow,
            "acknowledged": tally.acknowledged, "errors": tally.errors_json(),
            "latency": tally.latency.json(), **parts}


def seconds_json(tallies):
    last = max((second for tally in tallies for second in tally.seconds), default=-1)
    width = 1
    while last // width >= SECONDS_MAX:
        width *= 2
    rows = [([0] * len(tallies), [0] * len(tallies)) for _ in range(last // width + 1)]
    for i, tally in enumerate(tallies):
        for second, (done, slow) in tally.seconds.items():
            rows[second // width][0][i] += done
            rows[second // width][1][i] += slow
    return [{"at_ns": (i + 1) * width * SECOND_NS, "operations": done, "slow": slow}
            for i, (done, slow) in enumerate(rows)]


def usage_now():
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {"cpu_user_ns": int(used.ru_utime * 1e9), "cpu_system_ns": int(used.ru_stime * 1e9),
             "minor_faults": used.ru_minflt, "major_faults": used.ru_majflt,
             "voluntary_switches": used.ru_nvcsw, "involuntary_switches": used.ru_nivcsw}
    io = named_numbers("/proc/self/io")
    return {**found, "read_bytes": io.get("read_bytes"), "write_bytes": io.get("write_bytes")}


def peak_memory_bytes():
    kilobytes = named_numbers("/proc/self/status").get("VmHWM")
    return None if kilobytes is None else kilobytes * 1024


def named_numbers(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            pairs = [line.split(":", 1) for line in file if ":" in line]
    except OSError:
        return {}
    return {name: int(value.split()[0]) for name, value in pairs
            if value.split() and value.split()[0].isdigit()}


# ---- verify and check ----------------------------------------------------------------------


class Task:
    """A job on one connection, in a thread of its own, which the main one watches."""

    def __init__(self, wire, job):
        self.wire = wire
        self.job = job
        self.done = 0
        self.table = None
        self.connection = None

    def open(self, shares=()):
        self.connection = Connection(self.job, shares=shares)
        self.connection.apply_settings()
        self.connection.prepare()
        return self.connection.db

    def query(self, sql):
        try:
            return self.connection.db.execute(sql)
        except sqlite3.Error as error:
            raise Failure(self.job["job"], f"{sql}: {error}", code=code_of(error)) from error

    def result(self):
        started_ns = time.monotonic_ns()
        progress = Progress(self.wire, self.job["job"])
        self.wire.work("left", self.work)
        while True:
            event, value = self.wire.next(progress.next_ns)
            if event == "line" and value["kind"] != "stop":
                raise unexpected(value)
            if event == "line":
                raise Failure(self.job["job"], "interrupted")
            if event == "left":
                if "parameters" not in value:
                    value["elapsed_ns"] = time.monotonic_ns() - started_ns
                return dict(job=self.job["job"], **value)
            progress.tell(self.done, table=self.table)


class Verify(Task):
    def work(self):
        job = self.job
        detail = job.get("detail")
        shares = [{"script": i, "weight": 1} for i in range(len(job["scripts"]))]
        self.open(shares)
        found = []
        for entry in self.connection.entries:
            entry.script.random = scripts.Random(job["seed"], scripts.VERIFY, 0, entry.index)
            value, strict = [], []
            for operation in range(job["operations"]):
                if detail and (entry.index, operation) == (detail["script"], detail["operation"]):
                    return self.show(entry, operation, detail["rows"])
                outcome, answers, compare = self.execute(entry, operation)
                answers = [(changed, rows) for _, _, changed, rows in answers]
                for digest, is_strict in ((value, False), (strict, True)):
                    number = digests.answer_digest(outcome, answers, compare, is_strict)
                    digest.append(f"{number:016x}")
            tally = entry.tally
            outcomes = {name: tally.outcomes[name] for name in ("ok", "busy", "conflict", "failed")}
            found.append({"script": entry.index, **outcomes, "rows_read": tally.rows_read,
                          "rows_changed": tally.rows_changed, "value": value, "strict": strict,
                          "errors": tally.errors_json()})
        tables = self.tables()
        self.connection.db.close()
        return {"scripts": found, "tables": tables}

    def execute(self, entry, operation):
        """The first three have the ends of each range, and one beyond it, as parameters."""
        answers = []
        entry.script.ends = {0: "low", 1: "high", 2: "beyond"}.get(operation)
        try:
            calls = entry.draw(self.connection.op, "verify")
            outcome = self.connection.execute(entry, calls, answers)
        except Failure as failure:
            if operation != 2:  # beyond the ranges a script may fail
                raise
            entry.tally.attempted += 1
            entry.tally.outcomes["failed"] += 1
            entry.tally.fail(None, 0, str(failure))
            outcome = "failed"
        self.connection.op += 1
        self.done += 1
        return outcome, answers, self.job["scripts"][entry.index]["compare"]

    def show(self, entry, operation, rows_max):
        entry.tally.errors.clear()
        outcome, answers, _ = self.execute(entry, operation)
        statements = [{"statement": statement, "values": list(map(digests.literal, values)),
                       "rows_changed": changed,
                       "rows": [list(map(digests.literal, row)) for row in rows[:rows_max]],
                       "more": max(0, len(rows) - rows_max)}
                      for statement, values, changed, rows in answers]
        parameters = {variable["name"]: entry.script.values[i]
                      for i, variable in enumerate(entry.script.tree["variables"])
                      if variable["from"] != "scale"}
        message = next((message for _, _, message in entry.tally.errors), None)
        return {"parameters": parameters, "statements": statements, "statements_more": 0,
                "outcome": outcome, "message": message}

    def tables(self):
        ignored = {name.lower(): False for name in self.job["ignore"]}
        found = []
        for table, in self.query(TABLES).fetchall():
            columns = [row[1] for row in self.query(f"PRAGMA table_xinfo({quote(table)})")
                       if row[6] != 1]
            kept = []
            for column in columns:
                key = f"{table}.{column}".lower()
                if key in ignored:
                    ignored[key] = True
                else:
                    kept.append(quote(column))
            listed = "*" if len(kept) == len(columns) else ", ".join(kept) or "NULL"
            rows = value = strict = 0
            self.table, self.done = table, 0
            for row in self.query(f"SELECT {listed} FROM {quote(table)}"):
                rows += 1
                value += digests.row_digest(row, False)
                strict += digests.row_digest(row, True)
                self.done = rows
            found.append({"table": table, "rows": rows,
                          **{name: f"{digests.table_digest(rows, total):016x}"
                             for name, total in (("value", value), ("strict", strict))}})
        for name, there in ignored.items():
            if not there:
                raise Failure("verify", f"ignore names {name}, but there is no such column")
        return found


class Check(Task):
    def work(self):
        self.open()
        rows = {}
        for table in self.job["tables"] or [name for name, in self.query(TABLES).fetchall()]:
            self.table = table
            rows[table] = self.query(f"SELECT count(*) FROM {quote(table)}").fetchone()[0]
            self.done += 1
        lines = []
        pragma = {"full": "PRAGMA integrity_check", "quick": "PRAGMA quick_check"}.get(
            self.job["integrity"])
        if pragma is not None:
            try:
                for line, in self.connection.db.execute(pragma):
                    lines.append(line)
            except sqlite3.Error as error:  # it broke off: that is damage too
                lines.append(str(error))
        self.connection.db.close()
        return {"rows": rows, "integrity": lines[:INTEGRITY_LINES_MAX]}


# ---- main ----------------------------------------------------------------------------------


def hello(engine):
    return dict(protocol=1, worker="example worker in Python", build="release", engine=engine,
                driver="python", version=sqlite3.sqlite_version, source_id=source_id(),
                sync_call=None, library=None, compile_options=compile_options(),
                binding_version=None, runtime=f"python {sys.version.split()[0]}",
                capabilities=["threads", "check", "verify", "rate"], warnings=[])


def source_id():
    return sqlite3.connect(":memory:").execute("SELECT sqlite_source_id()").fetchone()[0]


def compile_options():
    return [row[0] for row in sqlite3.connect(":memory:").execute("PRAGMA compile_options")]


def answer(wire):
    _, job = wire.next()
    if job["kind"] != "job":
        raise unexpected(job)
    if job.get("protocol") != 1:
        raise Failure("job", f"this worker speaks protocol 1, the job {job.get('protocol')}")
    kinds = {"run": Run, "verify": Verify, "check": Check}
    if job.get("job") not in kinds:
        raise Failure("job", f"this worker takes no {job.get('job')} jobs")
    if job.get("database") is None:
        raise Failure("job", "this worker needs the path of a database")
    return kinds[job["job"]](wire, job).result()


def main():
    parser = argparse.ArgumentParser(description="Started by pitot; docs/worker-protocol.md.")
    parser.add_argument("--engine", required=True)
    parser.add_argument("--option", action="append", default=[])
    given = parser.parse_args()
    if given.option:
        parser.error(f"--option {given.option[0]}: this worker has no options")
    wire = Wire()
    wire.send("hello", **hello(given.engine))
    threading.Thread(target=wire.read, daemon=True).start()
    try:
        result = answer(wire)
        wire.over = True
        wire.send("result", **result)
        status = 0
    except Failure as failure:
        wire.over = True
        keys = {"code": None, "script": None, "statement": None, "place": None, **failure.more}
        wire.send("error", phase=failure.phase, message=str(failure), **keys)
        status = 1
    sys.stdout.flush()
    os._exit(status)  # at once: threads may still wait


if __name__ == "__main__":
    main()
