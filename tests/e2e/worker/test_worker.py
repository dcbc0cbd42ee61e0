"""pitot-worker keeps docs/worker-protocol.md, with the null driver and the system's SQLite.

By hand: PITOT_BUILD_FOLDER=/path/to/build python3 test_worker.py
"""

import os
import resource
import signal
import sqlite3
import tempfile
import unittest

from worker_client import (Worker, call, constant, find_sqlite, job, names, rows, run, run_job,
                           script, set_to, statement, step, variable)

SQLITE = find_sqlite()
NULL = ("--engine", "null", "--driver", "null")
WAL = [{"name": "journal_mode", "value": "wal", "required": True},
       {"name": "synchronous", "value": "normal", "required": True}]

NOTHING = script("nothing", names(), [statement("SELECT 1")], [run(0)])


def point_read(most):
    return script("point", names(id="set"),
                  [statement("SELECT id, name FROM users WHERE id = ?", 0)],
                  [set_to(0, call("random", constant(1), constant(most))), run(0)])


def note(name="note"):
    """Writes who ran it: its draws can be read back from the table."""
    return script(name, names(connection="builtin", op="builtin", drawn="set"),
                  [statement("INSERT INTO log VALUES (?, ?, ?)", 0, 1, 2)],
                  [set_to(2, call("random", constant(1), constant(1 << 40))), run(0)],
                  kind="write")


OUTCOMES = ("ok", "busy", "conflict", "failed", "skipped", "open")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="pitot-worker-test-")
        self.addCleanup(self.folder.cleanup)
        self.database = os.path.join(self.folder.name, "a.db")

    def check_result(self, result):
        """What holds for every result of a run."""
        self.assertLessEqual(result["started_ns"], result["ended_ns"])
        for entry in result["scripts"]:
            self.assertEqual(entry["attempted"], sum(entry[o] for o in OUTCOMES))
            latency = entry["latency"]
            self.assertEqual(latency["count"], entry["ok"])
            self.assertEqual(sum(n for _, n in latency["buckets"]) + latency["overflow"],
                             entry["ok"])
            self.assertEqual(latency["min"] is None, entry["ok"] == 0)
            self.assertEqual(latency["max"] is None, entry["ok"] == 0)
            self.assertEqual(sum(e["count"] for e in entry["errors"]), entry["failed"])
        for i, entry in enumerate(result["scripts"]):
            self.assertEqual(sum(s["operations"][i] for s in result["seconds"]), entry["ok"])
            self.assertEqual(sum(s["slow"][i] for s in result["seconds"]), entry["slow"])
        self.assertEqual(sum(c["operations"] for c in result["connections"]),
                         sum(s["ok"] for s in result["scripts"]))

    def run_to_result(self, worker, line):
        worker.send(line)
        ready = worker.expect("ready")
        at_ns = worker.go()
        result = worker.expect("result")
        self.assertEqual(worker.ended(), 0, worker.log())
        self.assertEqual(result["started_ns"], at_ns)
        self.check_result(result)
        return ready, result

    def expect_error(self, worker, phase, text):
        error = worker.expect("error")
        self.assertEqual(worker.ended(), 1)
        self.assertEqual(error["phase"], phase, error)
        self.assertIn(text, error["message"])
        return error


