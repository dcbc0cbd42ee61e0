#!/usr/bin/env python3
"""A worker that stores nothing and, unless told otherwise, keeps docs/worker-protocol.md.

    broken-worker.py --engine NAME [--option fault=FAULT] [--option at=hello|ready|result]

`at` says which of its three lines the fault replaces or goes with (result is the default; after
`go` that is). FAULTS below lists them; `sound` is none. Only Python's own modules are used.
"""

import json
import os
import signal
import subprocess
import sys
import time

OK_EACH = 100  # executions of each script of each role
LATENCY_NS = 1000  # of each of them, which falls into bucket 506
BUCKET = 506
MIB = 1 << 20


def write(data):
    """All of it to descriptor 3; the end when nobody reads any more."""
    while data:
        try:
            data = data[os.write(3, data):]
        except BrokenPipeError:
            os._exit(1)


def encode(line):
    return json.dumps(line).encode() + b"\n"


def forever():
    while True:
        signal.pause()


def progress(phase, done):
    return {"kind": "progress", "phase": phase, "done": done, "total": None, "table": None,
            "elapsed_ns": 1}


def read_line():
    """A line of the coordinator; the end of the worker when it is gone."""
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(1)
    return json.loads(line)


# ---- what a sound worker says --------------------------------------------------------


def hello(name):
    return {"kind": "hello", "protocol": 1, "worker": "broken-worker", "build": "release",
            "engine": name, "driver": "broken", "version": "1", "source_id": None,
            "sync_call": None, "library": None, "compile_options": [],
            "capabilities": ["no_database"], "warnings": []}


def ready(job):
    connections = []
    number = job["first_connection"]
    for index, role in enumerate(job["roles"]):
        for _ in range(role["connections"]):
            connections.append({"connection": number, "role": index, "settings": [
                {"name": setting["name"], "asked": setting["value"], "got": setting["value"],
                 "required": setting["required"], "problem": None}
                for setting in job["settings"]]})
            number += 1
    return {"kind": "ready", "warmup_operations": 0, "warmup_ns": 0, "acknowledged": [],
            "connections": connections}


def script_result(job, role, index):
    statements = len(job["scripts"][index]["statements"])
    return {"role": role, "script": index, "attempted": OK_EACH, "ok": OK_EACH, "busy": 0,
            "conflict": 0, "failed": 0, "skipped": 0, "open": 0, "retries": 0,
            "rows_read": OK_EACH, "rows_changed": 0, "time_ns": OK_EACH * LATENCY_NS, "slow": 0,
            "acknowledged": [0] * statements, "errors": [],
            "latency": {"count": OK_EACH, "overflow": 0, "sum": OK_EACH * LATENCY_NS,
                        "min": LATENCY_NS, "max": LATENCY_NS, "buckets": [[BUCKET, OK_EACH]]}}


def result(job, at_ns, ended_ns):
    scripts = [script_result(job, role, share["script"])
               for role, entry in enumerate(job["roles"]) for share in entry["scripts"]]
    connections = []
    number = job["first_connection"]
    for role, entry in enumerate(job["roles"]):
        total = OK_EACH * len(entry["scripts"])
        count = entry["connections"]
        for i in range(count):
            mine = total // count + (1 if i < total % count else 0)
            connections.append({"connection": number, "role": role, "operations": mine,
                                "ended_ns": ended_ns, "cpu_ns": 1, "run_queue_ns": 0, "slept_ns": None, "waits": None,
                                "late_ns": 0})
            number += 1
    return {"kind": "result", "job": "run", "partial": False, "started_ns": at_ns,
            "ended_ns": ended_ns, "cpu_user_ns": 1, "cpu_system_ns": 1, "minor_faults": 0,
            "major_faults": 0, "voluntary_switches": 0, "involuntary_switches": 0,
            "read_bytes": 0, "write_bytes": 0, "close_ns": 1, "peak_memory_bytes": MIB,
            "connections": connections, "scripts": scripts,
            "seconds": [{"at_ns": 1000000000, "operations": [s["ok"] for s in scripts],
                         "slow": [0] * len(scripts)}]}


