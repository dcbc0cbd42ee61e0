"""pitot compare from end to end: what the rounds hold, what is compared, what is gone on from. How
fast anything is is never asserted: hand-made results have the figures that verdicts need."""

import copy
import json
import multiprocessing
import os
import shutil
import signal
import unittest

import pitot_test
from pitot_test import PitotTest

WORKLOADS = ["select-point", "update-point"]
METRICS = ["throughput", "p99", "cpu"]
ITERATIONS = 1000
NONE_IS_REPEATED = ("--max-disturbance", "1000%")


class CompareTest(PitotTest):
    def options(self, *more, engines=None, runs=3):
        """What is in `more` replaces what is asked for otherwise."""
        usual = {"--suites": "bench", "--workloads": ",".join(WORKLOADS), "--rows": 200,
                 "--iterations": ITERATIONS, "--warmup": 0, "--runs": runs, "--json": "x.json",
                 "--engines": engines or self.two()}
        kept = [word for pair in usual.items() if pair[0] not in more for word in pair]
        return ("compare", *kept, *more)

    def compare(self, *more, engines=None, runs=3, status=0, repeat=NONE_IS_REPEATED):
        """A short run, its result as JSON."""
        self.done = self.pitot(*self.options(*more, *repeat, engines=engines, runs=runs),
                               status=status)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        return result

    def two(self):
        """The same engine twice."""
        return f"{self.sqlite()},{self.sqlite()}"

    def write_json(self, name, result):
        (self.work / name).write_text(json.dumps(result), encoding="utf-8")

    @staticmethod
    def tables(result):
        return {(t["suite"], t["metric"]): t for t in result["comparison"]["tables"]}

    @staticmethod
    def rounds(runs, case):
        return sorted(run["round"] for run in runs if run["case"] == case)


