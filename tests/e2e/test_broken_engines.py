"""Engines that are wrong, each exposed by the means that is there for it, while the others are
measured. tests/engines/broken-sqlite.c is the library; its file name says what is wrong with it."""

import shutil
import sqlite3
import unittest

import pitot_test
from pitot_test import PitotTest

LIBRARY = pitot_test.BUILD / "tests" / "broken-sqlite.so"
OUTCOMES = ("ok", "busy", "conflict", "failed", "skipped", "open")
IN_ORDER = "SELECT id, name FROM users ORDER BY id LIMIT 3;\n"


class BrokenTest(PitotTest):
    """With a copy of workloads/prod of a few hundred rows."""

    def setUp(self):
        super().setUp()
        self.workload = self.copy_workload("prod")
        self.change_suite(self.workload, self.change)

    @staticmethod
    def change(suite):
        tiny = {"users": 200, "orders_per_user": 4, "orders": 800}
        suite["scales"] = {"tiny": tiny, **suite["scales"]}

    def only(self, text, kind="read"):
        """The workload gets this one script."""
        for path in self.workload.glob("*.sql"):
            if path.name not in ("schema.sql", "load.sql"):
                path.unlink()
        (self.workload / "one.sql").write_text(text)

        def change(suite):
            suite["scripts"] = [{"name": "one", "kind": kind, "compare": "ordered"}]

        self.change_suite(self.workload, change)

    def broken(self, fault):
        """The library under the name that makes it so, as --engines takes it."""
        path = self.work / f"broken-{fault}.so"
        shutil.copyfile(LIBRARY, path)
        return f"sqlite={path}"

    def prod(self, *engines, status=0, more=(), warmup="20", duration="0.3"):
        """A short run: the rows of its result by engine, and the result."""
        self.done = self.pitot(
            "prod", "--workload", self.workload, "--engines", ",".join(engines), "--rounds", "1",
            "--duration", duration, "--warmup", warmup, "--timeout", "2000", "--grace", "100",
            "--json", "x.json", *more, status=status)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        return {engine["name"]: engine for engine in result["engines"]}, result

    def warnings(self, result, engine):
        return [w["text"] for w in result["warnings"] if w["subject"] == engine]

    def check_failed(self, row, text):
        self.assertEqual(row["status"], "failed")
        self.assertIn(text, row["error"])


class Verify(BrokenTest):
    """What `pitot verify` sees: settings, the journal on disk, answers."""

    def setUp(self):
        super().setUp()
        (self.workload / "in_order.sql").write_text(IN_ORDER)

    @staticmethod
    def change(suite):
        BrokenTest.change(suite)
        suite["scripts"].append({"name": "in_order", "kind": "read", "compare": "ordered"})

    def test_all(self):
        faults = ("sound", "drop-row", "reorder", "text-numbers", "forget-insert", "wrong-pragma",
                  "ignore-cache", "no-wal", "print-load", "print-exit", "abort-load",
                  "one-connection")
        names = {fault: self.broken(fault) for fault in faults}
        self.pitot("verify", "--workload", self.workload, "--engines",
                   ",".join([self.sqlite(), *names.values()]), "--operations", "50",
                   "--json", "x.json", status=1)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        rows = {engine["name"]: engine for engine in result["engines"]}
        rows = {fault: rows[name] for fault, name in names.items()}

        # Noise is no fault, and neither is the library itself.
        for fault in ("sound", "print-load", "print-exit"):
            self.assertEqual((rows[fault]["status"], rows[fault]["error"]), ("ok", None), fault)
            self.assertEqual(self.differing(rows[fault]), ([], []))

        self.assertEqual(self.differing(rows["drop-row"]),
                         (["in_order", "orders_by_user", "users_by_plan_page"],
                          ["orders", "users"]))
        self.assertEqual(self.differing(rows["reorder"]), (["in_order"], []))
        difference = self.script(rows["reorder"], "in_order")["differences"][0]
        self.assertEqual(difference["row"], 1)
        self.assertEqual([difference["answer"][0], difference["reference_answer"][0]],
                         ["2", "1"])
        scripts, tables = self.differing(rows["text-numbers"])
        self.assertIn("user_by_id", scripts)
        self.assertEqual(tables, ["orders", "users"])
        self.assertEqual(self.differing(rows["forget-insert"]), ([], ["orders"]))
        for fault in ("drop-row", "reorder", "text-numbers", "forget-insert"):
            self.assertEqual(rows[fault]["status"], "differs", fault)

        for fault, setting, got in (("wrong-pragma", "synchronous", "0"),
                                    ("ignore-cache", "cache_size", "-2000")):
            self.assertEqual(rows[fault]["status"], "differs", fault)
            connections = rows[fault]["verify"]["connections"]
            self.assertEqual(len(connections), 4)
            for connection in connections:
                wrong = [(s["name"], s["got"]) for s in connection["settings"]
                         if not s["agrees"]]
                self.assertEqual(wrong, [(setting, got)])
            self.assertEqual(self.differing(rows[fault]), ([], []))

        self.assertEqual(rows["no-wal"]["status"], "differs")
        self.assertIsNone(rows["no-wal"]["verify"]["journal"])
        self.check_failed(rows["abort-load"], "the engine aborts at load")
        self.check_failed(rows["one-connection"], "cannot be opened")

    @staticmethod
    def script(row, name):
        return next(s for s in row["verify"]["databases"][0]["scripts"] if s["script"] == name)

    @staticmethod
    def differing(row):
        """Names of the scripts and of the tables that differ."""
        database = row["verify"]["databases"][0]
        return (sorted(s["script"] for s in database["scripts"] if s["status"] == "differs"),
                sorted(t["table"] for t in database["tables"] if t["status"] == "differs"))