# ---- faults: what goes out in place of the line ------------------------------------------


def garbage(line):
    write(b"\x00\xff\xfe no JSON at all\n")


def array(line):
    write(b"[1, 2, 3]\n")


def half(line):
    data = encode(line)
    write(data[:len(data) // 2])
    os._exit(0)


def endless_line(line):
    """A gigabyte without its end, or until nobody reads any more."""
    for _ in range(1024):
        write(b"x" * MIB)
    forever()


def deep(line):
    write(b"[" * 100000 + b"\n")


def not_a_number(line):
    """The line as it should be, but one of its numbers is NaN."""
    key = {"hello": b'"protocol": 1', "ready": b'"warmup_ns": 0'}.get(
        line["kind"], b'"cpu_user_ns": 1')
    data = encode(line)
    assert key in data
    write(data.replace(key, key[:-1] + b"NaN"))


def twice(line):
    write(encode(line) * 2)


def silence(line):
    forever()


def standing_still(line):
    """Progress lines that never get on."""
    while True:
        write(encode(progress("warmup", 7)))
        time.sleep(0.02)


def stopped(line):
    """Held by a signal: it cannot even hear that it is to end."""
    os.kill(os.getpid(), signal.SIGSTOP)


def flood(line):
    """Progress lines as fast as they can be written, with a counter that does get on."""
    done = 0
    while True:
        part = b""
        for done in range(done + 1, done + 2000):
            part += encode(progress("run", done))
        write(part)


def wordy(line):
    """Megabytes of log, then all is well."""
    for number in range(4 * MIB // 64):
        os.write(2, b"%06d %s\n" % (number, b"w" * 56))
    write(encode(line))


def wordy_for_ever(line):
    while True:
        os.write(2, b"w" * 65535 + b"\n")


def status_7(line):
    os.write(2, b"last words\n")
    os._exit(7)


def killed(line):
    os.kill(os.getpid(), signal.SIGKILL)


def closed(line):
    """Stays, but says nothing any more."""
    os.close(3)
    forever()


def child(line):
    """Leaves a process behind in its group, which holds all its descriptors, and ends well."""
    subprocess.Popen(["sleep", "600"], close_fds=False, pass_fds=[3])
    write(encode(line))


def child_only(line):
    """The same, and dies without having said a word."""
    subprocess.Popen(["sleep", "600"], close_fds=False, pass_fds=[3])
    os._exit(7)


def stays(line):
    """Hears no signal that can be ignored, nor the end of its input."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    write(encode(line))
    forever()


def status_after(line):
    write(encode(line))
    os._exit(7)


def killed_after(line):
    write(encode(line))
    os.kill(os.getpid(), signal.SIGKILL)


def error_line(line):
    write(encode({"kind": "error", "phase": "run", "message": "the engine said no", "code": None,
                  "script": None, "statement": None}))
    os._exit(1)


def changed(change):
    """The line after a change of what it holds."""

    def send(line):
        change(line)
        write(encode(line))

    return send


def first_script(key, value):
    def change(line):
        line["scripts"][0][key] = value

    return changed(change)


def first_latency(key, value):
    def change(line):
        line["scripts"][0]["latency"][key] = value

    return changed(change)


def of_each_connection(change_settings):
    def change(line):
        for connection in line["connections"]:
            change_settings(connection)

    return changed(change)


def no_cache_size(connection):
    connection["settings"] = [s for s in connection["settings"] if s["name"] != "cache_size"]


def another_cache_size(connection):
    for setting in connection["settings"]:
        if setting["name"] == "cache_size":
            setting["asked"] = setting["got"] = "-2000"


def cache_size_not_required(connection):
    for setting in connection["settings"]:
        if setting["name"] == "cache_size":
            setting["required"] = False
            setting["got"] = "-2000"


def one_second_too_many(line):
    line["seconds"][0]["operations"][0] += 1


def one_operation_too_many(line):
    line["connections"][0]["operations"] += 1


def last_script_left_out(line):
    line["scripts"].pop()
    for key in ("operations", "slow"):
        line["seconds"][0][key].pop()


def same_script_twice(line):
    line["scripts"][1] = dict(line["scripts"][0])


FAULTS = {
    "sound": lambda line: write(encode(line)),
    # at any of the three lines
    "garbage": garbage,
    "array": array,
    "half": half,
    "endless-line": endless_line,
    "deep": deep,
    "nan": not_a_number,
    "twice": twice,
    "silence": silence,
    "standing-still": standing_still,
    "stopped": stopped,
    "flood": flood,
    "wordy": wordy,
    "wordy-for-ever": wordy_for_ever,
    "status-7": status_7,
    "killed": killed,
    "closed": closed,
    "child": child,
    "child-only": child_only,
    "stays": stays,
    "error": error_line,
    # hello
    "protocol-2": changed(lambda line: line.update(protocol=2)),
    "no-protocol": changed(lambda line: line.pop("protocol")),
    # ready
    "setting-left-out": of_each_connection(no_cache_size),
    "setting-asked-otherwise": of_each_connection(another_cache_size),
    "setting-made-optional": of_each_connection(cache_size_not_required),
    "connection-left-out": changed(lambda line: line["connections"].pop()),
    # result
    "status-7-after": status_after,
    "killed-after": killed_after,
    "outcomes": first_script("ok", OK_EACH - 1),
    "negative": first_script("busy", -1),
    "text": first_script("busy", "many"),
    "histogram": first_latency("buckets", [[BUCKET, OK_EACH - 1]]),
    "histogram-count": first_latency("count", OK_EACH - 1),
    "histogram-index": first_latency("buckets", [[1 << 40, OK_EACH]]),
    "histogram-min": first_latency("min", 5),
    "script-left-out": changed(last_script_left_out),
    "script-twice": changed(same_script_twice),
    "seconds": changed(one_second_too_many),
    "connections": changed(one_operation_too_many),
    "window": changed(lambda line: line.update(started_ns=line["started_ns"] - 10**9)),
    "future": changed(lambda line: line.update(ended_ns=line["ended_ns"] + 3600 * 10**9)),
    "too-much-time": first_script("time_ns", 10**15),
}
EARLY = "before-go"  # a result right after ready, without waiting for go


def main():
    arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    options = dict(word.split("=", 1) for option, word in zip(sys.argv, sys.argv[1:])
                   if option == "--option")
    fault = options.get("fault", "sound")
    at = options.get("at", "result")

    def say(place, line):
        FAULTS[fault if place == at and fault != EARLY else "sound"](line)

    say("hello", hello(arguments["--engine"]))
    job = read_line()
    if job["job"] != "run":
        write(encode({"kind": "error", "phase": "job", "code": None, "script": None,
                      "statement": None,
                      "message": f"job kind {job['job']} is not known to this worker"}))
        os._exit(1)
    say("ready", ready(job))
    if fault == EARLY and job["warmup"] != {"operations": 0}:  # not in the test before the runs
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        write(encode(result(job, now, now + 1000)))
        forever()
    go = read_line()
    ended_ns = go.get("at_ns", 0) + job.get("duration_ns", 1000000)
    while go["kind"] == "go" and time.clock_gettime_ns(time.CLOCK_MONOTONIC) < ended_ns:
        time.sleep(max(0, (ended_ns - time.clock_gettime_ns(time.CLOCK_MONOTONIC)) / 1e9))
    say("result", result(job, go.get("at_ns", ended_ns), ended_ns))
    os._exit(0)


if __name__ == "__main__":
    main()