class Structure(CompareTest):
    def test_every_engine_once_and_the_baseline_twice(self):
        result = self.compare()
        base, second = result["engines"]
        self.assertEqual([base["name"], second["name"]], [self.sqlite(), self.sqlite() + "#2"])
        self.assertEqual(result["comparison"]["baseline"], base["name"])
        self.assertEqual(len(result["engines"]), 2)
        for case in range(len(WORKLOADS)):
            for runs in (base["runs"], second["runs"], base["aside"]):
                self.assertEqual(self.rounds(runs, case), [1, 2, 3])
        self.assertEqual(second["aside"], [])
        self.assertEqual({run["aside"] for run in base["aside"]}, {"again"})
        self.assertEqual({run["aside"] for run in base["runs"] + second["runs"]}, {None})
        # Three runs a round, each in a position of its own, and not always the same one.
        for case in range(len(WORKLOADS)):
            for number in (1, 2, 3):
                places = [run["position"] for runs in (base["runs"], second["runs"], base["aside"])
                          for run in runs if (run["case"], run["round"]) == (case, number)]
                self.assertEqual(sorted(places), [1, 2, 3])
            for runs in (base["runs"], second["runs"], base["aside"]):
                self.assertEqual(sorted(r["position"] for r in runs if r["case"] == case),
                                 [1, 2, 3])

    def test_the_second_runs_are_in_no_figure(self):
        result = self.compare()
        base = result["engines"][0]
        for case, summary in enumerate(base["summaries"]):
            self.assertEqual((summary["status"], summary["rounds_ok"]), ("ok", 3))
            self.assertEqual(summary["ok"], 3 * ITERATIONS)
            rates = [run["scripts"][0]["ok"] * 1e9 / run["connections"][0]["window_ns"]
                     for run in base["runs"] if run["case"] == case]
            self.assertAlmostEqual(summary["operations_per_second"]["median"], sorted(rates)[1],
                                   delta=1e-6 * rates[0])

    def test_every_row_and_cell_is_there(self):
        result = self.compare()
        tables = self.tables(result)
        self.assertEqual(set(tables), {("bench", metric) for metric in METRICS})
        names = [engine["name"] for engine in result["engines"]]
        for table in tables.values():
            self.assertEqual([row["case"] for row in table["rows"]], [0, 1])
            self.assertEqual(table["floor_rows"], 2)
            self.assertGreaterEqual(table["floor"], 0.01 - 1e-9)
            self.assertEqual([mean["engine"] for mean in table["geometric_means"]], names)
            for row in table["rows"]:
                self.assertEqual([cell["engine"] for cell in row["cells"]], names)
                base, other = row["cells"]
                self.assertEqual((base["verdict"], base["note"]), (None, "baseline"))
                self.assertEqual(other["rounds"], 3)
                self.assertIsNotNone(other["verdict"])
                self.assertLess(other["ratio_low"], other["ratio"])
                self.assertGreater(other["ratio_high"], other["ratio"])
        comparison = result["comparison"]
        self.assertEqual((comparison["runs"], comparison["confidence"]), (3, 0.95))
        self.assertEqual((comparison["rounds_repeated"], comparison["slower"]), (0, None))
        self.assertIsNone(comparison["against"]["file"])

    def test_ratios_are_of_the_same_rounds(self):
        result = self.compare()
        rates = [{run["round"]: ITERATIONS * 1e9 / run["connections"][0]["window_ns"]
                  for run in engine["runs"] if run["case"] == 0} for engine in result["engines"]]
        product = 1.0
        for number in (1, 2, 3):
            product *= rates[1][number] / rates[0][number]
        found = self.tables(result)["bench", "throughput"]["rows"][0]["cells"][1]["ratio"]
        self.assertAlmostEqual(found, product ** (1 / 3), delta=1e-9 * found)

    def test_the_baseline_may_be_named(self):
        result = self.compare("--baseline-engine", "null", engines=f"{self.sqlite()},null")
        self.assertEqual(result["comparison"]["baseline"], "null")
        self.assertEqual([len(e["aside"]) for e in result["engines"]], [0, 6])
        cells = self.tables(result)["bench", "throughput"]["rows"][0]["cells"]
        self.assertEqual(cells[1]["note"], "baseline")

    def test_null_is_no_baseline_unless_it_is_named(self):
        result = self.compare(engines=f"null,{self.sqlite()}", runs=1)
        self.assertEqual(result["comparison"]["baseline"], self.sqlite())

    def test_one_round_claims_nothing(self):
        result = self.compare(runs=1)
        self.assertIn("one run: no difference is claimed", self.done.stdout)
        for table in self.tables(result).values():
            for row in table["rows"]:
                self.assertEqual(row["cells"][1]["note"], "too few rounds")
                self.assertIsNone(row["cells"][1]["verdict"])
                self.assertIsNone(row["best"])

    def test_two_rounds_give_no_verdict(self):
        result = self.compare(runs=2)
        self.assertIn("2 rounds, and a verdict needs 3", self.done.stdout)
        for table in self.tables(result).values():
            for row in table["rows"]:
                self.assertEqual(row["cells"][1]["note"], "too few rounds")

    def test_other_commands_compare_without_second_runs(self):
        self.pitot("bench", "--engines", self.two(), "--workloads", "select-point", "--rows", 200,
                   "--iterations", 30, "--rounds", 3, "--json", "x.json")
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        table = self.tables(result)["bench", "throughput"]
        self.assertEqual(table["floor_rows"], 0)
        self.assertAlmostEqual(table["floor"], 0.01)
        self.assertEqual([len(engine["aside"]) for engine in result["engines"]], [0, 0])
        shown = self.pitot("report", "x.json").stdout
        self.assertRegex(" ".join(shown.split()), r"Noise floor 1\.0 %, the least: \S+ did not run "
                                                  r"against itself")
        self.pitot("bench", "--engines", self.two(), "--workloads", "select-point", "--rows", 200,
                   "--iterations", 30, "--rounds", 2, "--json", "x.json")
        self.assertEqual(self.read_json("x.json")["comparison"]["tables"], [])

    def test_report_formats(self):
        result = self.compare()
        self.assertEqual(self.pitot("report", "x.json").stdout.count("Noise floor"), 3)
        csv = [line.split(",") for line in
               self.pitot("report", "x.json", "--format", "csv").stdout.splitlines()]
        ratios = [row for row in csv if row[5] == "throughput_ratio"]
        self.assertEqual([(row[0], row[2]) for row in ratios],
                         [(engine["name"], label) for label in WORKLOADS
                          for engine in result["engines"]])
        cell = self.tables(result)["bench", "throughput"]["rows"][0]["cells"][1]
        self.assertEqual([float(number) for number in ratios[1][7:10]],
                         [cell["ratio"], cell["ratio_low"], cell["ratio_high"]])
        verdicts = [row for row in csv if row[5] == "throughput_ratio_verdict"]
        self.assertEqual([row[10] for row in verdicts],
                         [cell["verdict"] or cell["note"]
                          for row in self.tables(result)["bench", "throughput"]["rows"]
                          for cell in row["cells"]])
        markdown = self.pitot("report", "x.json", "--format", "markdown").stdout
        self.assertIn("| baseline |", markdown)
        self.assertEqual(markdown.count("Noise floor"), 3)


