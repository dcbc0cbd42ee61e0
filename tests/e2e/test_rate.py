"""`pitot prod --rate`: an open loop, in which an engine that stalls is seen to have kept others
waiting, one that is too slow is named, and all are asked for the same."""

import json
import os
import pathlib
import shutil
import sys
import unittest

import pitot_test
from pitot_test import PitotTest

LIBRARY = pitot_test.BUILD / "tests" / "broken-sqlite.so"
PROXY = pathlib.Path(__file__).resolve().parent / "proxy_worker.py"
OUTCOMES = ("ok", "busy", "conflict", "failed", "skipped", "open")
CONNECTIONS = 4


def lower(index):
    """Lowest value of a bucket (docs/result-schema.md)."""
    return index if index < 128 else (128 + index % 128) << index // 128 - 1


def slower_than(histogram, ns):
    """Samples that are certainly slower."""
    return sum(count for index, count in histogram["buckets"] if lower(index) >= ns)


class RateTest(PitotTest):
    """With a workload of one script that reads a row, unless a test takes more."""

    def setUp(self):
        super().setUp()
        self.workload = self.copy_workload("prod")
        self.change_suite(self.workload, self.change)
        self.only("user_by_id")

    @staticmethod
    def change(suite):
        tiny = {"users": 200, "orders_per_user": 4, "orders": 800}
        suite["scales"] = {"tiny": tiny, **suite["scales"]}

    def only(self, *names):
        def change(suite):
            suite["scripts"] = [s for s in suite["scripts"] if s["name"] in names]

        for path in self.workload.glob("*.sql"):
            if path.stem not in ("schema", "load", *names):
                path.unlink()
        self.change_suite(self.workload, change)

    def broken(self, fault):
        """SQLite with that fault, as --engines takes it."""
        path = self.work / f"broken-{fault}.so"
        shutil.copyfile(LIBRARY, path)
        return f"sqlite={path}"

    def wrong(self, fault):
        """An engine behind a worker that says something wrong."""
        folder = self.folder / "config" / "pitot" / "engines"
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(PROXY), fault, str(pitot_test.BUILD / "pitot-worker"),
                   os.path.realpath(pitot_test.system_sqlite())]
        manifest = {"name": fault, "summary": "wrong on purpose", "command": command}
        (folder / f"{fault}.json").write_text(json.dumps(manifest))
        return fault

    def prod(self, *engines, rate=None, status=0, duration="0.5", rounds="1"):
        """A short run: its result, by the schema."""
        self.done = self.pitot(
            "prod", "--workload", self.workload, "--engines", ",".join(engines), "--rounds",
            rounds, "--duration", duration, "--warmup", "20", "--threads", str(CONNECTIONS),
            *([] if rate is None else ["--rate", rate]), "--json", "x.json", status=status)
        self.table = " ".join(self.done.stdout.split())
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        return result

    def warnings(self, result, engine):
        return [w["text"] for w in result["warnings"] if w["subject"] == engine]

    def check_open(self, run):
        """What holds of every run at a rate."""
        attempted = 0
        for script in run["scripts"]:
            attempted += script["attempted"]
            self.assertEqual(script["attempted"], sum(script[o] for o in OUTCOMES))
            parts = [script[name] for name in ("latency", "service", "lag")]
            self.assertEqual([part["count"] for part in parts], [script["ok"]] * 3)
            self.assertEqual(parts[0]["sum"], parts[1]["sum"] + parts[2]["sum"])
        self.assertEqual(attempted, sum(c["offered"] - c["unstarted"] for c in run["connections"]))


class Stall(RateTest):
    """An engine that stands still for 500 ms, once, at its thousandth execution."""

    # What was under way then took nearly all of it; what was due in its first half waited for the
    # second one at least. Nothing else takes that long, even on a busy machine.
    FROZEN_NS = 400_000_000
    WAITED_NS = 200_000_000

    def setUp(self):
        super().setUp()
        self.frozen = self.broken("freeze-1000")

    def run_of(self, **more):
        result = self.prod(self.frozen, duration="2", **more)
        engine = result["engines"][0]
        self.assertEqual(engine["status"], "ok")
        return engine["runs"][0]

    def test_a_closed_loop_hides_it(self):
        script = self.run_of()["scripts"][0]
        self.assertIsNone(script["service"])
        slow = slower_than(script["latency"], self.FROZEN_NS)
        self.assertTrue(1 <= slow <= CONNECTIONS, slow)

    def test_an_open_loop_shows_it(self):
        # 2,000 operations a second were due in the 0.3 s that end 0.2 s before it goes on.
        run = self.run_of(rate="2000")
        self.check_open(run)
        script = run["scripts"][0]
        self.assertGreaterEqual(slower_than(script["latency"], self.WAITED_NS), 400)
        # The engine was only slow for those that it was asked for then; the others waited.
        self.assertLessEqual(slower_than(script["service"], self.FROZEN_NS), CONNECTIONS)
        self.assertGreaterEqual(slower_than(script["lag"], self.WAITED_NS), 400 - CONNECTIONS)
        self.assertGreaterEqual(script["slow"], 400)


