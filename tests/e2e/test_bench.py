"""pitot bench from end to end, on a data set of some hundred rows."""

import re
import shutil
import signal
import sqlite3
import unittest

import pitot_test
from pitot_test import PitotTest

OUTCOMES = ("ok", "busy", "conflict", "failed", "skipped", "open")
WORKLOADS = ["insert-single", "insert-tx-batch", "select-point", "select-range-indexed",
             "select-fullscan-agg", "select-join", "update-point"]
ROWS = 300


class BenchTest(PitotTest):
    def bench(self, *more, engines=None, rows=ROWS, rounds=2, status=0):
        """A short run, its result as JSON."""
        self.done = self.pitot("bench", "--engines", engines or self.sqlite(), "--rows", rows,
                               "--rounds", rounds, "--json", "x.json", *more, status=status)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        return result

    @staticmethod
    def labels(result):
        return [case["label"] for case in result["cases"]]

    @staticmethod
    def runs(result, engine, label):
        case = BenchTest.labels(result).index(label)
        return [run for run in result["engines"][engine]["runs"] if run["case"] == case]


class Result(BenchTest):
    def test_every_engine_does_exactly_what_was_asked(self):
        result = self.bench("--iterations", "20", "--warmup", "3",
                            engines=f"{self.sqlite()},null")
        self.assertEqual(self.labels(result), WORKLOADS)
        self.assertFalse(result["partial"])
        for case in result["cases"]:
            self.assertEqual((case["suite"], case["scenario"]), ("bench", case["label"]))
            self.assertEqual((case["operations"], case["warmup_operations"], case["threads"]),
                             (20, 3, 1))
            self.assertEqual((case["duration_ns"], case["warmup_ns"], case["rate"]),
                             (None, None, None))
        for index, engine in enumerate(result["engines"]):
            self.assertEqual((engine["status"], engine["error"]), ("ok", None))
            self.assertEqual(len(engine["runs"]), 2 * len(WORKLOADS))
            self.assertEqual(len(engine["summaries"]), len(WORKLOADS))
            for label in WORKLOADS:
                runs = self.runs(result, index, label)
                self.assertEqual([run["round"] for run in runs], [1, 2])
                for run in runs:
                    self.check_run(run, label)
        for label, summary in zip(WORKLOADS, result["engines"][0]["summaries"]):
            self.check_summary(summary, self.runs(result, 0, label))

    def check_run(self, run, label):
        self.assertEqual((run["status"], run["warmup_operations"]), ("ok", 3))
        (connection,) = run["connections"]
        # However late the process's main thread got a core: what the run used is all counted. A
        # thread uses some microseconds before the run, on its way to sleep.
        self.assertGreater(run["cpu_user_ns"] + run["cpu_system_ns"] + 1_000_000,
                           connection["cpu_ns"])
        (script,) = run["scripts"]
        self.assertEqual((script["script"], script["attempted"], script["ok"]), (label, 20, 20))
        self.assertEqual(script["operations_each"], 1000 if label == "insert-tx-batch" else 1)
        self.assertEqual(sum(script[o] for o in OUTCOMES), 20)

    def check_summary(self, summary, runs):
        """Throughput counts operations, of which a batch holds a thousand."""
        self.assertEqual((summary["status"], summary["error"], summary["rounds_ok"]),
                         ("ok", None, 2))
        rates = [run["scripts"][0]["ok"] * run["scripts"][0]["operations_each"] * 1e9 /
                 run["connections"][0]["window_ns"] for run in runs]
        figure = summary["operations_per_second"]
        self.assertAlmostEqual(figure["min"], min(rates), delta=min(rates) * 1e-9)
        self.assertAlmostEqual(figure["max"], max(rates), delta=max(rates) * 1e-9)

    def test_what_is_written_is_there_afterwards(self):
        result = self.bench("--iterations", "20", "--warmup", "3", "--workloads",
                            "insert-single,insert-tx-batch,update-point")
        for label, users in (("insert-single", 23), ("insert-tx-batch", ROWS + 23 * 1000),
                             ("update-point", ROWS)):
            for run in self.runs(result, 0, label):
                self.assertIsNone(run["check"]["problem"])
                counts = {c["table"]: (c["expected"], c["found"]) for c in run["check"]["counts"]}
                self.assertEqual(counts["users"], (users, users), label)
                self.assertEqual(run["check"]["integrity"], ["ok"])

    def test_one_template_for_the_rows_and_one_without(self):
        result = self.bench("--iterations", "5", rows=50, rounds=1)
        self.assertEqual(len(result["templates"]), 2)
        templates = {case["label"]: case["template"] for case in result["cases"]}
        self.assertEqual(templates.pop("insert-single"), 0)
        self.assertEqual(set(templates.values()), {1})
        users = []
        for template in result["templates"]:
            with sqlite3.connect(f"file:{template['path']}?mode=ro", uri=True) as database:
                users.append(database.execute("SELECT count(*) FROM users").fetchone()[0])
        self.assertEqual(users, [0, 50])
        for case in result["cases"]:
            rows = "0" if case["label"] == "insert-single" else "50"
            self.assertEqual(case["variables"], [{"name": "rows", "value": rows}])
        # Other rows, another template; the same ones, the same template.
        again = self.bench("--iterations", "5", "--workloads", "select-point", rows=50, rounds=1)
        self.assertTrue(again["templates"][0]["reused"])
        self.assertEqual(again["templates"][0]["path"], result["templates"][1]["path"])
        more = self.bench("--iterations", "5", "--workloads", "select-point", rows=51, rounds=1)
        self.assertFalse(more["templates"][0]["reused"])

    def test_only_the_workloads_named_in_their_order(self):
        result = self.bench("--iterations", "30", "--workloads", "select-join,select-point")
        self.assertEqual(self.labels(result), ["select-join", "select-point"])
        self.assertEqual([case["warmup_operations"] for case in result["cases"]], [3, 3])
        join, point = result["engines"][0]["summaries"]
        self.assertEqual(join["scripts"][0]["rows_read_each"]["median"], 2)
        self.assertEqual(point["scripts"][0]["rows_read_each"]["median"], 1)

    def test_the_warm_up_may_be_a_time(self):
        result = self.bench("--iterations", "10", "--warmup", "20ms", "--workloads",
                            "select-point", rounds=1)
        case = result["cases"][0]
        self.assertEqual((case["warmup_ns"], case["warmup_operations"]), (20_000_000, None))
        (run,) = self.runs(result, 0, "select-point")
        self.assertGreaterEqual(run["warmup_ns"], 20_000_000)

    def test_the_table_has_a_line_a_workload_and_engine(self):
        self.bench("--iterations", "1100", "--workloads", "select-point,update-point",
                   engines=f"{self.sqlite()},null")
        for shown in (self.done.stdout, self.pitot("report", "x.json").stdout):
            lines = shown.splitlines()
            heading = next(n for n, line in enumerate(lines) if line.split()[:2] == ["ops/s", "spread"])
            self.assertEqual(lines[heading].split(), ["ops/s", "spread", "p50", "p95", "p99", "CPU/op"])
            table = lines[heading + 2:heading + 8]
            self.assertEqual(table[0], "select-point: 1,100 iterations, warm-up 110")
            self.assertEqual(table[3], "update-point: 1,100 iterations, warm-up 110")
            self.assertTrue(table[2].startswith("  null ") and table[5].startswith("  null "))
            for line in (table[1], table[4]):
                self.assertRegex(line, r"^  sqlite=\S+ +\S+( M)? +\d+\.\d %( +~?\S+ [nµm]?s){4}$")

    def test_one_round_has_no_spread(self):
        self.bench("--iterations", "10", "--workloads", "select-point", rounds=1)
        self.assertRegex(self.done.stdout, r"(?m)^  sqlite=\S+ +\S+( M)? +–( +~?\S+ [nµm]?s){3} +(–|\S+ [nµm]?s)$")

    def test_as_csv(self):
        self.bench("--iterations", "10", "--workloads", "select-point,select-join", rounds=1)
        rows = [line.split(",") for line in
                self.pitot("report", "x.json", "--format", "csv").stdout.splitlines()]
        self.assertEqual(rows[0][:5], ["engine", "version", "case", "role", "script"])
        ok = {row[2]: row[7] for row in rows if row[5] == "ok" and row[4] == ""}
        self.assertEqual(ok, {"select-point": "10", "select-join": "10"})