class Prod(BrokenTest):
    def test_settings_and_rows_that_are_missing(self):
        names = [self.broken(fault)
                 for fault in ("sound", "wrong-pragma", "ignore-cache", "forget-insert")]
        rows, result = self.prod(self.sqlite(), *names, status=1)
        sound, pragma, cache, forget = names
        for name in (self.sqlite(), sound):
            self.assertEqual(rows[name]["status"], "ok")
            self.assertIsNone(rows[name]["runs"][0]["check"]["problem"])
        self.assertEqual(rows[sound]["libraries"][0]["real"], sound.removeprefix("sqlite="))
        for name, text in ((pragma, "synchronous: asked for normal, got 0"),
                           (cache, "cache_size: asked for -65536, got -2000"),
                           (forget, "rows fewer than were acknowledged")):
            self.assertEqual(rows[name]["status"], "differs", name)
            self.assertTrue(any(text in w for w in self.warnings(result, name)), result["warnings"])
            self.assertIn(text, " ".join(self.done.stdout.split()))
        orders = next(count for count in rows[forget]["runs"][0]["check"]["counts"]
                      if count["table"] == "orders")
        self.assertLess(orders["found"], orders["expected"])

    def test_answers_are_compared_before_anything_is_timed(self):
        dropping = self.broken("drop-row")
        rows, result = self.prod(self.sqlite(), dropping, status=1)
        self.assertEqual(rows[self.sqlite()]["status"], "ok")
        self.assertEqual(rows[dropping]["status"], "differs")
        self.assertTrue(any("answers of orders_by_user differ" in text
                            for text in self.warnings(result, dropping)), result["warnings"])

    def test_what_an_engine_prints_stays_out_of_the_table(self):
        names = [self.broken(fault) for fault in ("print-load", "print-call", "print-exit")]
        rows, _ = self.prod(*names)
        self.assertEqual([row["status"] for row in rows.values()], ["ok"] * 3)
        self.assertNotIn("the engine prints", self.done.stdout + self.done.stderr)
        self.assertNotIn('"kind"', self.done.stdout + self.done.stderr)

    def test_engines_that_abort(self):
        load, call, exit_ = (self.broken(f) for f in ("abort-load", "abort-200", "abort-exit"))
        rows, _ = self.prod(load, self.sqlite(), call, exit_, status=1)
        self.assertEqual(rows[self.sqlite()]["status"], "ok")
        self.check_failed(rows[load], "signal 6 (Aborted) without a result; its log ends: the "
                                      "engine aborts at load")
        self.assertEqual(rows[load]["runs"], [])
        self.check_failed(rows[call], "signal 6 (Aborted) without a result")
        self.assertEqual(rows[call]["runs"][0]["log"], ["the engine aborts at a call"])
        self.check_failed(rows[exit_], "signal 6 (Aborted) after its result")
        self.assertIn("the engine aborts at a call", self.done.stdout)

    def test_an_engine_that_hangs(self):
        hanging = self.broken("hang-200")
        rows, _ = self.prod(hanging, self.sqlite(), status=1)
        self.check_failed(rows[hanging], "gave no result in time")
        self.assertEqual(rows[self.sqlite()]["status"], "ok")

    def test_busy_so_many_times_then_well(self):
        busy = self.broken("busy-40")
        rows, _ = self.prod(busy, warmup="0")
        self.assertEqual(rows[busy]["status"], "ok")
        run = rows[busy]["runs"][0]
        self.assertEqual(sum(script["busy"] for script in run["scripts"]), 40)
        for script in run["scripts"]:
            self.assertEqual(script["attempted"], sum(script[o] for o in OUTCOMES))
            self.assertEqual(script["latency"]["count"], script["ok"])
            self.assertEqual(script["retries"], 0)
            self.assertTrue(script["write"] or script["busy"] == 0)
        self.assertGreater(sum(s["ok"] for s in run["scripts"] if s["write"]), 0)
        self.assertIsNone(run["check"]["problem"])

    def test_one_stall_is_in_the_tail(self):
        # Late enough to lie behind the settings, and with no warm-up that it could fall into.
        stalling = self.broken("stall-1000")
        rows, _ = self.prod(stalling, warmup="0")
        scripts = rows[stalling]["runs"][0]["scripts"]
        stalled = [s for s in scripts if s["latency"]["count"] and s["latency"]["max"] >= 500_000_000]
        self.assertGreaterEqual(len(stalled), 1)
        self.assertGreaterEqual(sum(s["slow"] for s in stalled), 1)

    def test_an_engine_with_room_for_one_connection(self):
        alone = self.broken("one-connection")
        rows, _ = self.prod(alone, self.sqlite(), status=1)
        self.check_failed(rows[alone], "cannot be opened")
        self.assertEqual(rows[self.sqlite()]["status"], "ok")


