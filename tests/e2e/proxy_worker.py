"""A worker that passes the lines of pitot-worker through and changes what it is told to.

    proxy_worker.py FAULT PITOT-WORKER LIBRARY [--engine NAME …]

Engines that are wrong in ways that no real one should be, or that lock their file, for
test_verify.py, test_rate.py and test_concurrent.py: a manifest names this program as the command
of its worker.
"""

import fcntl
import json
import os
import subprocess
import sys

WRONG_FROM = 17  # operations from here on have another answer


def change_ready(fault, job, line):
    if fault == "no-journal":
        os.unlink(job["database"] + "-wal")
    for connection in line["connections"]:
        for setting in connection["settings"]:
            if fault == "pragma" and setting["name"] == "cache_size" \
                    and connection["connection"] in (1, 3):
                setting["got"] = "-2000"
            if fault == "informative" and setting["name"] == "mmap_size":
                setting["got"] = None
            if fault == "synchronous" and setting["name"] == "synchronous":
                setting["got"] = "2"


def index_of(job, name):
    return next(i for i, script in enumerate(job["scripts"]) if script["name"] == name)


def change_digests(script, key):
    script[key][WRONG_FROM:] = ["0123456789abcdef"] * (len(script[key]) - WRONG_FROM)


def change_answers(fault, job, line):
    scripts = line["scripts"]
    if fault == "drop-row":
        change_digests(scripts[index_of(job, "orders_by_user")], "value")
        change_digests(scripts[index_of(job, "orders_by_user")], "strict")
    elif fault == "order":
        change_digests(scripts[index_of(job, "user_by_id")], "value")
    elif fault == "storage-class":
        change_digests(scripts[index_of(job, "user_by_id")], "strict")
    elif fault == "table":
        line["tables"][0]["rows"] -= 1
        line["tables"][0]["value"] = "0123456789abcdef"
    elif fault == "count":
        scripts[0]["ok"] -= 1
    elif fault == "digest":
        scripts[0]["value"][3] = "no digest"
    elif fault == "crash":
        os.abort()


def change_detail(fault, line):
    rows = line["statements"][0]["rows"]
    if fault == "drop-row":
        rows.pop(0)
    elif fault == "order":
        rows[0][0] = "4711"


def change_run(fault, line):
    if fault == "offered":
        line["connections"][0]["offered"] += 1
    elif fault == "unstarted":
        line["connections"][0]["unstarted"] = line["connections"][0]["offered"] + 1
    elif fault == "lag":
        line["scripts"][0]["lag"]["sum"] += 1
    elif fault == "no-service":
        del line["scripts"][0]["service"]
    elif fault == "one-more":
        line["scripts"][0]["attempted"] += 1
        line["scripts"][0]["busy"] += 1
    elif fault == "crash-1" and line["connections"][0]["connection"] == 1:
        os.abort()


def lock(job, out):
    """Locks the database for this process, as some engines do. The descriptor stays open; it is
    another kind of lock than SQLite's own."""
    descriptor = os.open(job["database"], os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        out.write(json.dumps({"kind": "error", "phase": "open", "code": None,
                              "message": "another process has it"}) + "\n")
        out.flush()
        sys.exit(1)


def change(fault, job, line):
    if line["kind"] == "hello" and fault in ("no-verify", "no-rate"):
        line["capabilities"].remove(fault.removeprefix("no-"))
    elif line["kind"] == "ready":
        change_ready(fault, job, line)
    elif line["kind"] == "result" and line["job"] == "verify":
        if "scripts" in line:
            change_answers(fault, job, line)
        else:
            change_detail(fault, line)
    elif line["kind"] == "result" and line["job"] == "run":
        change_run(fault, line)


def main():
    fault, program, library = sys.argv[1:4]
    reader, writer = os.pipe()
    worker = subprocess.Popen(
        [program, "--engine", "proxy", "--driver", "sqlite", "--library", library],
        stdin=subprocess.PIPE, pass_fds=(3,), preexec_fn=lambda: os.dup2(writer, 3))
    os.close(writer)
    job = None
    with os.fdopen(reader) as lines, os.fdopen(3, "w") as out:
        for text in lines:
            line = json.loads(text)
            change(fault, job, line)
            out.write(json.dumps(line) + "\n")
            out.flush()
            if line["kind"] in ("hello", "ready"):
                # A job, then go: the coordinator speaks when it has been spoken to.
                order = sys.stdin.buffer.readline()
                if not order:
                    break
                if job is None:
                    job = json.loads(order)
                    if fault == "exclusive" and job["job"] == "run":
                        lock(job, out)
                worker.stdin.write(order)
                worker.stdin.flush()
    worker.stdin.close()
    return worker.wait()


if __name__ == "__main__":
    sys.exit(main())
