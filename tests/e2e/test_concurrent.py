"""pitot concurrent from end to end, on a data set of some rows: threads, processes, what each role
did, engines that lock their file, that fail, and limits of the machine."""

import json
import os
import pathlib
import signal
import sqlite3
import sys
import unittest

import pitot_test
from built_engines import CACHE
from pitot_test import PitotTest

OUTCOMES = ("ok", "busy", "conflict", "failed", "skipped", "open")
PROXY = pathlib.Path(__file__).resolve().parent / "proxy_worker.py"
PYTHON_WORKER = pitot_test.SOURCE / "examples" / "worker-python"
ROWS = 50


class ConcurrentTest(PitotTest):
    def words(self, *more, engines=None, rounds=1):
        return ["concurrent", "--engines", engines or self.sqlite(), "--rows", ROWS, "--rounds",
                rounds, "--json", "x.json", *more]

    def concurrent(self, *more, engines=None, rounds=1, status=0, env=None):
        """A short run, its result as JSON."""
        self.done = self.pitot(*self.words(*more, engines=engines, rounds=rounds), status=status,
                               env=env)
        return self.result()

    def result(self):
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        return result

    def proxy(self, fault):
        """An engine behind a worker with that fault; its name."""
        folder = self.folder / "config" / "pitot" / "engines"
        folder.mkdir(parents=True, exist_ok=True)
        manifest = {"name": fault, "summary": "made to fail",
                    "command": [sys.executable, str(PROXY), fault,
                                str(pitot_test.BUILD / "pitot-worker"),
                                pitot_test.system_sqlite()]}
        (folder / f"{fault}.json").write_text(json.dumps(manifest), encoding="utf-8")
        return fault

    @staticmethod
    def runs(result, engine, label):
        case = [case["label"] for case in result["cases"]].index(label)
        return [run for run in result["engines"][engine]["runs"] if run["case"] == case]

    @staticmethod
    def script(run, role):
        return next(script for script in run["scripts"] if script["role"] == role)

    def kept(self):
        """The rows of events in the one copy that was kept, which is removed."""
        (path,) = (self.work / "data").glob("kept-*.db")
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
            rows = database.execute("SELECT worker_id, seq, payload FROM events").fetchall()
        for companion in (self.work / "data").glob("kept-*"):
            companion.unlink()
        return sorted(rows)