class Suites(CompareTest):
    def several(self, *more):
        """Two suites with an engine that stores nothing: no template is built."""
        return self.compare("--suites", "bench,prod", "--workloads", "select-point", "--threads", 2,
                            "--duration", "50ms", *more, engines="null,null")

    def test_cases_of_all_suites_are_in_one_plan(self):
        result = self.several()
        self.assertEqual([case["label"] for case in result["cases"]], ["select-point", "prod"])
        self.assertEqual([case["operations"] for case in result["cases"]], [ITERATIONS, None])
        tables = self.tables(result)
        self.assertEqual(list(tables), [(suite, metric) for suite in ("bench", "prod")
                                        for metric in METRICS])
        prod = tables["prod", "p99"]
        self.assertEqual(len(prod["rows"]), 7)
        self.assertEqual({row["cells"][1]["verdict"] or row["cells"][1]["note"]
                          for row in prod["rows"]}, {"closed loop"})
        self.assertNotIn("closed loop", [row["cells"][1]["verdict"]
                                         for row in tables["bench", "p99"]["rows"]])
        self.assertEqual(len(tables["prod", "throughput"]["rows"]), 1)
        self.assertIn("With --rate all have the same.", self.done.stdout)

    def test_concurrent_has_a_row_a_role(self):
        result = self.compare("--suites", "concurrent", "--threads", "1,2", "--ops", 60, "--warmup",
                              5)
        self.assertEqual([case["label"] for case in result["cases"]],
                         ["write-contention ×1", "write-contention ×2", "read-write-mix ×1",
                          "read-write-mix ×2"])
        rows = [(row["case"], row["role"]) for row in
                self.tables(result)["concurrent", "throughput"]["rows"]]
        self.assertEqual(rows, [(0, None), (1, None), (2, "writer"), (2, "reader"), (3, "writer"),
                                (3, "reader")])
        words = {(row["case"], row["role"]): row["cells"][1]["verdict"] for row in
                 self.tables(result)["concurrent", "p99"]["rows"]}
        self.assertEqual([words[case, "writer"] for case in (1, 2, 3)], ["closed loop"] * 3)
        self.assertNotEqual(words[0, "writer"], "closed loop")
        self.assertIsNotNone(words[0, "writer"])

    def test_prod_has_a_case_a_number_of_connections(self):
        result = self.compare("--suites", "concurrent,prod", "--skipConcurrent", "--threads", "1,3",
                              "--duration", "50ms", engines="null,null")
        self.assertEqual([(case["label"], case["threads"]) for case in result["cases"]],
                         [("prod ×1", 1), ("prod ×3", 3)])

    def test_an_own_workload_stands_for_prod(self):
        folder = self.copy_workload("prod")

        def fewer(suite):
            suite["name"] = "mine"
            for script in suite["scripts"][1:]:
                (folder / f"{script['name']}.sql").unlink()
            suite["scripts"] = suite["scripts"][:1]
            suite["scenarios"][0]["name"] = "busy-day"
        self.change_suite(folder, fewer)
        result = self.several("--workload", folder)
        self.assertEqual([(case["suite"], case["scenario"]) for case in result["cases"]],
                         [("bench", "select-point"), ("mine", "busy-day")])
        self.assertEqual(len(self.tables(result)["mine", "p99"]["rows"]), 1)

    def test_a_share_of_the_slowest_is_kept_with_what_it_is_a_share_of(self):
        paced = ("--suites", "prod", "--threads", 1, "--duration", "50ms", "--warmup", "10",
                 "--rate", "1%")
        first = self.compare(*paced, engines="null,null", runs=1)["cases"][0]
        self.assertEqual([loop["engine"] for loop in first["closed_loops"]], ["null", "null#2"])
        again = self.compare(*paced, "--resume", "x.json", engines="null,null", runs=2)["cases"][0]
        self.assertEqual(again["closed_loops"], first["closed_loops"])
        self.assertEqual(again["rate"], first["rate"])
        self.assertRegex(" ".join(self.done.stdout.split()),
                         r"1 % of the slowest in a closed loop \(null [^()]+/s, null#2 [^()]+/s\)")

    def test_at_a_rate_tails_may_have_verdicts(self):
        result = self.several("--rate", 4000)
        self.assertEqual([case["rate"] for case in result["cases"]], [None, 4000])
        for row in self.tables(result)["prod", "p99"]["rows"]:
            self.assertNotEqual(row["cells"][1]["verdict"], "closed loop")


