"""Speaks the worker protocol with one pitot-worker, for the tests beside this file."""

import json
import os
import select
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.path.join(os.environ.get("PITOT_BUILD_FOLDER", os.path.join(HERE, "../../../build")),
                      "pitot-worker")
LIMIT_S = 60  # no test waits longer for anything; a hang is a failure


def find_sqlite():
    """The system's libsqlite3, or None."""
    if "PITOT_TEST_SQLITE" in os.environ:
        return os.environ["PITOT_TEST_SQLITE"]
    for line in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout.splitlines():
        if "libsqlite3.so.0" in line:
            return line.split("=>")[1].strip()
    return None


class Worker:
    def __init__(self, *arguments, program=(BINARY,)):
        read_fd, write_fd = os.pipe()
        command = [*program, *arguments]

        def place():
            if write_fd != 3:
                os.dup2(write_fd, 3)
            os.set_inheritable(3, True)

        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            close_fds=False, preexec_fn=place)
        os.close(write_fd)
        self.fd = read_fd
        self.pending = b""
        self.progress = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass
        os.close(self.fd)

    def send(self, line):
        self.send_bytes(json.dumps(line).encode() + b"\n")

    def send_bytes(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def go(self, ahead_s=0.02):
        at_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + int(ahead_s * 1e9)
        self.send({"kind": "go", "at_ns": at_ns})
        return at_ns

    def stop(self):
        self.send({"kind": "stop"})

    def end_input(self):
        self.process.stdin.close()

    def read(self):
        """The next line of any kind, or None at the end."""
        until = time.monotonic() + LIMIT_S
        while b"\n" not in self.pending:
            ready, _, _ = select.select([self.fd], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise AssertionError("no line from the worker in %d s" % LIMIT_S)
            data = os.read(self.fd, 1 << 20)
            if not data:
                assert self.pending == b"", "half a line: %r" % self.pending
                return None
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)

        def refuse(name):
            raise AssertionError("%s in JSON" % name)

        def unique(pairs):
            keys = [key for key, _ in pairs]
            assert len(set(keys)) == len(keys), "duplicate keys: %s" % keys
            return dict(pairs)

        return json.loads(line.decode("utf-8"), parse_constant=refuse, object_pairs_hook=unique)

    def expect(self, kind):
        """The next line that is no progress; it must be of this kind."""
        while True:
            line = self.read()
            if line is not None and line["kind"] == "progress":
                self.progress.append(line)
                continue
            break
        assert line is not None, "the worker ended, %s was expected: %s" % (kind, self.log())
        assert line["kind"] == kind, "%s was expected: %s" % (kind, line)
        return line

    def ended(self):
        """Nothing more on descriptor 3; the exit status."""
        line = self.read()
        assert line is None, "one line too many: %s" % line
        return self.process.wait(LIMIT_S)

    def log(self):
        self.process.stdin.close()
        return self.process.stdout.read().decode("utf-8", "replace")


# ---- compiled scripts ---------------------------------------------------------


def constant(value):
    return {"op": "constant", "type": "integer", "value": value, "place": [1, 1]}


def variable(index):
    return {"op": "variable", "type": "integer", "variable": index, "place": [1, 1]}


def call(name, *arguments):
    return {"op": name, "type": "integer", "arguments": list(arguments), "place": [1, 1]}


def statement(sql, *parameters, one=False):
    return {"sql": sql, "parameters": list(parameters), "one": one, "place": [1, 1]}


def names(**origins):
    """Variables in order: names(op="builtin", n="set")."""
    return [{"name": name, "type": "integer", "from": origin} for name, origin in origins.items()]


def set_to(index, expression):
    return {"step": "set", "variable": index, "expression": expression, "place": [1, 1]}


def run(index):
    return {"step": "statement", "statement": index, "place": [2, 1]}


def step(kind):
    return {"step": kind, "place": [1, 1]}


def script(name, variables, statements, steps, kind="read", operations=1):
    return {"name": name, "kind": kind, "operations": operations, "variables": variables,
            "statements": statements, "steps": steps}


def rows(table, count, chunk, *steps):
    return {"step": "rows", "table": table, "count": constant(count), "chunk": constant(chunk),
            "steps": list(steps), "place": [1, 1]}


# ---- jobs ---------------------------------------------------------------------


def job(kind, database, **more):
    line = {"kind": "job", "protocol": 1, "job": kind, "database": database,
            "busy_timeout_ms": 5000, "settings": [], "variables": {}, "seed": 7}
    line.update(more)
    return line


def run_job(database, scripts, connections=2, **more):
    line = job("run", database, scripts=scripts,
               roles=[{"name": "app", "connections": connections,
                       "scripts": [{"script": i, "weight": 1} for i in range(len(scripts))]}],
               first_connection=0, connections_total=connections, warmup={"operations": 10},
               operations=100, grace_ns=1000000000, max_tries=10, latency_limit_ns=10000000)
    line.update(more)
    if "duration_ns" in more:
        del line["operations"]
    return line
