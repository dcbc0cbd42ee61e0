"""The engine of the tests that is SQLite plus a slowdown (tests/engines/slow-sqlite.c): right in its
answers, and slower by what its file name says. That `pitot compare` finds 5 % of it is for
`make bench-statistics`; here amounts are so large, or bounded by so much, that no host hides them."""

import shutil
import unittest

import pitot_test
from pitot_test import PitotTest

LIBRARY = pitot_test.BUILD / "bench" / "slow-sqlite.so"


class SlowTest(PitotTest):
    def setUp(self):
        super().setUp()
        self.workload = self.copy_workload("prod")
        self.change_suite(self.workload, self.change)

    @staticmethod
    def change(suite):
        suite["scales"] = {"tiny": {"users": 200, "orders_per_user": 4, "orders": 800}}

    def slow(self, name):
        """The library under the name that makes it so, as --engines takes it."""
        path = self.work / f"slow-{name}.so"
        shutil.copyfile(LIBRARY, path)
        return f"sqlite={path}"

    def test_answers_are_right(self):
        names = ("percent-0", "percent-5", "every-50", "unknown")
        engines = ",".join(self.slow(name) for name in names)
        self.pitot("verify", "--workload", self.workload, "--engines", engines, "--operations",
                   "100", "--json", "v.json")
        result = self.read_json("v.json")
        self.assertEqual([engine["status"] for engine in result["engines"]], ["ok"] * len(names))

    def measure(self, *names):
        """By name: the run's script user_by_id on one connection, and the median of its latency."""
        for path in self.workload.glob("*.sql"):
            if path.name not in ("schema.sql", "load.sql", "user_by_id.sql"):
                path.unlink()

        def only(suite):
            suite["scripts"] = [s for s in suite["scripts"] if s["name"] == "user_by_id"]

        self.change_suite(self.workload, only)
        self.pitot("prod", "--workload", self.workload, "--engines",
                   ",".join(self.slow(name) for name in names), "--rounds", "1", "--threads", "1",
                   "--duration", "0.3", "--warmup", "100", "--latency-limit", "1ms", "--check",
                   "counts", "--json", "x.json")
        found = {}
        for name, row in zip(names, self.read_json("x.json")["engines"]):
            summary = row["summaries"][0]["scripts"][0]
            found[name] = (row["runs"][0]["scripts"][0], summary["points_ns"]["p50"]["median"])
        return found

    def test_every_50th_execution_takes_a_millisecond_more(self):
        script, _ = self.measure("every-50")["every-50"]
        self.assertGreater(script["ok"], 50)
        # At least one in 50, whatever came before; the host may have added slow ones of its own.
        self.assertGreaterEqual(script["slow"], script["ok"] // 50)

    def test_every_execution_takes_a_share_more(self):
        # 900 % is a factor of 10.
        found = self.measure("percent-0", "percent-900")
        self.assertGreater(found["percent-900"][1], 3 * found["percent-0"][1])


if __name__ == "__main__":
    unittest.main()