class Rules(BrokenTest):
    def test_parameters_that_never_match_a_row(self):
        self.only("\\set user random(1, :users) + 1000000\n"
                  "SELECT id FROM users WHERE id = :user;\n")
        rows, result = self.prod(self.sqlite())
        self.assertEqual(rows[self.sqlite()]["runs"][0]["scripts"][0]["rows_read"], 0)
        self.assertTrue(any("one never touched a row" in text
                            for text in self.warnings(result, self.sqlite())), result["warnings"])
        self.assertIn("one never touched a row", self.done.stdout)

    def test_250_threads(self):
        rows, result = self.prod("null", self.sqlite(), duration="1", more=("--threads", "250"))
        for name, row in rows.items():
            with self.subTest(name):
                self.assertEqual(row["status"], "ok")
                run = row["runs"][0]
                self.assertEqual(len(run["connections"]), 250)
                # The window is the one that go opened: all latencies fit into it.
                self.assertGreaterEqual(run["window_ns"], 1_000_000_000)
                busy = sum(script["time_ns"] for script in run["scripts"])
                self.assertLessEqual(busy, run["window_ns"] * 250 * 1.001)
                for script in run["scripts"]:
                    self.assertLessEqual(script["latency"]["sum"], script["time_ns"])
                ok = sum(script["ok"] for script in run["scripts"])
                self.assertEqual(sum(c["operations"] for c in run["connections"]), ok)
                self.assertEqual(sum(sum(s["operations"]) for s in run["seconds"]), ok)
                self.assertFalse([text for text in self.warnings(result, name)
                                  if "the window is wrong" in text])

    def hold_the_copy(self, process, phase):
        """Takes the write lock of the copy in that phase of the run; the connection, and how
        many orders there were."""
        seen = []
        for line in process.stderr:
            seen.append(line)
            if b"round 1" in line and phase in line:
                break
        else:
            self.fail(f"no progress line of {phase} came: {seen}")
        copy = next((self.work / "data").glob("pitot-run-*.db"))
        holder = sqlite3.connect(copy, timeout=60, isolation_level=None)
        self.addCleanup(holder.close)
        holder.execute("BEGIN IMMEDIATE")
        return holder, holder.execute("SELECT count(*) FROM orders").fetchone()[0]

    def start_writing(self, *more):
        self.only("\\set user random(1, :users)\n"
                  "INSERT INTO orders (user_id, status, amount_cents, currency, created_at, "
                  "metadata) VALUES (:user, 'paid', 1, 'EUR', 1, '');\n", kind="write")
        return self.start("prod", "--workload", self.workload, "--engines", self.sqlite(),
                          "--rounds", "1", "--threads", "2", "-P", "0.1", "--json", "x.json", *more)

    def check_held(self, process, holder):
        """The run has ended by itself although the lock is still held. (Its file is removed
        under the holder, who does not mind.)"""
        done = self.finish(process)
        holder.execute("ROLLBACK")
        holder.close()
        engine = self.read_json("x.json")["engines"][0]
        self.assertEqual(len(engine["runs"]), 1, done)
        run = engine["runs"][0]
        self.assertEqual(run["status"], "ok", done)
        script = run["scripts"][0]
        self.assertEqual(script["attempted"], sum(script[o] for o in OUTCOMES))
        self.assertEqual(script["failed"], 0)
        return script

    def test_blocked_for_longer_than_the_run_is_open(self):
        process = self.start_writing("--warmup", "1", "--duration", "3", "--grace", "500",
                                     "--timeout", "600000", "--check", "counts")
        holder, _ = self.hold_the_copy(process, b"run")
        script = self.check_held(process, holder)
        # Both connections stood before the lock when the time was over.
        self.assertEqual((script["open"], script["busy"]), (2, 0))

    def test_blocked_all_the_time_is_busy_and_never_ok(self):
        process = self.start_writing("--warmup", "2s", "--duration", "1", "--grace", "500",
                                     "--timeout", "100", "--check", "counts")
        holder, _ = self.hold_the_copy(process, b"warmup")
        script = self.check_held(process, holder)
        self.assertEqual(script["ok"], 0)
        self.assertEqual(script["latency"]["count"], 0)
        self.assertGreater(script["busy"], 0)


if __name__ == "__main__":
    unittest.main()
