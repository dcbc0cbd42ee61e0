"""What is checked after each run, and what the checks find: rows, integrity, warnings."""

import json
import os
import sqlite3
import sys
import unittest

import pitot_test
from pitot_test import PitotTest

USERS = 200
TAMPERING = pitot_test.SOURCE / "tests" / "engines" / "tampering-worker.py"


class CheckTest(PitotTest):
    """With a copy of workloads/prod of a few hundred rows."""

    def setUp(self):
        super().setUp()
        self.workload = self.copy_workload("prod")

        def add_tiny(suite):
            tiny = {"users": USERS, "orders_per_user": 4, "orders": 4 * USERS}
            suite["scales"] = {"tiny": tiny, **suite["scales"]}

        self.change_suite(self.workload, add_tiny)

    def measure(self, *more, engines=None, rounds=1, status=0, duration=0.3):
        """A short run: its result as JSON, and what it printed."""
        done = self.pitot("prod", "--workload", self.workload, "--engines",
                          engines or self.sqlite(), "--rounds", rounds, "--duration", duration,
                          "--warmup", "50", "--json", "x.json", *more, status=status)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        return result, done

    def only(self, text, kind="write"):
        """The workload gets this one script."""
        for path in self.workload.glob("*.sql"):
            if path.name not in ("schema.sql", "load.sql"):
                path.unlink()
        (self.workload / "one.sql").write_text(text)

        def change(suite):
            suite["scripts"] = [{"name": "one", "kind": kind, "compare": "count"}]

        self.change_suite(self.workload, change)

    @staticmethod
    def checks(result, engine=0):
        return [run["check"] for run in result["engines"][engine]["runs"]]

    @staticmethod
    def counts(check):
        return {count["table"]: count for count in check["counts"]}

    @staticmethod
    def warnings(result, subject=None):
        return [warning["text"] for warning in result["warnings"]
                if subject is None or warning["subject"] == subject]