class Failures(CompareTest):
    """tests/engines/broken-sqlite.c aborts at the N-th INSERT of a process."""

    def broken(self, fault):
        path = self.work / f"broken-{fault}.so"
        shutil.copyfile(pitot_test.BUILD / "tests" / "broken-sqlite.so", path)
        return f"sqlite={path}"

    def test_a_failing_engine_has_its_cells(self):
        # 1,000 inserts for the answers of each suite; a batch of 1,000 more fails in a round.
        engines = f"{self.sqlite()},{self.broken('abort-insert-10500')}"
        result = self.compare("--workloads", "insert-tx-batch,select-point", engines=engines,
                              status=1)
        broken = result["engines"][1]
        self.assertEqual([s["status"] for s in broken["summaries"]], ["failed", "ok"])
        for table in self.tables(result).values():
            batch, point = table["rows"]
            self.assertEqual((batch["cells"][1]["verdict"], batch["cells"][1]["note"]),
                             (None, "failed"))
            self.assertIsNone(batch["best"])
            self.assertIsNotNone(point["cells"][1]["verdict"])
            mean = table["geometric_means"][1]
            self.assertEqual((mean["rows"], mean["verdict"], mean["note"]), (1, None, "partial"))
        self.assertRegex(self.done.stdout, r"(?m)^  sqlite=.* failed$")


class Interrupted(CompareTest):
    def interrupt(self, text, *more, runs=40):
        """Ends a comparison once a line of its progress holds `text`."""
        process = self.start(*self.options(*NONE_IS_REPEATED, *more, runs=runs))
        for line in process.stderr:
            if text.encode() in line:
                break
        process.send_signal(signal.SIGINT)
        done = self.finish(process)
        self.assertEqual(done.status, 130, done)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        self.assertTrue(result["partial"])
        return result

    def whole_rounds(self, result, case):
        """Rounds of which every run is there and ok."""
        lists = [engine["runs"] for engine in result["engines"]]
        return set.intersection(*({run["round"] for run in runs
                                   if run["case"] == case and run["status"] == "ok"}
                                  for runs in lists))

    def test_whole_rounds_are_compared(self):
        result = self.interrupt("round 4 of 40")
        for table in self.tables(result).values():
            for case, row in enumerate(table["rows"]):
                whole = self.whole_rounds(result, case)
                self.assertGreaterEqual(len(whole), 3)
                self.assertEqual(row["cells"][1]["rounds"], len(whole))
                self.assertIsNotNone(row["cells"][1]["verdict"])

    def test_it_is_gone_on_from(self):
        before = self.interrupt("round 3 of 8", runs=8)
        kept = {(run["case"], run["round"]): run["window_ns"]
                for run in before["engines"][0]["runs"] if run["status"] == "ok"}
        result = self.compare("--resume", "x.json", runs=8)
        self.assertFalse(result["partial"])
        self.assertRegex(self.done.stderr, r"going on from x\.json: \d+ of 16 rounds are there")
        again = {}
        for engine in result["engines"]:
            for case in range(len(WORKLOADS)):
                self.assertEqual(self.rounds(engine["runs"], case), list(range(1, 9)))
            self.assertEqual([s["rounds_ok"] for s in engine["summaries"]], [8, 8])
        for run in result["engines"][0]["runs"]:
            again[run["case"], run["round"]] = run["window_ns"]
        for case in range(len(WORKLOADS)):
            for number in self.whole_rounds(before, case):
                self.assertEqual(again[case, number], kept[case, number], "measured anew")
        self.assertEqual(len(result["engines"][0]["aside"]), 16)

    def test_the_file_is_there_after_each_round(self):
        process = self.start(*self.options(*NONE_IS_REPEATED, runs=1000))
        for line in process.stderr:
            if b"round 3 of 1000" in line:
                break
        process.kill()
        process.wait()
        self.wait_until_alone()
        self.check_leftover_files = False
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        self.assertTrue(result["partial"])
        self.assertGreaterEqual(len(result["engines"][0]["runs"]), 4)
        self.assertEqual(result["engines"][0]["status"], "partial")
        more = self.pitot("report", "x.json")
        self.assertIn("written while the command went on", more.stdout)