class Result(ConcurrentTest):
    def test_a_case_for_each_scenario_and_number(self):
        result = self.concurrent("--threads", "2,1", "--ops", "30", "--warmup", "3", rounds=2,
                                 engines=f"{self.sqlite()},null")
        self.assertEqual([(c["label"], c["scenario"], c["threads"]) for c in result["cases"]],
                         [("write-contention ×2", "write-contention", 2),
                          ("write-contention ×1", "write-contention", 1),
                          ("read-write-mix ×2", "read-write-mix", 2),
                          ("read-write-mix ×1", "read-write-mix", 1)])
        for case in result["cases"]:
            self.assertEqual((case["suite"], case["isolation"], case["operations"],
                              case["duration_ns"]), ("concurrent", "threads", 30, None))
            self.assertEqual(case["variables"], [{"name": "rows", "value": str(ROWS)},
                                                 {"name": "batch", "value": "1"}])
        for engine in range(2):
            for run in self.runs(result, engine, "read-write-mix ×2"):
                self.assertEqual([(c["connection"], c["role"], c["operations"])
                                  for c in run["connections"]],
                                 [(0, "writer", 30), (1, "reader", 30), (2, "reader", 30)])
                self.assertEqual([(s["role"], s["attempted"], s["ok"]) for s in run["scripts"]],
                                 [("writer", 30, 30), ("reader", 60, 60)])
        self.assertEqual(len(result["templates"]), 1)

    def test_the_figures_of_a_role_are_those_of_its_runs(self):
        result = self.concurrent("--threads", "1,3", "--ops", "40", "--warmup", "3", rounds=3,
                                 engines=self.sqlite())
        summaries = dict(zip((case["label"] for case in result["cases"]),
                             result["engines"][0]["summaries"]))
        rates = {}
        for label, summary in summaries.items():
            self.assertEqual([role["role"] for role in summary["roles"]],
                             ["writer"] if label.startswith("write") else ["writer", "reader"])
            for role in summary["roles"]:
                rates[label, role["role"]] = self.check_role(role, self.runs(result, 0, label))
        for label in ("write-contention", "read-write-mix"):
            for role in summaries[f"{label} ×3"]["roles"]:
                name = role["role"]
                ratios = sorted(b / a for a, b in zip(rates[f"{label} ×1", name],
                                                      rates[f"{label} ×3", name]))
                self.check_figure(role["scaling"], ratios)
            for role in summaries[f"{label} ×1"]["roles"]:
                self.assertEqual(role["scaling"], {"median": 1, "min": 1, "max": 1})

    def check_figure(self, figure, values):
        values = sorted(values)
        for key, value in zip(("min", "median", "max"), values):
            self.assertAlmostEqual(figure[key], value, delta=abs(value) * 1e-9)

    def check_role(self, role, runs):
        """Gives the rate of each run."""
        rates, least, most = [], [], []
        for run in runs:
            mine = [c for c in run["connections"] if c["role"] == role["role"]]
            self.assertEqual(role["connections"], len(mine))
            ok = self.script(run, role["role"])["ok"]
            rates.append(ok * 1e9 / max(c["window_ns"] for c in mine))
            own = [c["operations"] * 1e9 / c["window_ns"] for c in mine]
            least.append(min(own))
            most.append(max(own))
        self.check_figure(role["operations_per_second"], rates)
        self.check_figure(role["least_served_per_second"], least)
        self.check_figure(role["most_served_per_second"], most)
        self.check_figure(role["fairness"], [a / b for a, b in zip(least, most)])
        self.assertEqual(role["ok"], sum(self.script(r, role["role"])["ok"] for r in runs))
        self.assertEqual(role["attempted"], sum(role[outcome] for outcome in OUTCOMES))
        return rates

    def test_a_transaction_of_several_inserts(self):
        """25 operations in transactions of 10 are three transactions; a reader does 25."""
        result = self.concurrent("--threads", "2", "--ops", "25", "--batchSize", "10", "--warmup",
                                 "2")
        for label, writers in (("write-contention ×2", 2), ("read-write-mix ×2", 1)):
            (run,) = self.runs(result, 0, label)
            writer = self.script(run, "writer")
            self.assertEqual((writer["attempted"], writer["ok"], writer["operations_each"]),
                             (3 * writers, 3 * writers, 10))
            counts = {c["table"]: c["found"] for c in run["check"]["counts"]}
            self.assertEqual(counts["events"], (3 + 2) * 10 * writers)
            self.assertIsNone(run["check"]["problem"])
        (mix,) = self.runs(result, 0, "read-write-mix ×2")
        self.assertEqual(self.script(mix, "reader")["attempted"], 50)
        rate = result["engines"][0]["summaries"][0]["roles"][0]["operations_per_second"]
        (run,) = self.runs(result, 0, "write-contention ×2")
        window_ns = max(c["window_ns"] for c in run["connections"])
        self.assertAlmostEqual(rate["median"], 60e9 / window_ns, delta=rate["median"] * 1e-9)

    def test_for_a_time(self):
        result = self.concurrent("--threads", "2", "--duration", "100ms", "--warmup", "10ms")
        for case in result["cases"]:
            self.assertEqual((case["duration_ns"], case["warmup_ns"], case["operations"]),
                             (100_000_000, 10_000_000, None))
            (run,) = self.runs(result, 0, case["label"])
            self.assertEqual(run["status"], "ok")
            self.assertGreater(run["window_ns"], 0)

    def test_one_scenario(self):
        result = self.concurrent("--scenario", "read-write-mix", "--threads", "1", "--ops", "5",
                                 "--warmup", "0", "--timeout", "250")
        self.assertEqual([case["label"] for case in result["cases"]], ["read-write-mix ×1"])
        self.assertEqual(result["plan"]["busy_timeout_ms"], 250)

    def test_table_and_csv(self):
        self.concurrent("--threads", "1,2", "--ops", "1200", "--warmup", "3", rounds=2,
                        engines=f"{self.sqlite()},null")
        for shown in (self.done.stdout, self.pitot("report", "x.json").stdout):
            lines = shown.splitlines()
            self.assertIn(["ops/s", "spread", "scaling", "least", "most", "fairness", "CPU/op"],
                          [line.split() for line in lines])
            self.assertIn(["p50", "p99", "p99.9", "busy", "failed", "slept", "off", "CPU"],
                          [line.split() for line in lines])
            for title in ("write-contention ×1, writer: 1 connection",
                          "write-contention ×2, writer: 2 connections",
                          "read-write-mix ×2, writer: 1 connection",
                          "read-write-mix ×2, reader: 2 connections"):
                places = [n for n, line in enumerate(lines) if line == title]
                self.assertEqual(len(places), 2, title)
                for place in places:
                    self.assertTrue(lines[place + 1].startswith("  sqlite="))
                    self.assertTrue(lines[place + 2].startswith("  null "))
                    self.assertNotIn("–", lines[place + 1])
        rows = [line.split(",") for line in
                self.pitot("report", "x.json", "--format", "csv").stdout.splitlines()]
        attempted = {(row[2], row[3]): row[7] for row in rows
                     if row[0].startswith("sqlite=") and row[4] == "" and row[5] == "attempted"}
        self.assertEqual(attempted["write-contention ×2", "writer"], "4800")
        self.assertEqual(attempted["read-write-mix ×2", "reader"], "4800")
        self.assertEqual(attempted["read-write-mix ×2", ""], "7200")