class Counts(CheckTest):
    def test_full_at_both_ends_and_counts_between(self):
        result, done = self.measure(rounds=3, duration=0.1)
        self.assertEqual([check["kind"] for check in self.checks(result)],
                         ["full", "counts", "full"])
        self.assertEqual([check["integrity"] for check in self.checks(result)],
                         [["ok"], [], ["ok"]])
        for run, check in zip(result["engines"][0]["runs"], self.checks(result)):
            counts = self.counts(check)
            acknowledged = {s["script"]: s["acknowledged"] for s in run["scripts"]}
            inserted = acknowledged["insert_order"][0]
            self.assertGreater(inserted, 0)
            self.assertEqual(sorted(counts), ["orders", "users"])
            self.assertEqual(counts["users"]["expected"], USERS)
            self.assertEqual(counts["orders"]["expected"], 4 * USERS + inserted)
            for count in counts.values():
                self.assertEqual(count["found"], count["expected"])
            self.assertIsNone(check["problem"])
        self.assertRegex(done.stdout, r"data after the runs +ok")

    def test_the_flag_holds_for_every_round(self):
        for kind, integrity in (("full", ["ok"]), ("quick", ["ok"]), ("counts", [])):
            with self.subTest(kind):
                result, _ = self.measure("--check", kind, rounds=3, duration=0.05)
                for check in self.checks(result):
                    self.assertEqual((check["kind"], check["integrity"]), (kind, integrity))

    def test_a_kind_that_is_none(self):
        done = self.pitot("prod", "--check", "most", status=2)
        for word in ("--check", "most", "full", "quick", "counts"):
            self.assertIn(word, done.stderr)

    def test_what_was_found_is_in_the_copy(self):
        result, _ = self.measure("--keep")
        copy = next((self.work / "data").glob("kept-*.db"))
        database = sqlite3.connect(copy)
        rows = database.execute("SELECT count(*) FROM orders").fetchone()[0]
        database.close()
        self.assertEqual(self.counts(self.checks(result)[0])["orders"]["found"], rows)
        for path in (self.work / "data").glob("kept-*"):
            path.unlink()

    def test_deletes_and_transactions(self):
        self.only("\\set user 1000 + 1000000 * :connection + :op\n"
                  "\\begin\n"
                  "INSERT INTO \"users\" (id, email, name, plan, country, created_at)\n"
                  "VALUES (:user, :user, 'n', 'p', 'c', 1), (-:user, -:user, 'n', 'p', 'c', 1);\n"
                  "/* not from users */ DELETE FROM Users WHERE id = -:user;\n"
                  "\\commit\n")
        result, _ = self.measure()
        run = result["engines"][0]["runs"][0]
        inserted, deleted = run["scripts"][0]["acknowledged"]
        self.assertGreater(deleted, 0)
        self.assertEqual(inserted, 2 * deleted)
        users = self.counts(run["check"])["users"]
        self.assertEqual(users["expected"], USERS + inserted - deleted)
        self.assertEqual(users["found"], users["expected"])
        self.assertEqual(result["engines"][0]["status"], "ok")

    def test_a_statement_whose_effect_cannot_be_told(self):
        self.only("\\set user random(1, 2 * :users)\n"
                  "INSERT INTO users (id, email, name, plan, country, created_at)\n"
                  "VALUES (:user, :user, 'n', 'p', 'c', 1) ON CONFLICT DO NOTHING;\n")
        result, _ = self.measure()
        self.assertEqual(result["engines"][0]["status"], "ok")
        counts = self.counts(self.checks(result)[0])
        self.assertIsNone(counts["users"]["expected"])
        self.assertEqual(counts["users"]["unchecked"], "an UPSERT")
        self.assertEqual(counts["orders"]["expected"], 4 * USERS)
        self.assertIn("rows of users are not counted after a run: an UPSERT",
                      self.warnings(result))

    def test_a_trigger_in_the_schema(self):
        with open(self.workload / "schema.sql", "a", encoding="utf-8") as schema:
            schema.write("CREATE TABLE audit (id INTEGER PRIMARY KEY);\n"
                         "CREATE TRIGGER noted AFTER INSERT ON orders BEGIN\n"
                         "INSERT INTO audit VALUES (NULL); END;\n")
        result, _ = self.measure()
        self.assertEqual(result["engines"][0]["status"], "ok")
        self.assertIn("rows are not counted after a run: the schema has a trigger",
                      self.warnings(result))
        for count in self.checks(result)[0]["counts"]:
            self.assertIsNone(count["expected"])

    def test_an_engine_without_a_database_is_exempt(self):
        result, done = self.measure(engines="null")
        self.assertIsNone(self.checks(result)[0]["kind"])
        self.assertRegex(done.stdout, r"data after the runs +–")


