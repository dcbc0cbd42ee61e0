"""pitot verify from end to end, and the check of answers before prod."""

import csv
import io
import json
import os
import pathlib
import shutil
import signal
import sys
import unittest

import pitot_test
from pitot_test import PitotTest

USERS = 200
OPERATIONS = 60
SCRIPTS = ["user_by_id", "user_by_email", "orders_by_user", "users_by_plan_page",
           "revenue_dashboard", "insert_order", "update_order_status"]
PROXY = pathlib.Path(__file__).resolve().parent / "proxy_worker.py"


class VerifyTest(PitotTest):
    """With a copy of workloads/prod that has a scale `tiny`, its first, and engines that are
    SQLite behind a worker that changes what it says."""

    def setUp(self):
        super().setUp()
        self.workload = self.copy_workload("prod")
        self.change_suite(self.workload, self.add_tiny)

    @staticmethod
    def add_tiny(suite):
        tiny = {"users": USERS, "orders_per_user": 4, "orders": 4 * USERS}
        suite["scales"] = {"tiny": tiny, **suite["scales"]}

    def wrong(self, fault, **keys):
        """The name of an engine with that fault; `keys` go to its manifest."""
        folder = self.folder / "config" / "pitot" / "engines"
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(PROXY), fault, str(pitot_test.BUILD / "pitot-worker"),
                   os.path.realpath(pitot_test.system_sqlite())]
        manifest = {"name": fault, "summary": "wrong on purpose", "command": command, **keys}
        (folder / f"{fault}.json").write_text(json.dumps(manifest))
        return fault

    def arguments(self, *more, engines=None):
        return ["verify", "--workload", self.workload, "--operations", OPERATIONS,
                "--engines", engines or self.sqlite(), *more]

    def verify(self, *more, status=0, **options):
        """A check of the tiny workload: its result as JSON, by the schema, and the table."""
        done = self.pitot(*self.arguments("--json", "v.json", *more, **options), status=status)
        result = self.read_json("v.json")
        self.check_schema(result, "docs/result.schema.json")
        return result, done

    def with_wrong(self, fault, *more, status=1, **keys):
        """The reference and the engine with that fault: the latter's part, and the table as one
        line."""
        engines = f"{self.sqlite()},{self.wrong(fault, **keys)}"
        result, done = self.verify(*more, engines=engines, status=status)
        return result["engines"][1], " ".join(done.stdout.split())