class Processes(ConcurrentTest):
    def test_each_connection_is_a_worker(self):
        process = self.start(*self.words("--isolation", "processes", "--threads", "3",
                                         "--scenario", "write-contention", "--duration", "1",
                                         "--warmup", "5", "-P", "0.1"))
        seen = set()
        for line in process.stderr:
            if b", run " in line:
                workers = [name for name in pitot_test.descendants(process.pid).values()
                           if name == "pitot-worker"]
                seen.add(len(workers))
        process.stdout.read()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertIn(3, seen)
        result = self.result()
        self.assertEqual(result["cases"][0]["isolation"], "processes")
        (run,) = result["engines"][0]["runs"]
        self.check_run(run)

    def check_run(self, run):
        """What the workers said is put together."""
        self.assertEqual(run["status"], "ok")
        self.assertEqual([c["connection"] for c in run["connections"]], [0, 1, 2])
        (script,) = run["scripts"]
        self.assertEqual(sum(c["operations"] for c in run["connections"]), script["ok"])
        self.assertEqual(script["latency"]["count"], script["ok"])
        self.assertEqual(script["attempted"], sum(script[outcome] for outcome in OUTCOMES))
        self.assertEqual(sum(s["operations"][0] for s in run["seconds"]), script["ok"])
        self.assertEqual(run["window_ns"], max(c["window_ns"] for c in run["connections"]))
        self.assertGreaterEqual(run["cpu_user_ns"] + run["cpu_system_ns"],
                                sum(c["cpu_ns"] for c in run["connections"]) * 0.5)
        self.assertEqual(run["check"]["integrity"], ["ok"])
        self.assertIsNone(run["check"]["problem"])

    def test_the_same_work_as_by_threads(self):
        """The numbers of connections, and what they draw, do not depend on who serves them."""
        rows = {}
        for isolation in ("threads", "processes"):
            self.concurrent("--isolation", isolation, "--threads", "3", "--scenario",
                            "write-contention", "--ops", "20", "--warmup", "0", "--keep")
            rows[isolation] = self.kept()
        self.assertEqual(rows["threads"], rows["processes"])
        self.assertEqual({row[0] for row in rows["processes"]}, {0, 1, 2})
        self.assertEqual(len(rows["processes"]), 60)

    def test_roles_and_batches(self):
        result = self.concurrent("--isolation", "processes", "--threads", "2", "--scenario",
                                 "read-write-mix", "--ops", "25", "--batchSize", "10", "--warmup",
                                 "2", rounds=2)
        for run in result["engines"][0]["runs"]:
            self.assertEqual([(c["connection"], c["role"]) for c in run["connections"]],
                             [(0, "writer"), (1, "reader"), (2, "reader")])
            self.assertEqual([(s["role"], s["attempted"], s["operations_each"])
                              for s in run["scripts"]], [("writer", 3, 10), ("reader", 50, 1)])
            self.assertEqual(run["warmup_operations"], 6)
        self.assertIn("each connection in a process of its own",
                      " ".join(self.done.stdout.split()))

    def test_at_a_rate(self):
        result = self.concurrent("--isolation", "processes", "--threads", "3", "--scenario",
                                 "write-contention", "--rate", "300", "--duration", "0.5",
                                 "--warmup", "5")
        (run,) = result["engines"][0]["runs"]
        offered = [c["offered"] for c in run["connections"]]
        # 50 each on average: one that took the rate of all for its own would be offered 150.
        self.assertTrue(all(10 < count < 110 for count in offered), offered)
        (script,) = run["scripts"]
        self.assertEqual(sum(offered) - sum(c["unstarted"] for c in run["connections"]),
                         script["attempted"])
        self.assertEqual(script["lag"]["count"], script["ok"])
        self.assertEqual(script["service"]["count"], script["ok"])

    def test_a_worker_in_another_language(self):
        result = self.concurrent("--isolation", "processes", "--threads", "3", "--ops", "20",
                                 "--warmup", "2", engines="python",
                                 env={"PITOT_ENGINES": PYTHON_WORKER})
        for run in result["engines"][0]["runs"]:
            self.assertEqual((run["status"], run["check"]["problem"]), ("ok", None))

    def test_ended_early(self):
        process = self.start(*self.words("--isolation", "processes", "--threads", "3",
                                         "--duration", "60", "--warmup", "5", "-P", "0.1"))
        for line in process.stderr:
            if b", run " in line:
                break
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.stderr.read()
        self.assertEqual(process.wait(timeout=60), 130)
        result = self.result()
        self.assertTrue(result["partial"])
        (run,) = result["engines"][0]["runs"]
        self.assertEqual(run["status"], "partial")
        self.assertEqual(len(run["connections"]), 3)
        self.check_no_process()