class Tampered(CheckTest):
    """Between the run and its check somebody changes the database."""

    def setUp(self):
        super().setUp()
        self.engines = self.folder / "config" / "pitot" / "engines"
        self.engines.mkdir(parents=True)

    def engine(self, action, name=None, **more):
        name = name or action
        manifest = {"name": name, "summary": "made to differ",
                    "command": [sys.executable, str(TAMPERING)],
                    "options": {"worker": str(pitot_test.BUILD / "pitot-worker"),
                                "library": os.path.realpath(pitot_test.system_sqlite()),
                                "do": action}, **more}
        (self.engines / f"{name}.json").write_text(json.dumps(manifest), encoding="utf-8")
        return name

    def test_each_is_marked_and_the_others_are_not(self):
        cases = {
            "nothing": None,
            "lose-row": "orders has 1 row fewer than were acknowledged",
            "invent-rows": "users has 2 rows more than were acknowledged",
            "drop-table": "table users is gone",
            "break-index": "the full integrity check says: ",
            "die": "the copy could not be checked: ",
        }
        result, done = self.measure(engines=",".join(map(self.engine, cases)), rounds=2,
                                    duration=0.1, status=1)
        for engine in result["engines"]:
            name = engine["name"]
            with self.subTest(name):
                problems = [run["check"]["problem"] for run in engine["runs"]]
                self.assertEqual([run["status"] for run in engine["runs"]], ["ok", "ok"])
                if cases[name] is None:
                    self.assertEqual((engine["status"], problems), ("ok", [None, None]))
                    continue
                self.assertEqual(engine["status"], "differs")
                for problem in problems:
                    self.assertIn(cases[name], problem)
                told = [text for text in self.warnings(result, name) if "after round" in text]
                self.assertEqual(len(told), 1)
                self.assertIn("after round 1 (and in 1 other round): " + cases[name], told[0])
        self.assertIn("differs", done.stdout)
        self.assertEqual(self.pitot("report", "x.json", status=None).stdout.count("after round 1"),
                         5)

    def test_a_second_opinion(self):
        """The second engine tampers before it looks, so that it finds what the first has not."""
        self.engine("nothing", "honest")
        self.engine("lose-row", "other")
        self.engine("nothing", "missing", needs=["/nowhere/library"], get="make it")
        lost = "orders has 1 row fewer than were acknowledged"
        cases = {  # what the engine does, who is asked: problem, who gave the second opinion
            ("nothing", "honest"): (None, "honest"),
            ("nothing", "other"): (f"it finds nothing wrong, and other finds this: {lost}", "other"),
            ("lose-row", "honest"): ("honest finds the same", "honest"),
            ("nothing", "missing"): (None, None),
            ("nothing", "nobody"): (None, None),
        }
        names = [self.engine(action, f"{action}.{asked}", second_opinion=asked,
                             required={"cache_size": "-4000"})
                 for action, asked in cases]
        result, done = self.measure(engines=",".join(names), duration=0.1, status=1)
        for engine, (problem, asked) in zip(result["engines"], cases.values()):
            with self.subTest(engine["name"]):
                check = engine["runs"][0]["check"]
                self.assertEqual(check["second_opinion"], asked)
                self.assertEqual(engine["status"], "differs" if problem else "ok")
                if problem is None:
                    self.assertIsNone(check["problem"])
                else:
                    self.assertIn(problem, check["problem"])
        for name, why in (("missing", "make it"), ("nobody", "there is no engine \"nobody\"")):
            told = "\n".join(self.warnings(result, f"nothing.{name}"))
            self.assertIn(f"no second opinion of {name} on its files: ", told)
            self.assertIn(why, told)


class Warnings(CheckTest):
    def test_parameters_that_match_no_row(self):
        self.only("\\set user random(1, 100000 * :users)\n"
                  "SELECT id FROM users WHERE id = :user;\n", kind="read")
        result, done = self.measure()
        told = [text for text in self.warnings(result) if text.startswith("one ")]
        self.assertEqual(len(told), 1)
        self.assertRegex(told[0], "never touched a row|touched no row in more than 99 %")
        self.assertIn("! ", done.stdout)

    def test_few_samples_are_one_line(self):
        result, done = self.measure(engines=f"{self.sqlite()},null", duration=0.05)
        told = [text for text in self.warnings(result) if "fewer than 10 samples" in text]
        self.assertEqual(len(told), 1)
        self.assertIn("p99.9", told[0])
        self.assertIn("~", done.stdout)

    def test_little_s_law_holds_with_many_connections(self):
        result, _ = self.measure("--threads", "100", engines=f"{self.sqlite()},null",
                                 duration=0.5, status=None)
        for engine in result["engines"]:
            self.assertEqual(engine["status"], "ok", self.warnings(result, engine["name"]))
            run = engine["runs"][0]
            busy = sum(script["time_ns"] for script in run["scripts"])
            self.assertLessEqual(busy, run["window_ns"] * 100 * 1.001)

    def test_waiting_for_a_core_stands_beside_the_tails(self):
        result, done = self.measure(rounds=2, duration=0.1)
        share = result["engines"][0]["summaries"][0]["run_queue_share"]["median"]
        run = result["engines"][0]["runs"][0]
        waited = sum(connection["run_queue_ns"] for connection in run["connections"])
        self.assertGreaterEqual(share, 0)
        low = result["engines"][0]["summaries"][0]["run_queue_share"]["min"]
        high = result["engines"][0]["summaries"][0]["run_queue_share"]["max"]
        self.assertTrue(low <= waited / (run["window_ns"] * 4) <= high)
        self.assertIn("Waited for a core, as a share of the connections' time: ", done.stdout)
        self.assertIn("p99 spread", done.stdout)
        self.assertRegex(done.stdout, r"CPU of others +(\d|–)")


if __name__ == "__main__":
    unittest.main()