class TestNull(Case):
    def test_hello_comes_before_any_job(self):
        with Worker("--engine", "my null", "--driver", "null") as worker:
            hello = worker.expect("hello")
            self.assertEqual(hello["protocol"], 1)
            self.assertEqual((hello["engine"], hello["driver"]), ("my null", "null"))
            self.assertIn("no_database", hello["capabilities"])
            worker.end_input()
            self.assertEqual(worker.ended(), 1)

    def test_run_by_operations_without_a_file(self):
        with Worker(*NULL) as worker:
            worker.expect("hello")
            ready, result = self.run_to_result(worker, run_job(None, [NOTHING], connections=3))
            self.assertEqual(ready["warmup_operations"], 30)
            self.assertEqual([c["connection"] for c in ready["connections"]], [0, 1, 2])
            self.assertFalse(result["partial"])
            self.assertEqual(result["scripts"][0]["ok"], 300)
            self.assertEqual([c["operations"] for c in result["connections"]], [100] * 3)
            self.assertIsNone(result["connections"][0]["slept_ns"])
            self.assertIsNone(result["connections"][0]["waits"])

    def test_run_by_time_ends_at_the_deadline(self):
        with Worker(*NULL) as worker:
            worker.expect("hello")
            line = run_job("/x", [NOTHING], duration_ns=300_000_000, warmup={"ns": 1000000})
            _, result = self.run_to_result(worker, line)
            entry = result["scripts"][0]
            self.assertGreater(entry["ok"], 0)
            # The last operation began before the deadline and is one of at most `max`.
            over = result["ended_ns"] - result["started_ns"] - 300_000_000
            self.assertLessEqual(over, entry["latency"]["max"])
            self.assertEqual(result["seconds"][0]["at_ns"], 1_000_000_000)
            # Little's law: the time of all operations fits into the window of all connections.
            self.assertLessEqual(entry["time_ns"], 2 * (result["ended_ns"] - result["started_ns"]))

    def test_weights_pick_the_scripts(self):
        scripts = [dict(NOTHING, name="a"), dict(NOTHING, name="b")]
        line = run_job("/x", scripts, connections=1, operations=20000)
        line["roles"][0]["scripts"] = [{"script": 0, "weight": 1}, {"script": 1, "weight": 3}]
        with Worker(*NULL) as worker:
            worker.expect("hello")
            _, result = self.run_to_result(worker, line)
            a, b = (entry["ok"] for entry in result["scripts"])
            self.assertEqual(a + b, 20000)
            self.assertTrue(4500 < a < 5500, a)
        again = []
        for seed in (7, 7, 8):
            with Worker(*NULL) as worker:
                worker.expect("hello")
                _, result = self.run_to_result(worker, dict(line, seed=seed))
                again.append(result["scripts"][0]["ok"])
        self.assertEqual(again[0], a)
        self.assertEqual(again[1], a)
        self.assertNotEqual(again[2], a)

    def test_stop_ends_early_and_partial(self):
        with Worker(*NULL) as worker:
            worker.expect("hello")
            worker.send(run_job("/x", [NOTHING], duration_ns=600_000_000_000))
            worker.expect("ready")
            worker.go()
            while not worker.progress:
                line = worker.read()
                self.assertEqual(line["kind"], "progress")
                worker.progress.append(line)
            self.assertEqual(worker.progress[0]["phase"], "run")
            worker.stop()
            result = worker.expect("result")
            self.assertTrue(result["partial"])
            self.check_result(result)
            self.assertGreater(result["scripts"][0]["ok"], 0)
            self.assertEqual(worker.ended(), 0)

    def test_stop_before_go_gives_an_empty_result(self):
        for warmup in ({"operations": 10}, {"ns": 600_000_000_000}):
            with self.subTest(warmup=warmup), Worker(*NULL) as worker:
                worker.expect("hello")
                worker.send(run_job("/x", [NOTHING], warmup=warmup))
                if "operations" in warmup:
                    worker.expect("ready")
                worker.stop()
                result = worker.expect("result")
                self.assertTrue(result["partial"])
                self.assertEqual(result["started_ns"], result["ended_ns"])
                self.assertEqual(result["seconds"], [])
                self.check_result(result)
                self.assertEqual(result["scripts"][0]["attempted"], 0)
                self.assertEqual(worker.ended(), 0)

    def test_end_of_input_ends_it_in_every_phase(self):
        long = run_job("/x", [NOTHING], duration_ns=600_000_000_000)

        def in_warmup(worker):
            worker.send(dict(long, warmup={"ns": 600_000_000_000}))

        def before_go(worker):
            worker.send(long)
            worker.expect("ready")

        def in_run(worker):
            before_go(worker)
            worker.go(0)

        for phase in (lambda worker: None, in_warmup, before_go, in_run):
            with self.subTest(phase=phase), Worker(*NULL) as worker:
                worker.expect("hello")
                phase(worker)
                worker.end_input()
                self.assertEqual(worker.process.wait(10), 1)

    def test_broken_lines_are_refused(self):
        cases = [
            (b"nonsense\n", "protocol", ""),
            (b"[1]\n", "protocol", "kind"),
            (b'{"kind":1}\n', "protocol", "kind"),
            (b'{"kind":"job","kind":"job"}\n', "protocol", ""),
            (b"[" * 3000 + b"\n", "protocol", ""),
            (b"\xff\xfe\n", "protocol", ""),
            (b'{"kind":"go","at_ns":1}\n', "protocol", "'go' where the job should be"),
            (b'{"kind":"job"}\n', "job", "protocol"),
        ]
        for data, phase, text in cases:
            with self.subTest(data=data[:40]), Worker(*NULL) as worker:
                worker.expect("hello")
                worker.send_bytes(data)
                self.expect_error(worker, phase, text)

    def test_a_line_over_64_mib_is_refused(self):
        with Worker(*NULL) as worker:
            worker.expect("hello")
            worker.send_bytes(b'{"kind":"job","x":"' + b"x" * (65 << 20) + b'"}\n')
            self.expect_error(worker, "protocol", "longer than 64 MiB")

    def test_versions_and_kinds_that_it_does_not_know(self):
        cases = [(dict(run_job("/x", [NOTHING]), protocol=2), "version 2"),
                 (job("dance", "/x"), "job kind dance is not known to this worker")]
        for line, text in cases:
            with self.subTest(text=text), Worker(*NULL) as worker:
                worker.expect("hello")
                worker.send(line)
                self.expect_error(worker, "job", text)

    def test_what_it_cannot_do_without_a_database(self):
        load = job("load", "/x", schema="", script=script("load", names(), [], []))
        check = job("check", "/x", tables=[], integrity="none")
        for line, text in ((load, "cannot load"), (check, "cannot check")):
            with self.subTest(text=text), Worker(*NULL) as worker:
                worker.expect("hello")
                worker.send(line)
                self.expect_error(worker, "job", text)

    def test_go_must_lie_ahead(self):
        for at_ns in (1, 1 << 52, -1, "soon"):
            with self.subTest(at_ns=at_ns), Worker(*NULL) as worker:
                worker.expect("hello")
                worker.send(run_job("/x", [NOTHING]))
                worker.expect("ready")
                worker.send({"kind": "go", "at_ns": at_ns})
                self.expect_error(worker, "protocol", "at_ns")

    def test_a_second_job_is_refused(self):
        with Worker(*NULL) as worker:
            worker.expect("hello")
            worker.send(run_job("/x", [NOTHING], duration_ns=600_000_000_000))
            worker.expect("ready")
            worker.go()
            worker.send(run_job("/x", [NOTHING]))
            self.expect_error(worker, "protocol", "line 'job' is not expected now")

    def test_arithmetic_that_fails_names_its_place(self):
        broken = script("broken", names(op="builtin", n="set"), [statement("SELECT ?", 1)],
                        [set_to(1, dict(call("divide", constant(1),
                                             call("less", variable(0), constant(25))),
                                        place=[4, 9])), run(0)])
        with Worker(*NULL) as worker:
            worker.expect("hello")
            worker.send(run_job("/x", [NOTHING, broken], operations=1000000))
            worker.expect("ready")
            worker.go()
            error = self.expect_error(worker, "run", "division by zero")
            self.assertEqual(error["script"], 1)
            self.assertEqual(error["place"], [4, 9])
            self.assertNotIn("4:9", error["message"])

    @unittest.skipIf(os.environ.get("PITOT_SANITIZED"), "needs address space without end")
    def test_threads_that_cannot_be_started(self):
        # Address space for some threads, not for all.
        with Worker(*NULL) as worker:
            worker.expect("hello")
            limit = 600 << 20
            resource.prlimit(worker.process.pid, resource.RLIMIT_AS, (limit, limit))
            worker.send(run_job("/x", [NOTHING], connections=10000))
            error = self.expect_error(worker, "open", "of 10000 threads: ")
            self.assertRegex(error["message"], "could start [0-9]+ of 10000 threads")

    def test_the_command_line(self):
        for arguments in ((), ("--engine", "x"), ("--bogus",), (*NULL, "word"),
                          (*NULL, "--option", "x")):
            with self.subTest(arguments=arguments), Worker(*arguments) as worker:
                self.assertEqual(worker.ended(), 2)

    def test_unknown_driver(self):
        with Worker("--engine", "x", "--driver", "nul") as worker:
            self.expect_error(worker, "engine", "nul")

    def test_a_coordinator_that_reads_no_more_does_not_kill_it_by_signal(self):
        with Worker(*NULL) as worker:
            worker.expect("hello")
            os.dup2(os.open("/dev/null", os.O_RDONLY), worker.fd)
            worker.send(run_job("/x", [NOTHING]))
            self.assertEqual(worker.process.wait(10), 1)