class Exclusive(ConcurrentTest):
    """An engine that locks its file for one process."""

    def check_left_out(self, result, engine):
        self.assertEqual((engine["status"], engine["error"]), ("ok", None))
        alone, several = engine["summaries"]
        self.assertEqual((alone["status"], alone["error"]), ("ok", None))
        self.assertEqual(several["status"], "unable")
        self.assertIn("no second process", several["error"])
        self.assertEqual([run["case"] for run in engine["runs"]], [0])
        warnings = [w["text"] for w in result["warnings"] if w["subject"] == engine["name"]]
        self.assertTrue(any("no second process" in text for text in warnings), warnings)
        self.assertRegex(self.done.stdout,
                         rf"(?m)^  {engine['name']} \(unable\): lets no second process open the file$")

    def test_it_is_told_and_the_others_go_on(self):
        result = self.concurrent("--isolation", "processes", "--threads", "1,2", "--scenario",
                                 "write-contention", "--ops", "10", "--warmup", "0",
                                 engines=f"{self.sqlite()},{self.proxy('exclusive')}")
        sound, locked = result["engines"]
        self.assertEqual([s["status"] for s in sound["summaries"]], ["ok", "ok"])
        self.check_left_out(result, locked)
        self.assertIn("another process has it", locked["summaries"][1]["error"])
        self.pitot("report", "x.json")

    def test_a_comparison_says_it_in_the_same_word(self):
        result = self.concurrent("--isolation", "processes", "--threads", "2", "--scenario",
                                 "write-contention", "--ops", "10", "--warmup", "0", rounds=3,
                                 engines=f"{self.sqlite()},{self.proxy('exclusive')}")
        for table in result["comparison"]["tables"]:
            (row,) = table["rows"]
            cell, mean = row["cells"][1], table["geometric_means"][1]
            self.assertEqual((cell["verdict"], mean["verdict"], mean["note"]),
                             (None, None, "unable"))
            self.assertTrue(cell["note"].startswith("unable: it lets no second process"), cell)
        self.assertEqual(sum(line.split()[:1] == ["exclusive"] and line.endswith(" unable")
                             for line in self.done.stdout.splitlines()), 3)
        formats = {name: self.pitot("report", "x.json", "--format", name).stdout
                   for name in ("csv", "markdown")}
        for metric in ("throughput", "p99", "cpu"):
            self.assertRegex(formats["csv"], rf"(?m)^exclusive,.*,{metric}_ratio_verdict,-1 to 1,,,,"
                                             r'"?unable: it lets no second process')
        self.assertEqual(formats["markdown"].count("| &emsp;exclusive | – | – | – | – | – | unable |"),
                         3)
        for text in (self.done.stdout, *formats.values()):
            self.assertNotIn("missing", text)

    def test_threads_of_one_process_are_no_problem(self):
        result = self.concurrent("--threads", "2", "--ops", "10", "--warmup", "0",
                                 engines=self.proxy("exclusive"))
        self.assertEqual([s["status"] for s in result["engines"][0]["summaries"]], ["ok", "ok"])

    def test_with_nothing_else_there_is_nothing_to_measure(self):
        done = self.pitot(*self.words("--isolation", "processes", "--threads", "2", "--ops", "10",
                                      engines=self.proxy("exclusive")), status=3)
        self.assertIn("no engine is left: exclusive: it lets no second process open", done.stderr)
        self.assertFalse((self.work / "x.json").exists())

    def test_turso(self):
        library = CACHE / "turso@0.8.3"
        if not library.exists():
            self.skipTest("Turso is not built: make turso")
        engines = self.folder / "cache" / "pitot" / "engines"
        engines.mkdir(parents=True)
        os.symlink(library, engines / library.name)
        result = self.concurrent("--isolation", "processes", "--threads", "1,2", "--scenario",
                                 "write-contention", "--ops", "10", "--warmup", "0",
                                 engines=f"{self.sqlite()},turso")
        self.check_left_out(result, result["engines"][1])