class Sizing(BenchTest):
    def test_the_number_is_found_and_is_the_same_for_all(self):
        result = self.bench("--min-time", "20ms", "--workloads", "select-point,insert-tx-batch",
                            engines=f"{self.sqlite()},null")
        for case in result["cases"]:
            iterations = case["operations"]
            self.assertGreater(iterations, 0)
            self.assertEqual(case["warmup_operations"], (iterations + 9) // 10)
            self.assertRegex(self.done.stderr, rf"(?m)^{case['label']}: {iterations} iterations "
                                               rf"\(sqlite=\S+ does \d+ a second\)$")
            for engine in range(2):
                for run in self.runs(result, engine, case["label"]):
                    self.assertEqual(run["scripts"][0]["ok"], iterations)
        # Twenty milliseconds of null would be far more than SQLite does in that time.
        self.assertLess(result["cases"][0]["operations"], 400_000)
        # Trials are in no figure.
        self.assertEqual([len(e["runs"]) for e in result["engines"]], [4, 4])

    def test_null_alone_sets_the_number(self):
        result = self.bench("--min-time", "5ms", "--workloads", "select-point", engines="null",
                            rounds=1)
        self.assertGreater(result["cases"][0]["operations"], 1000)

    def test_more_time_more_iterations(self):
        counts = [self.bench("--min-time", time, "--workloads", "select-fullscan-agg",
                             rounds=1)["cases"][0]["operations"] for time in ("1ms", "200ms")]
        self.assertGreater(counts[1], 10 * counts[0])


class Failures(BenchTest):
    """tests/engines/broken-sqlite.c aborts at the N-th INSERT of a process."""

    def broken(self, fault):
        path = self.work / f"broken-{fault}.so"
        shutil.copyfile(pitot_test.BUILD / "tests" / "broken-sqlite.so", path)
        return f"sqlite={path}"

    def with_broken(self, number, iterations):
        """insert-tx-batch, of 1,000 inserts each, fails; its cell and its runs, checked to be alone
        with it."""
        engines = f"{self.sqlite()},{self.broken(f'abort-insert-{number}')}"
        result = self.bench("--iterations", iterations, "--warmup", "0", "--workloads",
                            "insert-single,insert-tx-batch,select-point", engines=engines,
                            status=1)
        sound, broken = result["engines"]
        self.assertEqual(sound["status"], "ok")
        self.assertEqual(broken["status"], "partial")
        self.assertTrue(broken["error"].startswith("insert-tx-batch, "), broken["error"])
        self.assertIn("signal 6", broken["error"])
        for label, summary in zip(self.labels(result), broken["summaries"]):
            self.assertEqual(len(self.runs(result, 0, label)), 2)
            if label != "insert-tx-batch":
                self.assertEqual((summary["status"], summary["error"]), ("ok", None))
                self.assertEqual([run["scripts"][0]["ok"] for run in self.runs(result, 1, label)],
                                 [iterations, iterations])
        self.assertRegex(self.done.stdout, r"(?m)^  sqlite=.* \(failed\) +–")
        self.assertRegex(self.done.stderr, r"insert-tx-batch, sqlite=\S+ failed: ")
        return broken["summaries"][1], self.runs(result, 1, "insert-tx-batch")

    def test_one_that_fails_in_a_round_goes_on_in_the_other_cases(self):
        cell, runs = self.with_broken(12_000, 15)  # 10,000 for the answers go well
        self.assertEqual(cell["status"], "failed")
        self.assertIn("signal 6", cell["error"])
        self.assertEqual([(run["round"], run["status"]) for run in runs], [(1, "failed")])
        self.assertIn("insert-tx-batch, ", self.done.stdout)

    def test_one_that_cannot_answer_goes_on_in_the_other_cases(self):
        cell, runs = self.with_broken(5000, 15)
        self.assertEqual(cell["status"], "failed")
        self.assertIn("signal 6", cell["error"])
        self.assertEqual(runs, [])
        self.assertIn("insert-tx-batch failed:", self.done.stdout)

    def test_an_engine_that_fails_everywhere_is_failed(self):
        result = self.bench("--iterations", "5", "--workloads", "insert-single,insert-tx-batch",
                            engines=f"{self.sqlite()},{self.broken('abort-insert-1')}", status=1)
        broken = result["engines"][1]
        self.assertEqual(broken["status"], "failed")
        self.assertEqual([s["status"] for s in broken["summaries"]], ["failed", "failed"])
        self.assertEqual(broken["runs"], [])

    def test_an_engine_that_fails_in_a_trial_is_not_run(self):
        # 1,000 inserts for the answers; a trial goes on until it has lasted a second.
        result = self.bench("--min-time", "1", "--workloads", "insert-single", rounds=1,
                            engines=f"{self.sqlite()},{self.broken('abort-insert-1100')}",
                            status=1)
        sound, broken = result["engines"]
        self.assertEqual((broken["status"], broken["summaries"][0]["status"]),
                         ("failed", "failed"))
        self.assertEqual(broken["runs"], [])
        self.assertEqual((sound["status"], len(sound["runs"])), ("ok", 1))
        self.assertGreater(result["cases"][0]["operations"], 1000)


class Progress(BenchTest):
    def test_it_names_the_case_and_the_time_left(self):
        result = self.bench("--iterations", "20", "--workloads", "select-point,update-point", "-P",
                            "1ms")
        name = re.escape(result["engines"][0]["name"])
        for label in ("select-point", "update-point"):
            for number in (1, 2):
                self.assertRegex(self.done.stderr,
                                 rf"(?m)^{label}, {name}: round {number} of 2: \d+ operations/s$")

    def test_the_time_left_is_that_of_all_rounds(self):
        """A second and a half a round: a line comes each second, in the second round with time."""
        self.bench("--min-time", "1.5", "--workloads", "select-point", "-P", "1ms")
        lines = re.findall(r"(?m)^.*: round (\d) of 2, run .* (\d+) s left$", self.done.stderr)
        self.assertTrue(lines, self.done.stderr)
        first = [int(left) for number, left in lines if number == "1"]
        second = [int(left) for number, left in lines if number == "2"]
        self.assertTrue(first and second, self.done.stderr)
        self.assertGreater(max(first), max(second))

    def test_ended_early_it_shows_what_is_whole(self):
        process = self.start("bench", "--engines", self.sqlite(), "--iterations", "50",
                             "--workloads", "select-point,update-point", "--rounds", "1000",
                             "--json", "x.json")
        for line in process.stderr:
            if b"update-point" in line and b"round 2 of 1000: " in line:
                break
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.stderr.read()
        self.assertEqual(process.wait(timeout=60), 130)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        self.assertTrue(result["partial"])
        for summary in result["engines"][0]["summaries"]:
            self.assertEqual(summary["status"], "partial")
            self.assertGreaterEqual(summary["rounds_ok"], 2)
            self.assertGreater(summary["operations_per_second"]["median"], 0)
        self.check_no_process()


if __name__ == "__main__":
    unittest.main()