class Resume(CompareTest):
    def test_more_rounds_are_added(self):
        before = self.compare(runs=3)
        result = self.compare("--resume", "x.json", runs=5)
        for engine, then in zip(result["engines"], before["engines"]):
            self.assertEqual([s["rounds_ok"] for s in engine["summaries"]], [5, 5])
            windows = {(r["case"], r["round"]): r["window_ns"] for r in engine["runs"]}
            for run in then["runs"]:
                self.assertEqual(windows[run["case"], run["round"]], run["window_ns"])
        self.assertEqual(len(result["engines"][0]["aside"]), 10)

    def test_iterations_that_were_found_are_kept(self):
        sized = ("--iterations", 0, "--min-time", "5ms", "--warmup", "3")
        before = self.compare(*sized, runs=1)
        result = self.compare(*sized, "--resume", "x.json", runs=2)
        self.assertNotIn("trial", self.done.stderr)
        for case, then in zip(result["cases"], before["cases"]):
            self.assertEqual(case["operations"], then["operations"])
        for run in result["engines"][1]["runs"]:
            self.assertEqual(run["scripts"][0]["ok"],
                             result["cases"][run["case"]]["operations"])

    def test_another_plan_is_refused_by_name(self):
        before = self.compare(runs=2)
        null = f"{self.sqlite()},null"
        for more, runs, engines, named in (
            (("--seed", 2), 2, None, r"seed: 1, here 2"),
            (("--iterations", 31), 2, None, r"case select-point: operations: 1000, here 31"),
            (("--rows", 201), 2, None, r'variables\[0\]\.value: "200", here "201"'),
            (("--workloads", "select-point"), 2, None, r"2 cases, here 1"),
            (("--workloads", "update-point,select-point"), 2, None,
             r"case update-point: label: select-point, here update-point"),
            (("--cache", "1MiB"), 2, None, r"cache_size: -65536, here -1024"),
            (("--pragma", "synchronous=full"), 2, None, r'"normal", here "full"'),
            ((), 1, None, r"2 rounds, here only 1"),
            ((), 2, null, r'engine null: name: "sqlite=\S+#2", here "null"'),
            (("--baseline-engine", f"{self.sqlite()}#2"), 2, None, r"baseline: "),
        ):
            done = self.pitot(*self.options("--resume", "x.json", *more, runs=runs,
                                            engines=engines), status=2)
            self.assertRegex(done.stderr, r"pitot compare: --resume: x\.json cannot be gone on "
                                          r"from: .*" + named, done)
            self.assertEqual(self.read_json("x.json"), before, "the file was touched")

    def test_another_version_is_refused(self):
        result = self.compare(runs=1)
        result["engines"][1]["version"] = "3.0.0"
        self.write_json("x.json", result)
        done = self.pitot(*self.options("--resume", "x.json", runs=2), status=2)
        self.assertRegex(done.stderr, r'engine \S+#2: version: "3\.0\.0", here "3\.')