class Offer(RateTest):
    def test_all_engines_are_asked_for_the_same(self):
        self.only("user_by_id", "insert_order")
        result = self.prod(self.sqlite(), "null", rate="400", rounds="2")
        case = result["cases"][0]
        self.assertEqual((case["rate"], case["rate_share"], case["closed_loops"]), (400, None, []))
        offered = []
        for engine in result["engines"]:
            self.assertEqual(engine["status"], "ok", engine["error"])
            for run in engine["runs"]:
                self.check_open(run)
                self.assertGreaterEqual(run["window_ns"], 500_000_000)
            offered.append([[c["offered"] for c in run["connections"]] for run in engine["runs"]])
            summary = engine["summaries"][0]
            self.assertEqual(summary["offered"], sum(map(sum, offered[-1])))
            self.assertEqual(summary["unstarted"], summary["offered"] - summary["attempted"])
        self.assertEqual(offered[0], offered[1])
        self.assertNotEqual(offered[0][0], offered[0][1])  # every round draws anew
        self.assertIn("open loop at 400 operations/s", self.table)
        for text in ("begun of what was due", "never begun", "service time", "lag",
                     "their tails are comparable"):
            self.assertIn(text, self.table)
        self.assertNotIn("Closed loop", self.table)
        csv = self.pitot("report", "x.json", "--format", "csv").stdout
        for metric in ("offered", "unstarted", "begun_share", "service_p99", "lag_p99.9"):
            self.assertIn(f",{metric},", csv)

    def test_a_closed_loop_has_none_of_it(self):
        result = self.prod(self.sqlite(), "null")
        self.assertIsNone(result["cases"][0]["rate"])
        for engine in result["engines"]:
            self.assertIsNone(engine["summaries"][0]["offered"])
            self.assertIsNone(engine["runs"][0]["connections"][0]["unstarted"])
            self.assertIsNone(engine["runs"][0]["scripts"][0]["lag"])
        for text in ("open loop", "begun of what was due", "never begun", "service time"):
            self.assertNotIn(text, self.table)
        self.assertIn("Closed loop", self.table)

    def test_an_engine_that_cannot_keep_up_is_named(self):
        result = self.prod("null", rate="1000000000", duration="0.2")
        engine = result["engines"][0]
        self.check_open(engine["runs"][0])
        self.assertEqual(engine["status"], "ok")
        self.assertLess(engine["summaries"][0]["begun_share"]["median"], 0.5)
        said = [text for text in self.warnings(result, "null") if text.startswith("saturated: ")]
        self.assertRegex(said[0], r"saturated: \d+\.\d % of the offered operations were begun")
        self.assertIn(said[0], self.table)

    def test_one_that_waits_for_work_is_not_named(self):
        result = self.prod("null", rate="2", duration="1")
        said = " ".join(self.warnings(result, "null"))
        for text in ("saturated", "ended no execution", "latencies add up", "trend"):
            self.assertNotIn(text, said)


class Share(RateTest):
    def test_a_share_of_the_slowest(self):
        result = self.prod(self.sqlite(), "null", rate="25%")
        case = result["cases"][0]
        loops = {loop["engine"]: loop["operations_per_second"] for loop in case["closed_loops"]}
        self.assertEqual(set(loops), {self.sqlite(), "null"})
        self.assertGreater(min(loops.values()), 0)
        self.assertAlmostEqual(case["rate"], min(loops.values()) * 0.25, delta=1e-6 * case["rate"])
        self.assertEqual(case["rate_share"], 0.25)
        # The run that measured it is no round.
        for engine in result["engines"]:
            self.assertEqual([run["round"] for run in engine["runs"]], [1])
            self.check_open(engine["runs"][0])
        self.assertIn("null: closed loop, to choose the rate", self.done.stderr)
        self.assertRegex(self.done.stderr, r"rate: [0-9.e+]+ operations/s, 25 % of the slowest")
        self.assertIn("25 % of the slowest in a closed loop (", self.table)

    def test_more_than_all_of_it(self):
        result = self.prod("null", rate="300%")
        self.assertIn("the rate is 300 % of what the slowest engine did in a closed loop",
                      " ".join(self.warnings(result, None)))
        self.assertTrue(any(text.startswith("saturated: ")
                            for text in self.warnings(result, "null")), result["warnings"])

    def test_an_engine_that_fails_before_the_rate_is_chosen(self):
        aborting = self.broken("abort-200")
        result = self.prod(aborting, self.sqlite(), rate="25%", status=1)
        rows = {engine["name"]: engine for engine in result["engines"]}
        self.assertEqual(rows[aborting]["status"], "failed")
        self.assertEqual(rows[aborting]["runs"], [])
        self.assertEqual(rows[self.sqlite()]["status"], "ok")
        self.assertEqual([loop["engine"] for loop in result["cases"][0]["closed_loops"]],
                         [self.sqlite()])


class Workers(RateTest):
    def failed(self, fault):
        result = self.prod(self.sqlite(), self.wrong(fault), rate="200", status=1)
        self.assertEqual(result["engines"][0]["status"], "ok")
        self.assertEqual(result["engines"][1]["status"], "failed")
        return result["engines"][1]["error"]

    def test_one_without_an_open_loop(self):
        self.assertIn("its worker has no open loop", self.failed("no-rate"))

    def test_ones_whose_accounts_do_not_add_up(self):
        for fault, text in (("offered", "executions that were due began, but"),
                            ("unstarted", "executions never began, only"),
                            ("lag", "latencies of"), ("no-service", "service")):
            with self.subTest(fault=fault):
                self.assertIn(text, self.failed(fault))


if __name__ == "__main__":
    unittest.main()
