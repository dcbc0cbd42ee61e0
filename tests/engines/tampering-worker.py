"""pitot-worker with the system's SQLite behind a hand that changes the database between a run and
the check that follows it: an engine that loses what it has acknowledged.

    tampering-worker.py --engine NAME --option worker=PATH --option library=PATH --option do=ACTION
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys

ACTIONS = {
    "nothing": [],
    "lose-row": ["DELETE FROM orders WHERE id = 1"],
    "invent-rows": ["INSERT INTO users SELECT id + 1000000, 'x' || id, name, plan, country, "
                    "created_at, last_seen_at FROM users LIMIT 2"],
    "drop-table": ["DROP TABLE users"],
    # The index no longer is what its definition says: every count is right, the file is not.
    "break-index": ["PRAGMA writable_schema = ON",
                    "UPDATE sqlite_master SET sql = 'CREATE UNIQUE INDEX users_email ON users "
                    "(name)' WHERE name = 'users_email'"],
}


def tamper(database, action):
    connection = sqlite3.connect(database, isolation_level=None)
    for sql in ACTIONS[action]:
        connection.execute(sql)
    connection.close()


def main(arguments):
    name = arguments[arguments.index("--engine") + 1]
    given = [arguments[i + 1] for i, word in enumerate(arguments) if word == "--option"]
    options = dict(option.split("=", 1) for option in given)
    worker = subprocess.Popen([options["worker"], "--engine", name, "--driver", "sqlite",
                               "--library", options["library"]],
                              stdin=subprocess.PIPE, pass_fds=(3,))
    os.close(3)
    for line in sys.stdin.buffer:
        job = json.loads(line)
        if job.get("job") == "check" and options["do"] == "die":
            worker.send_signal(signal.SIGKILL)
        elif job.get("job") == "check":
            tamper(job["database"], options["do"])
        try:
            worker.stdin.write(line)
            worker.stdin.flush()
        except BrokenPipeError:
            break
    try:
        worker.stdin.close()
    except BrokenPipeError:
        pass
    return abs(worker.wait())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