class Against(CompareTest):
    """The older file is this comparison's own result, with figures that a test has changed. A
    difference of a hundred thousand is beyond what any host's noise could hide or make."""

    first = None  # measured by the first test: that host and these options are those of all

    def setUp(self):
        super().setUp()
        Against.first = Against.first or self.compare()
        self.result = copy.deepcopy(Against.first)

    @staticmethod
    def speed(result, engine, factor):
        """Every run of an engine took so much less time, CPU and latency."""
        def less(number):
            return max(1, int(number / factor))
        for run in result["engines"][engine]["runs"]:
            for key in ("window_ns", "cpu_user_ns", "cpu_system_ns"):
                run[key] = less(run[key])
            for connection in run["connections"]:
                connection["window_ns"] = less(connection["window_ns"])

    def against(self, older, *more, status=0):
        self.write_json("old.json", older)
        return self.compare("--against", "old.json", *more, status=status)

    @staticmethod
    def rows(result, metric="throughput"):
        found = {}
        for table in result["comparison"]["against"]["tables"]:
            if table["metric"] == metric:
                for row in table["rows"]:
                    found[row["row"], row["engine"]] = row
        return found

    def test_slower_than_then_is_status_1(self):
        older = copy.deepcopy(self.result)
        self.speed(older, 1, 1e5)
        result = self.against(older, status=1)
        name = self.result["engines"][1]["name"]
        self.assertEqual(self.rows(result)["select-point", name]["verdict"], "slower")
        self.assertGreaterEqual(result["comparison"]["slower"], 2)
        self.assertRegex(self.done.stdout, r"\d rows are slower by more than the noise and 0\.0 %")
        self.assertRegex(self.done.stderr, r"(?m)^pitot compare: \d rows are slower$")
        self.assertRegex(self.pitot("report", "x.json").stdout, r"Against old\.json")

    def test_the_same_is_status_0(self):
        result = self.against(self.result, "--threshold", "1000%")
        self.assertEqual(result["comparison"]["slower"], 0)
        self.assertEqual(result["comparison"]["against"]["started"], self.result["started"])
        self.assertEqual(len(self.rows(result)), 2)
        for metric in METRICS:
            for row in self.rows(result, metric).values():
                self.assertEqual(row["verdict"], "no difference shown")

    def test_faster_than_then_is_status_0(self):
        older = copy.deepcopy(self.result)
        self.speed(older, 1, 1e-5)
        result = self.against(older, "--threshold", "1000%")
        name = self.result["engines"][1]["name"]
        self.assertEqual(self.rows(result)["update-point", name]["verdict"], "faster")

    def test_another_occasion_is_refused_by_name(self):
        host = copy.deepcopy(self.result)
        host["host"]["cpu_model"] = "Abacus 1"
        seed = copy.deepcopy(self.result)
        seed["plan"]["seed"] = 7
        baseline = copy.deepcopy(self.result)
        baseline["engines"][0]["name"] = "other"
        workload = copy.deepcopy(self.result)
        for case in workload["cases"]:
            case["suite_hash"] = "0" * 16
        empty = copy.deepcopy(self.result)
        empty["cases"][0]["label"] = "x"
        empty["cases"][1]["label"] = "y"
        version = copy.deepcopy(self.result)
        version["engines"][0]["version"] = "3.0.0"
        schema = copy.deepcopy(self.result)
        schema["pitot_result"] = 9
        for older, named in (
            (host, r'old\.json cannot be compared with: cpu_model: "Abacus 1", here "'),
            (seed, r"old\.json cannot be compared with: seed: 7, here 1"),
            (baseline, r"old\.json has no engine sqlite=\S+: "),
            (workload, r'no case is the same, such as select-point: suite_hash: "0+", here "'),
            (empty, r"no case is the same, such as select-point: not there"),
            (version, r'the baseline was another one, sqlite=\S+: version: "3\.0\.0", here "3\.'),
            (schema, r"old\.json: result version 9"),
        ):
            self.against_refused(older, named)

    def against_refused(self, older, named):
        self.write_json("old.json", older)
        done = self.pitot(*self.options("--against", "old.json"), status=2)
        self.assertRegex(done.stderr, r"(?m)^pitot compare: --against: .*" + named, done)
        self.assertEqual(done.stdout, "")

    def test_rows_that_cannot_be_compared_are_named(self):
        name = self.result["engines"][1]["name"]
        older = copy.deepcopy(self.result)
        self.speed(older, 1, 1e-5)  # what is compared all the same would be faster
        older["cases"][0]["suite_hash"] = "0" * 16
        older["engines"][1]["summaries"][1]["status"] = "failed"
        result = self.against(older)
        rows = self.rows(result)
        self.assertRegex(rows["select-point", name]["note"], "^not comparable: suite_hash: ")
        self.assertRegex(rows["update-point", name]["note"], "^not comparable: it or ")
        self.assertEqual([row["verdict"] for row in rows.values()], [None, None])
        shown = " ".join(self.done.stdout.split())
        self.assertRegex(shown, r"! select-point, \S+: not comparable: suite_hash: ")

    def test_rows_that_are_gone_or_new_are_named(self):
        name = self.result["engines"][1]["name"]
        older = copy.deepcopy(self.result)
        older["cases"][1]["label"] = "renamed"
        older["engines"].append(copy.deepcopy(older["engines"][1]))
        older["engines"][2]["name"] = "gone"
        rows = self.rows(self.against(older, "--threshold", "1000%"))
        self.assertEqual(rows["renamed", name]["note"],
                         "missing: in old.json, but not measured now")
        self.assertEqual(rows["select-point", "gone"]["note"],
                         "missing: in old.json, but not measured now")
        self.assertEqual(rows["update-point", name]["note"], "not comparable: not in old.json")
        self.assertEqual(rows["select-point", name]["verdict"], "no difference shown")

    def test_a_lost_round_and_zero_samples_are_no_verdict(self):
        name = self.result["engines"][1]["name"]
        older = copy.deepcopy(self.result)
        runs = older["engines"][1]["runs"]
        runs.remove(next(run for run in runs if (run["case"], run["round"]) == (0, 2)))
        script = next(run for run in runs if run["case"] == 1)["scripts"][0]
        script["ok"] = script["attempted"] = 0
        script["latency"] = None
        rows = self.rows(self.against(older))
        for label in WORKLOADS:
            self.assertIsNone(rows[label, name]["verdict"])
            self.assertRegex(rows[label, name]["note"], "^not comparable: it or ")