class Equal(VerifyTest):
    def test_two_libraries(self):
        copy = self.work / "copy.so"
        shutil.copy(pitot_test.system_sqlite(), copy)
        result, done = self.verify(engines=f"{self.sqlite()},sqlite={copy}")
        first, second = (engine["verify"] for engine in result["engines"])
        self.assertEqual([engine["status"] for engine in result["engines"]], ["ok", "ok"])
        self.assertEqual([first["status"], second["status"]], ["equal", "equal"])
        self.assertEqual(first["databases"][0]["status"], "reference")
        database = second["databases"][0]
        self.assertEqual(database["reference"], self.sqlite())
        self.assertEqual([s["script"] for s in database["scripts"]], SCRIPTS)
        for script in database["scripts"]:
            self.assertEqual(script["ok"], OPERATIONS, script)
            self.assertEqual(script["status"], "equal")
            self.assertGreater(script["rows_read"] + script["rows_changed"], 0)
        tables = {table["table"]: table for table in database["tables"]}
        self.assertEqual(set(tables), {"users", "orders"})
        # One insert an operation.
        self.assertEqual(tables["orders"]["rows"], 4 * USERS + OPERATIONS)
        self.assertIn(f"equal to {self.sqlite()}'s", " ".join(done.stdout.split()))

    def test_settings_and_journal(self):
        result, _ = self.verify("--threads", "3", "--cache", "-4096", "--timeout", "7000")
        verify = result["engines"][0]["verify"]
        self.assertEqual([c["connection"] for c in verify["connections"]], [0, 1, 2])
        for connection in verify["connections"]:
            got = {s["name"]: s["got"] for s in connection["settings"]}
            self.assertEqual(got, {"journal_mode": "wal", "synchronous": "1", "page_size": "4096",
                                   "cache_size": "-4096", "busy_timeout": "7000"})
        self.assertTrue(verify["journal_due"])
        self.assertEqual(verify["journal"], "-wal")
        self.assertGreater(verify["journal_bytes"], 0)
        self.assertTrue(verify["shm_due"])
        self.assertGreater(verify["shm_bytes"], 0)

    def test_only_engine(self):
        result, done = self.verify()
        verify = result["engines"][0]["verify"]
        self.assertEqual(verify["status"], "alone")
        self.assertIsNone(verify["databases"][0]["reference"])
        self.assertIn("nothing to compare with", " ".join(done.stdout.split()))

    def test_null_is_exempt(self):
        result, done = self.verify(engines=f"null,{self.sqlite()}")
        self.assertEqual([e["verify"]["status"] for e in result["engines"]], ["exempt", "alone"])
        self.assertEqual(result["engines"][0]["verify"]["databases"], [])

    def test_another_journal_mode_leaves_no_wal(self):
        result, _ = self.verify("--pragma", "journal_mode=delete")
        verify = result["engines"][0]["verify"]
        self.assertEqual(result["engines"][0]["status"], "ok")
        self.assertFalse(verify["journal_due"] or verify["shm_due"])
        self.assertIsNone(verify["journal"])

    def test_all_that_is_built_in(self):
        """Each scenario of bench on a database of its own, one of them without rows."""
        self.pitot("verify", "--engines", self.sqlite(), "--operations", "5", "--json", "v.json")
        result = self.read_json("v.json")
        databases = result["engines"][0]["verify"]["databases"]
        self.assertEqual(sorted({d["suite"] for d in databases}), ["bench", "concurrent", "prod"])
        empty = next(d for d in databases if d["scenarios"] == ["insert-single"])
        self.assertIn({"name": "rows", "value": "0"}, empty["variables"])
        scripts = {(d["suite"], s["script"]): s for d in databases for s in d["scripts"]}
        self.assertEqual(len(scripts), 16)
        for name, script in scripts.items():
            self.assertEqual((script["ok"], script["failed"]), (5, 0), name)
        users = next(t for t in empty["tables"] if t["table"] == "users")
        self.assertEqual(users["rows"], 5)
        labels = [case["label"] for case in result["cases"]]
        self.assertEqual(len(set(labels)), len(databases))
        self.assertTrue({"prod", "concurrent", "bench insert-single"} <= set(labels), labels)
        # prod, concurrent, bench without and with rows
        self.assertEqual(sorted({case["template"] for case in result["cases"]}), [0, 1, 2, 3])
        self.assertEqual(len(result["templates"]), 4)
        self.assertEqual(result["engines"][0]["summaries"], [])
        self.assertEqual(pitot_test.leftover_files(self.work), [])


