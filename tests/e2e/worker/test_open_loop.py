"""An open loop in the worker: what is due begins, what does not begin is counted, and a latency is
its lag and its service time. Each test runs on pitot-worker and on the example in Python, which
must be asked for the same operations at the same moments."""

import pathlib
import sqlite3
import sys
import tempfile
import unittest

from worker_client import Worker, find_sqlite, names, run, run_job, script, statement

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "worker-python"
sys.dont_write_bytecode = True
sys.path.insert(0, str(EXAMPLE))

import scripts  # noqa: E402

READ = script("read", names(), [statement("SELECT 1")], [run(0)])
# Half a second of work, more than a deadline away.
SLOW = script("slow", names(), [statement(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) "
    "SELECT max(i) FROM n")], [run(0)])


def arrivals(line, number, until_ns):
    """How many operations a connection is asked for before that moment after go."""
    mean_ns = line["connections_total"] * 1e9 / line["rate"]
    return scripts.Pace(line["seed"], number, mean_ns, 0).backlog(until_ns)


class Case:
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pitot-test-")
        self.addCleanup(folder.cleanup)
        self.database = str(pathlib.Path(folder.name) / "x.db")
        sqlite3.connect(self.database).execute("CREATE TABLE t(a)").connection.close()

    def job(self, *trees, **more):
        return run_job(self.database, list(trees), warmup={"operations": 0}, **more)

    def result(self, line, stop=False):
        with self.worker() as worker:
            self.assertIn("rate", worker.expect("hello")["capabilities"])
            worker.send(line)
            worker.expect("ready")
            worker.go()
            if stop:
                worker.stop()
            result = worker.expect("result")
            self.assertEqual(worker.ended(), 0, worker.log())
        return result

    def check(self, line, result):
        """What holds in every open loop."""
        begun = 0
        for connection in result["connections"]:
            self.assertLessEqual(connection["unstarted"], connection["offered"])
            begun += connection["offered"] - connection["unstarted"]
        self.assertEqual(begun, sum(entry["attempted"] for entry in result["scripts"]))
        for entry in result["scripts"]:
            parts = [entry[key] for key in ("latency", "service", "lag")]
            self.assertEqual([part["count"] for part in parts], [entry["ok"]] * 3)
            for part in parts:
                self.assertEqual(sum(count for _, count in part["buckets"]), entry["ok"])
            self.assertEqual(parts[0]["sum"], parts[1]["sum"] + parts[2]["sum"])
            # Attempts that did not end well have a service time, but no latency.
            self.assertGreaterEqual(entry["time_ns"], parts[1]["sum"])

    def test_what_is_due_before_the_deadline(self):
        line = self.job(READ, dict(READ, name="other"), connections=3, rate=300.5,
                        duration_ns=400_000_000)
        result = self.result(line)
        self.check(line, result)
        for number, connection in enumerate(result["connections"]):
            self.assertEqual(connection["offered"], arrivals(line, number, 400_000_000))
            self.assertGreaterEqual(connection["ended_ns"], result["started_ns"] + 400_000_000)
        self.assertGreaterEqual(result["ended_ns"], result["started_ns"] + 400_000_000)

    def test_connections_of_other_workers_have_their_share(self):
        line = self.job(READ, connections=2, rate=1000, duration_ns=300_000_000)
        line.update(first_connection=3, connections_total=10)
        result = self.result(line)
        self.check(line, result)
        for number, connection in enumerate(result["connections"], 3):
            self.assertEqual(connection["offered"], arrivals(line, number, 300_000_000))

    def test_so_many_operations(self):
        line = self.job(READ, rate=5000, operations=40)
        result = self.result(line)
        self.check(line, result)
        self.assertEqual(result["scripts"][0]["ok"], 80)
        for connection in result["connections"]:
            self.assertEqual(connection["offered"] - connection["unstarted"], 40)

    def test_a_rate_that_is_too_high(self):
        line = self.job(READ, rate=1e8, duration_ns=100_000_000)
        result = self.result(line)
        self.check(line, result)
        entry = result["scripts"][0]
        offered = sum(connection["offered"] for connection in result["connections"])
        unstarted = sum(connection["unstarted"] for connection in result["connections"])
        self.assertLess(abs(offered - 1e7), 1e7 * 0.01)  # the rest of a backlog is estimated
        self.assertGreater(unstarted, offered / 2)
        # The queue grows until the end: most of a latency is lag.
        self.assertGreater(entry["lag"]["sum"], entry["latency"]["sum"] * 0.9)

    def test_what_waits_behind_a_long_operation(self):
        line = self.job(SLOW, connections=1, rate=200, duration_ns=200_000_000,
                        grace_ns=10_000_000)
        result = self.result(line)
        self.check(line, result)
        entry, connection = result["scripts"][0], result["connections"][0]
        self.assertEqual((entry["attempted"], entry["open"]), (1, 1))
        self.assertEqual(connection["offered"], arrivals(line, 0, 200_000_000))
        self.assertEqual(connection["unstarted"], connection["offered"] - 1)

    def test_stop_ends_a_long_wait(self):
        line = self.job(READ, rate=0.001, duration_ns=600_000_000_000)
        result = self.result(line, stop=True)
        self.check(line, result)
        self.assertTrue(result["partial"])
        self.assertEqual([c["offered"] for c in result["connections"]], [0, 0])

    def test_a_closed_loop_says_nothing_of_it(self):
        for more in ({}, {"rate": None}):
            result = self.result(self.job(READ, **more))
            self.assertFalse({"service", "lag"} & set(result["scripts"][0]))
            self.assertFalse({"offered", "unstarted"} & set(result["connections"][0]))


@unittest.skipIf(find_sqlite() is None, "no libsqlite3 on this machine")
class InC(Case, unittest.TestCase):
    def worker(self):
        return Worker("--engine", "sqlite", "--driver", "sqlite", "--library", find_sqlite())

    def test_rates_that_are_none(self):
        for rate in (0, -5, 1e12, "70%", []):
            with self.subTest(rate=rate), self.worker() as worker:
                worker.expect("hello")
                worker.send(self.job(READ, rate=rate))
                error = worker.expect("error")
                self.assertEqual((error["phase"], worker.ended()), ("job", 1))
                self.assertIn("rate", error["message"])

    def test_stop_before_go(self):
        with self.worker() as worker:
            worker.expect("hello")
            worker.send(self.job(READ, rate=1000, duration_ns=600_000_000_000))
            worker.expect("ready")
            worker.stop()
            result = worker.expect("result")
            self.assertEqual(worker.ended(), 0)
        self.assertEqual([(c["offered"], c["unstarted"]) for c in result["connections"]],
                         [(0, 0)] * 2)
        self.assertEqual(result["scripts"][0]["lag"]["count"], 0)


class InPython(Case, unittest.TestCase):
    def worker(self):
        return Worker("--engine", "python", program=(sys.executable, "-B", EXAMPLE / "worker.py"))


if __name__ == "__main__":
    unittest.main()