class Gate(CompareTest):
    def test_one_command_is_a_gate(self):
        """null does nothing in no time: SQLite is slower by far more than any threshold."""
        engines = f"null,{self.sqlite()}"
        result = self.compare("--baseline-engine", "null", "--threshold", "100%", engines=engines,
                              status=1)
        self.assertGreaterEqual(result["comparison"]["slower"], 2)
        self.assertAlmostEqual(result["comparison"]["threshold"], 1)
        result = self.compare("--baseline-engine", self.sqlite(), "--threshold", "100%",
                              engines=engines)
        self.assertEqual(result["comparison"]["slower"], 0)
        self.assertIn("No row is shown to be slower by more than the noise and 100.0 %",
                      self.done.stdout)


def burn(event):
    while not event.is_set():
        pass


class Disturbed(CompareTest):
    def test_a_disturbed_round_is_repeated_once_and_stays_in_the_result(self):
        """Others take the processor all the time: every round is disturbed, so is every repeat."""
        context = multiprocessing.get_context("fork")
        event = context.Event()
        burners = [context.Process(target=burn, args=(event,)) for _ in range(os.cpu_count())]
        for burner in burners:
            burner.start()
        try:
            process = self.start("compare", "--suites", "bench", "--engines", self.two(),
                                 "--workloads", "select-fullscan-agg", "--rows", 2000,
                                 "--min-time", 1, "--runs", 2, "--json", "x.json")
            done = self.finish(process)
        finally:
            event.set()
            for burner in burners:
                burner.join()
        self.assertEqual(done.status, 0, done)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        base, second = result["engines"]
        comparison = result["comparison"]
        self.assertAlmostEqual(comparison["disturbance_max"], 0.05)
        self.assertEqual((comparison["rounds_repeated"], comparison["rounds_disturbed"]), (2, 2))
        self.assertIn("2 rounds were disturbed by the host", done.stderr)
        for engine in (base, second):
            self.assertEqual(self.rounds(engine["runs"], 0), [1, 2])
        why = sorted(run["aside"] for run in base["aside"])
        self.assertEqual(why, ["again"] * 2 + ["disturbed"] * 4)
        self.assertEqual([run["aside"] for run in second["aside"]], ["disturbed"] * 2)
        self.assertEqual(base["summaries"][0]["rounds_ok"], 2)
        text = " ".join(done.stdout.split())
        self.assertIn("measured again because of the host: 2; disturbed ones that are in the "
                      "figures: 2", text)


if __name__ == "__main__":
    unittest.main()