class Failures(ConcurrentTest):
    def test_a_worker_that_dies_ends_the_run_of_its_engine(self):
        result = self.concurrent("--isolation", "processes", "--threads", "3", "--scenario",
                                 "write-contention", "--ops", "10", "--warmup", "0", rounds=2,
                                 engines=f"{self.sqlite()},{self.proxy('crash-1')}", status=1)
        sound, broken = result["engines"]
        self.assertEqual((sound["status"], len(sound["runs"])), ("ok", 2))
        self.assertEqual(broken["status"], "failed")
        (run,) = broken["runs"]
        self.assertEqual(run["status"], "failed")
        self.assertRegex(run["error"], r"^connection 1: the worker of crash-1 .*signal 6")
        self.assertEqual(run["scripts"], [])
        self.assertRegex(self.done.stdout, r"(?m)^  crash-1 \(failed\) +–")

    def test_every_engine_does_exactly_as_much(self):
        result = self.concurrent("--threads", "2", "--scenario", "write-contention", "--ops", "10",
                                 "--warmup", "0",
                                 engines=f"{self.sqlite()},{self.proxy('one-more')}", status=1)
        self.assertIn("role writer: 21 executions, the job asked for 10 of each of 2 connections",
                      result["engines"][1]["error"])

    def limited(self, limit, *more):
        """Under a limit of open files: the case with one connection goes well."""
        words = self.words("--threads", "1,40", "--scenario", "write-contention", "--ops", "5",
                           "--warmup", "0", *more)
        done = self.run_command("prlimit", f"--nofile={limit}", pitot_test.BUILD / "pitot", *words)
        self.assertEqual(done.status, 1, done)
        self.assertEqual(pitot_test.output_faults(done.stdout + done.stderr), [], done)
        self.check_no_process()
        engine = self.result()["engines"][0]
        self.assertEqual([s["status"] for s in engine["summaries"]], ["ok", "failed"])
        return engine["summaries"][1]["error"]

    def test_too_few_descriptors_for_processes(self):
        error = self.limited(60, "--isolation", "processes")
        self.assertRegex(error, r"could start \d+ of 40 workers: .*ulimit -n: 60.*Too many open")

    def test_too_few_descriptors_for_threads(self):
        error = self.limited(60)
        self.assertRegex(error, r"could open \d+ of 40 connections, .*\(ulimit -n: 60\)")

    def test_ten_thousand_connections(self):
        """More than this machine has files or threads for, within some limits."""
        words = self.words("--threads", "10000", "--scenario", "write-contention", "--ops", "5",
                           "--warmup", "0")
        done = self.run_command("prlimit", "--nofile=2000", pitot_test.BUILD / "pitot", *words)
        self.assertEqual(done.status, 3, done)
        self.assertRegex(done.stderr, r"could (start|open) \d+ of 10000 ")
        self.check_no_process()


if __name__ == "__main__":
    unittest.main()