class Answers(VerifyTest):
    def test_a_dropped_row(self):
        engine, table = self.with_wrong("drop-row")
        self.assertEqual((engine["status"], engine["verify"]["status"]), ("differs", "differs"))
        scripts = {s["script"]: s for s in engine["verify"]["databases"][0]["scripts"]}
        differing = [name for name, s in scripts.items() if s["status"] == "differs"]
        self.assertEqual(differing, ["orders_by_user"])
        script = scripts["orders_by_user"]
        self.assertEqual(script["differing"], OPERATIONS - 17)
        difference = script["differences"][0]
        self.assertEqual(difference["operation"], 17)
        user = next(p["value"] for p in difference["parameters"] if p["name"] == "user")
        self.assertTrue(1 <= int(user) <= USERS)
        self.assertEqual(difference["answer"], [])
        self.assertEqual(len(difference["reference_answer"]), 4)
        for part in ("orders_by_user differs in 43 of 60 operations, first in operation 17",
                     f"user={user}", "no row", difference["reference_answer"][1]):
            self.assertIn(part, table)

    def test_another_value(self):
        engine, table = self.with_wrong("order")
        script = engine["verify"]["databases"][0]["scripts"][0]
        difference = script["differences"][0]
        self.assertEqual((difference["row"], difference["answer"][0]), (1, "4711"))
        self.assertEqual(difference["answer"][1:], difference["reference_answer"][1:])
        self.assertIn("row 1 is 4711, ", table)

    def test_storage_classes_are_not_compared_with_other_languages(self):
        engine, _ = self.with_wrong("storage-class", status=0)
        self.assertEqual(engine["verify"]["status"], "equal")

    def test_a_table(self):
        engine, table = self.with_wrong("table")
        database = engine["verify"]["databases"][0]
        self.assertEqual({s["status"] for s in database["scripts"]}, {"equal"})
        self.assertEqual([t["status"] for t in database["tables"]], ["differs", "equal"])
        self.assertIn("table orders differs: 859 rows", table)

    def test_answers_that_are_none(self):
        for fault, words in (("count", "do not add up"), ("digest", "no digest")):
            with self.subTest(fault):
                engine, _ = self.with_wrong(fault)
                self.assertEqual(engine["status"], "failed")
                self.assertIn(words, engine["error"])

    def test_a_crash(self):
        engines = f"{self.wrong('crash')},{self.sqlite()}"
        result, done = self.verify(engines=engines, status=1)
        crashed, whole = result["engines"]
        self.assertEqual((crashed["status"], whole["status"]), ("failed", "ok"))
        self.assertIn("signal 6", crashed["error"])
        self.assertEqual(whole["verify"]["databases"][0]["status"], "alone")

    def test_a_worker_that_cannot(self):
        engine, table = self.with_wrong("no-verify")
        self.assertEqual(engine["verify"]["status"], "failed")
        self.assertIn("takes no verify jobs", table)

    def test_executions_that_fail_are_shown(self):
        (self.workload / "insert_order.sql").write_text(
            "\\set id 1 + :op % 2 * 1000000 + random(0, 9)\n"
            "INSERT INTO users (id, email, name, plan, country, created_at)"
            " VALUES (:id, 'e', 'n', 'p', 'c', 0);\n")
        result, done = self.verify()
        script = next(s for s in result["engines"][0]["verify"]["databases"][0]["scripts"]
                      if s["script"] == "insert_order")
        self.assertGreater(script["failed"], 0)
        self.assertEqual(script["ok"] + script["failed"], OPERATIONS)
        self.assertIn("UNIQUE constraint failed", " ".join(done.stdout.split()))

    def test_a_script_that_touches_no_row(self):
        (self.workload / "user_by_id.sql").write_text(
            "\\set user random(1, :users)\nSELECT id FROM users WHERE id = -:user;\n")
        result, _ = self.verify()
        self.assertTrue(any("user_by_id never touched a row" in w["text"]
                            for w in result["warnings"]))

    def test_a_mistake_in_a_script(self):
        (self.workload / "user_by_id.sql").write_text("SELECT nonesuch FROM users;\n")
        done = self.pitot(*self.arguments(), status=2)
        self.assertIn("user_by_id.sql:1:1:", done.stderr)


class Settings(VerifyTest):
    def test_a_required_one_on_some_connections(self):
        engine, table = self.with_wrong("pragma")
        self.assertEqual((engine["status"], engine["verify"]["status"]), ("differs", "differs"))
        self.assertEqual(engine["verify"]["databases"][0]["status"], "equal")
        self.assertIn("cache_size -65536 → -2000 on connection 1, 3: required, not taken", table)
        self.assertIn("cache_size -65536 → -65536 on connection 0, 2", table)

    def test_a_required_one_on_all(self):
        _, table = self.with_wrong("synchronous")
        self.assertIn("synchronous normal → 2 on connection 0, 1, 2, 3: required, not taken",
                      table)

    def test_an_informative_one_fails_nothing(self):
        for value, words in (("0", "not supported, same effect"), ("65536", "differs")):
            with self.subTest(value):
                engine, table = self.with_wrong("informative", "--pragma", f"mmap_size={value}",
                                                status=0)
                self.assertEqual(engine["status"], "ok")
                self.assertIn(f"mmap_size {value} → nothing", table)
                self.assertIn(words, table)

    def test_a_journal_that_is_not_there(self):
        engine, table = self.with_wrong("no-journal")
        self.assertEqual(engine["verify"]["status"], "differs")
        self.assertIsNone(engine["verify"]["journal"])
        self.assertIn("no -wal or -log after writing", table)

    def test_writes_that_are_rare_in_the_mix_are_made_all_the_same(self):
        def change(suite):
            for script in suite["scripts"]:
                script["weight"] = 1 if script["kind"] == "write" else 100000

        self.change_suite(self.workload, change)
        result, _ = self.verify()
        self.assertGreater(result["engines"][0]["verify"]["journal_bytes"], 0)

    def test_an_engine_without_shm(self):
        engine, table = self.with_wrong("order", no_shm=True)
        self.assertFalse(engine["verify"]["shm_due"])
        self.assertIn("none is expected of this engine", table)