class TestForeignLibraries(Case):
    def test_what_is_no_engine(self):
        for path in ("/bin/ls", "/bin/sh", "/nowhere/libsqlite3.so", "/etc/passwd"):
            with self.subTest(path=path), \
                    Worker("--engine", "x", "--driver", "sqlite", "--library", path) as worker:
                self.expect_error(worker, "engine", os.path.basename(os.path.realpath(path)))


@unittest.skipIf(SQLITE is None, "no libsqlite3 on this machine")
class TestSqlite(Case):
    def worker(self):
        worker = Worker("--engine", "sqlite", "--driver", "sqlite", "--library", SQLITE)
        self.hello = worker.expect("hello")
        return worker

    def make(self, count=1000):
        connection = sqlite3.connect(self.database)
        connection.executescript(
            "PRAGMA journal_mode=wal;"
            "CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
            "CREATE TABLE log(connection INTEGER, op INTEGER, drawn INTEGER);")
        connection.executemany("INSERT INTO users VALUES (?, ?)",
                               ((i, "name %d" % i) for i in range(1, count + 1)))
        connection.commit()
        connection.close()

    def query(self, sql):
        connection = sqlite3.connect(self.database)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def test_hello_knows_the_library(self):
        with self.worker():
            self.assertEqual(self.hello["driver"], "sqlite")
            self.assertRegex(self.hello["version"], r"^3\.")
            self.assertEqual(os.path.realpath(self.hello["library"]), os.path.realpath(SQLITE))
            self.assertTrue({"threads", "load", "check"} <= set(self.hello["capabilities"]))

    def test_run_reads_and_reads_settings_back(self):
        self.make()
        settings = WAL + [{"name": "cache_size", "value": "-4096", "required": True}]
        with self.worker() as worker:
            ready, result = self.run_to_result(
                worker, run_job(self.database, [point_read(1000)], settings=settings))
            for connection in ready["connections"]:
                got = {s["name"]: s["got"] for s in connection["settings"]}
                self.assertEqual(got["journal_mode"], "wal")
                self.assertEqual(got["cache_size"], "-4096")
            self.assertEqual(ready["acknowledged"], [])
            entry = result["scripts"][0]
            self.assertEqual((entry["ok"], entry["rows_read"], entry["rows_changed"]),
                             (200, 200, 0))
            self.assertFalse(os.path.exists(self.database + "-wal"))

    def test_draws_and_operation_numbers(self):
        self.make()
        with self.worker() as worker:
            ready, result = self.run_to_result(
                worker, run_job(self.database, [note()], warmup={"operations": 20}, operations=30,
                                first_connection=5, connections_total=9))
        self.assertEqual(ready["acknowledged"],
                         [{"script": 0, "statement": 0, "rows_changed": 40}])
        self.assertEqual(result["scripts"][0]["acknowledged"], [100])
        self.assertEqual(result["scripts"][0]["rows_changed"], 60)
        log = self.query("SELECT connection, op, drawn FROM log")
        self.assertEqual(sorted((c, op) for c, op, _ in log),
                         [(c, op) for c in (5, 6) for op in range(50)])
        # Warm-up and measured part, and the two connections, never draw the same numbers.
        self.assertEqual(len({drawn for _, _, drawn in log}), 100)
        drawn = {(c, op): d for c, op, d in log}
        os.remove(self.database)
        self.make()
        with self.worker() as worker:
            self.run_to_result(
                worker, run_job(self.database, [note()], warmup={"operations": 3}, operations=30,
                                first_connection=5, connections_total=9))
        again = {(c, op): d for c, op, d in self.query("SELECT * FROM log")}
        # The measured part is the same whatever the warm-up was.
        self.assertEqual([drawn[6, 20 + i] for i in range(30)],
                         [again[6, 3 + i] for i in range(30)])

    def test_a_transaction_is_one_operation(self):
        self.make()
        both = script("both", names(op="builtin", i="set"),
                      [statement("INSERT INTO log VALUES (0, ?, ?)", 0, 1),
                       statement("SELECT count(*) FROM users")],
                      [step("begin_write"),
                       {"step": "repeat", "count": constant(10), "variable": 1,
                        "steps": [run(0)], "place": [1, 1]},
                       run(1), step("commit")], kind="write")
        with self.worker() as worker:
            _, result = self.run_to_result(
                worker, run_job(self.database, [both], warmup={"operations": 0}))
        entry = result["scripts"][0]
        self.assertEqual((entry["ok"], entry["rows_changed"], entry["rows_read"]),
                         (200, 2000, 200))
        self.assertEqual(entry["acknowledged"], [2000, 0])
        self.assertEqual(self.query("SELECT count(*) FROM log"), [(2000,)])

    def test_an_engine_that_fails_every_operation(self):
        self.make()
        twice = script("twice", names(), [statement("INSERT INTO users VALUES (1, 'x')")], [run(0)],
                       kind="write")
        with self.worker() as worker:
            _, result = self.run_to_result(worker, run_job(self.database, [twice]))
        entry = result["scripts"][0]
        self.assertEqual((entry["attempted"], entry["failed"], entry["ok"]), (200, 200, 0))
        self.assertEqual(entry["errors"][0]["count"], 200)
        self.assertEqual(entry["errors"][0]["statement"], 0)
        self.assertIn("UNIQUE", entry["errors"][0]["message"])
        self.assertEqual(entry["acknowledged"], [0])

    def test_a_locked_database_is_busy_and_a_late_one_open(self):
        self.make()
        holder = sqlite3.connect(self.database, isolation_level=None)
        self.addCleanup(holder.close)
        holder.execute("BEGIN IMMEDIATE")
        with self.worker() as worker:
            _, result = self.run_to_result(
                worker, run_job(self.database, [note()], busy_timeout_ms=1,
                                warmup={"operations": 0}, operations=3))
        entry = result["scripts"][0]
        self.assertEqual((entry["busy"], entry["attempted"], entry["retries"]), (6, 6, 0))
        with self.worker() as worker:
            _, result = self.run_to_result(
                worker, run_job(self.database, [note()], busy_timeout_ms=600000,
                                warmup={"operations": 0}, duration_ns=50_000_000,
                                grace_ns=50_000_000))
        entry = result["scripts"][0]
        self.assertEqual((entry["open"], entry["attempted"]), (2, 2))
        self.assertFalse(result["partial"])
        for connection in result["connections"]:
            self.assertGreater(connection["waits"], 0)
            self.assertGreater(connection["slept_ns"], 0)
        holder.execute("ROLLBACK")
        self.assertEqual(self.query("SELECT count(*) FROM log"), [(0,)])

    def test_what_cannot_be_prepared_is_named(self):
        self.make()
        wrong = script("wrong", names(), [statement("SELECT 1"), statement("SELECT nam FROM users")],
                       [run(0), run(1)])
        short = script("short", names(n="set"), [statement("SELECT ?, ?", 0)],
                       [set_to(0, constant(1)), run(0)])
        with self.worker() as worker:
            worker.send(run_job(self.database, [NOTHING, wrong]))
            error = self.expect_error(worker, "prepare", "nam")
            self.assertEqual((error["script"], error["statement"]), (1, 1))
            self.assertEqual(error["code"], 1)
        with self.worker() as worker:
            worker.send(run_job(self.database, [short]))
            self.expect_error(worker, "prepare", "counts 2 parameters")

    def test_a_missing_database(self):
        with self.worker() as worker:
            worker.send(run_job(self.database, [NOTHING]))
            self.expect_error(worker, "open", self.database)
        with self.worker() as worker:
            worker.send(run_job(None, [NOTHING]))
            self.expect_error(worker, "job", "path of a database")

    def load_job(self, **more):
        text = script("load", names(row="builtin", n="set", t="set"),
                      [statement("INSERT INTO a VALUES (?, ?)", 0, 1),
                       statement("INSERT INTO b VALUES (?)", 0),
                       statement("CREATE INDEX a_n ON a(n)")],
                      [set_to(2, constant(2)),
                       rows("a", 1000, 300,
                            set_to(1, call("random", constant(1), constant(1000))), run(0),
                            {"step": "repeat", "count": variable(2), "variable": None,
                             "steps": [run(1)], "place": [1, 1]}),
                       rows("b", 7, 0, run(1)), run(2)], kind="write")
        return job("load", self.database, script=text, **dict(
            {"schema": "CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER NOT NULL);\n"
                       "CREATE TABLE b(n INTEGER); -- ; \n"
                       "CREATE TRIGGER t AFTER DELETE ON a BEGIN DELETE FROM b; SELECT 1; END;",
             "settings": [{"name": "page_size", "value": "512", "required": True},
                          {"name": "auto_vacuum", "value": "1", "required": False}] + WAL}, **more))

    def test_load_makes_one_whole_file(self):
        with self.worker() as worker:
            worker.send(self.load_job())
            result = worker.expect("result")
            self.assertEqual(worker.ended(), 0)
        self.assertEqual(result["rows"], {"a": 1000, "b": 7})
        self.assertEqual({s["name"]: s["got"] for s in result["settings"]},
                         {"page_size": "512", "auto_vacuum": "1", "journal_mode": "wal",
                          "synchronous": "1"})
        self.assertEqual(os.listdir(self.folder.name), ["a.db"])
        with open(self.database, "rb") as file:
            header = file.read(20)
        self.assertEqual(header[16:20], b"\x02\x00\x01\x01")  # page size; not WAL any more
        self.assertEqual(self.query("SELECT count(*), min(id), max(id) FROM a"), [(1000, 1, 1000)])
        self.assertEqual(self.query("SELECT count(*) FROM b"), [(2007,)])
        self.assertEqual(self.query("SELECT name FROM sqlite_master WHERE type = 'index'"),
                         [("a_n",)])
        first = self.query("SELECT n FROM a")
        os.remove(self.database)
        with self.worker() as worker:
            worker.send(self.load_job())
            worker.expect("result")
        self.assertEqual(self.query("SELECT n FROM a"), first)
        with self.worker() as worker:
            worker.send(self.load_job())
            self.expect_error(worker, "job", "exists already")

    def test_load_errors_are_placed(self):
        with self.worker() as worker:
            worker.send(self.load_job(schema="CREATE TABLE"))
            self.expect_error(worker, "schema", "incomplete input")
        line = self.load_job()
        line["script"]["statements"][1]["sql"] = "INSERT INTO c VALUES (?)"
        with self.worker() as worker:
            os.remove(self.database) if os.path.exists(self.database) else None
            worker.send(line)
            error = self.expect_error(worker, "load", "no such table: c")
            self.assertEqual((error["script"], error["statement"]), (0, 1))

    def test_load_can_be_stopped(self):
        line = self.load_job()
        line["script"]["steps"][1]["count"] = constant(1 << 40)
        with self.worker() as worker:
            worker.send(line)
            while worker.read()["phase"] != "load":
                pass
            worker.stop()
            self.expect_error(worker, "load", "stopped")

    def test_load_progress_tells_table_and_total(self):
        line = self.load_job()
        line["script"]["steps"][1]["count"] = constant(1 << 40)
        with self.worker() as worker:
            worker.send(line)
            seen = worker.read()
            self.assertEqual((seen["kind"], seen["phase"], seen["table"], seen["total"]),
                             ("progress", "load", "a", 1 << 40))
            self.assertGreater(seen["done"], 0)
            worker.end_input()
            self.assertEqual(worker.process.wait(10), 1)

    def test_check_counts_and_asks_for_integrity(self):
        self.make(5)
        cases = [([], "full", {"users": 5, "log": 0}, ["ok"]),
                 (["users"], "quick", {"users": 5}, ["ok"]), (["log"], "none", {"log": 0}, [])]
        for tables, integrity, counts, said in cases:
            with self.subTest(tables=tables), self.worker() as worker:
                worker.send(job("check", self.database, tables=tables, integrity=integrity))
                result = worker.expect("result")
                self.assertEqual((result["rows"], result["integrity"]), (counts, said))
                self.assertEqual(worker.ended(), 0)
        with self.worker() as worker:
            worker.send(job("check", self.database, tables=['x"y'], integrity="none"))
            self.expect_error(worker, "check", 'no such table: x"y')

    def test_check_sees_damage(self):
        self.make(5000)
        with open(self.database, "r+b") as file:
            file.seek(5 * 4096)
            file.write(b"\xaa" * 4096)
        with self.worker() as worker:
            worker.send(job("check", self.database, tables=["log"], integrity="full"))
            result = worker.expect("result")
            self.assertNotEqual(result["integrity"], ["ok"])
            self.assertGreater(len(result["integrity"]), 0)

    def test_paths_of_any_bytes(self):
        self.make(5)
        odd = os.path.join(self.folder.name.encode(), b"\xff \\x41 \xc3\xa9'\".db")
        os.rename(self.database, odd)
        escaped = (self.folder.name + "/" + "\\xff \\x5cx41 é'\".db")
        with self.worker() as worker:
            worker.send(job("check", escaped, tables=["users"], integrity="none"))
            self.assertEqual(worker.expect("result")["rows"], {"users": 5})

    def test_required_settings_that_are_refused(self):
        self.make(5)
        for name, value in (("journal_mode; --", "wal"), ("", "x"), ("1a", "x")):
            with self.subTest(name=name), self.worker() as worker:
                worker.send(run_job(self.database, [NOTHING],
                                    settings=[{"name": name, "value": value, "required": True}]))
                self.expect_error(worker, "job", "settings")

    def test_killed_worker_leaves_a_file_that_opens(self):
        self.make(5)
        with self.worker() as worker:
            worker.send(run_job(self.database, [note()], duration_ns=600_000_000_000))
            worker.expect("ready")
            worker.go(0)
            worker.process.send_signal(signal.SIGKILL)
            worker.process.wait(10)
        self.assertEqual(self.query("PRAGMA integrity_check"), [("ok",)])


if __name__ == "__main__":
    unittest.main()