class Reports(VerifyTest):
    def setUp(self):
        super().setUp()
        self.engine, _ = self.with_wrong("drop-row")

    def test_report_prints_the_same(self):
        done = self.pitot(*self.arguments("--json", "v.json",
                                          engines=f"{self.sqlite()},drop-row"), status=1)
        self.assertEqual(self.pitot("report", "v.json").stdout, done.stdout)
        again = self.pitot("report", "v.json", "--format", "json").stdout
        self.assertEqual(pitot_test.strict_json(again), self.read_json("v.json"))

    def test_csv(self):
        done = self.pitot("report", "v.json", "--format", "csv")
        rows = [row for row in csv.DictReader(io.StringIO(done.stdout, newline=""))
                if row["engine"] == "drop-row"]
        found = {(row["role"], row["script"], row["metric"]): row["median"] for row in rows}
        self.assertEqual(found["prod", "orders_by_user", "answers_equal"], "0")
        self.assertEqual(found["prod", "orders_by_user", "answers_differing"], "43")
        self.assertEqual(found["prod", "orders_by_user", "answers_first_difference"], "17")
        self.assertEqual(found["prod", "user_by_id", "answers_equal"], "1")
        self.assertEqual(found["prod", "user_by_id", "answers_first_difference"], "")
        self.assertEqual(found["prod", "users", "table_equal"], "1")
        self.assertEqual(found["", "", "settings_required_differing"], "0")

    def test_no_line_is_wider_than_the_window(self):
        for columns in ("20", "47", "80"):
            done = self.pitot("report", "v.json", "--width", columns)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), int(columns))


class Prod(VerifyTest):
    """Answers are checked once before the rounds."""

    def measure(self, engines, status):
        done = self.pitot("prod", "--workload", self.workload, "--engines", engines, "--rounds",
                          "1", "--duration", "0.2", "--warmup", "20", "--json", "p.json",
                          status=status)
        result = self.read_json("p.json")
        self.check_schema(result, "docs/result.schema.json")
        return result, " ".join(done.stdout.split())

    def test_equal(self):
        copy = self.work / "copy.so"
        shutil.copy(pitot_test.system_sqlite(), copy)
        result, table = self.measure(f"{self.sqlite()},sqlite={copy}", 0)
        self.assertEqual([e["verify"]["status"] for e in result["engines"]], ["equal", "equal"])
        self.assertIn(f"equal to {self.sqlite()}'s, 7 scripts × 1,000 operations and all tables",
                      table)

    def test_an_engine_that_differs_is_measured_and_marked(self):
        result, table = self.measure(f"{self.sqlite()},{self.wrong('drop-row')}", 1)
        engine = result["engines"][1]
        self.assertEqual(engine["status"], "differs")
        self.assertEqual(engine["runs"][0]["status"], "ok")
        start = ("answers of orders_by_user differ in 983 of 1000 operations, first in "
                 "operation 17 (user=")
        warnings = [w["text"] for w in result["warnings"]
                    if w["subject"] == "drop-row" and w["text"].startswith(start)]
        self.assertEqual(len(warnings), 1, result["warnings"])
        self.assertIn(f"no row; with {self.sqlite()} ", warnings[0])
        self.assertIn("differ from", table)

    def test_an_engine_that_crashes_is_not_measured(self):
        result, _ = self.measure(f"{self.sqlite()},{self.wrong('crash')}", 1)
        engine = result["engines"][1]
        self.assertEqual((engine["status"], engine["runs"]), ("failed", []))
        self.assertIn("signal 6", engine["error"])

    def test_a_worker_that_cannot_is_measured(self):
        result, _ = self.measure(f"{self.sqlite()},{self.wrong('no-verify')}", 0)
        self.assertEqual(result["engines"][1]["status"], "ok")
        self.assertTrue(any("takes no verify jobs" in w["text"] for w in result["warnings"]))


class Ends(VerifyTest):
    def test_a_signal(self):
        process = self.start("verify", "--workload", self.workload, "--engines", self.sqlite(),
                             "--operations", "100000", "--json", "v.json", "-P", "1")
        for line in process.stderr:
            if b"checking answers" in line:
                break
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.stderr.read()
        self.assertEqual(process.wait(timeout=60), 130)
        result = self.read_json("v.json")
        self.check_schema(result, "docs/result.schema.json")
        self.assertTrue(result["partial"])
        self.assertEqual(result["engines"][0]["status"], "partial")

    def test_usage(self):
        for words, message in ((["--operations", "0"], "--operations"),
                               (["--scale", "tinny"], "tiny"),
                               (["--duration", "3"], "--duration")):
            with self.subTest(words):
                done = self.pitot("verify", "--workload", self.workload, *words, status=2)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
