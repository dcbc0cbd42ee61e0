"""Out of memory in the coordinator: a message and a status, never a crash, and never a result that
lacks something and passes for whole."""

import collections
import os
import random
import unittest

import pitot_test
from test_prod import ProdTest

LIBRARY = pitot_test.BUILD / "tests" / "failing_malloc.so"
# More in `PITOT_MEMORY_RUNS=2000 tests/e2e/test_memory.py`.
RUNS = int(os.environ.get("PITOT_MEMORY_RUNS", "120"))


@unittest.skipIf(pitot_test.SANITIZED, "sanitizers bring an allocator of their own")
class Memory(ProdTest):
    def setUp(self):
        super().setUp()
        if not LIBRARY.is_file():
            self.skipTest(f"{LIBRARY} is not built")

    def failing(self, number, every, *arguments):
        """Runs pitot with the number-th allocation failing, or with all from there on."""
        return self.run_command(
            pitot_test.BUILD / "pitot", *arguments,
            env={"LD_PRELOAD": LIBRARY, "PITOT_FAIL_AT": number,
                 "PITOT_FAIL_ALL": "1" if every else None})

    def count(self, *arguments):
        """How many allocations a run makes."""
        file = self.work / "count"
        done = self.run_command(pitot_test.BUILD / "pitot", *arguments,
                                env={"LD_PRELOAD": LIBRARY, "PITOT_FAIL_COUNT": file})
        self.assertEqual(done.status, 0, done)
        return int(file.read_text())

    def chosen(self, total, runs):
        """`runs` numbers, one at random in each of as many parts: no number is never tried."""
        step = total / runs
        return sorted({1 + int(step * (part + random.random())) for part in range(runs)})

    def check_sweep(self, runs, arguments, check):
        total = self.count(*arguments)
        statuses = collections.Counter()
        for number in self.chosen(total, runs):
            for every in (False, True):
                with self.subTest(number=number, of=total, every=every):
                    done = self.failing(number, every, *arguments)
                    statuses[done.status] += 1
                    self.assertIn(done.status, (0, 1, 3), done)
                    self.assertEqual(pitot_test.output_faults(done.stderr), [], done)
                    if done.status != 0:
                        self.assertIn("memory", done.stderr)
                    self.check_no_process()
                    check(done)
        self.assertGreater(statuses[3], 0)

    def test_prod(self):
        path = self.work / "x.json"

        def check(done):
            if path.exists():
                pitot_test.strict_json(path.read_text(encoding="utf-8"))
                path.unlink()
            elif done.status == 0:
                self.fail(f"no JSON: {done}")
            names = self.data_files() if (self.work / "data").exists() else []
            self.assertLessEqual(set(names), {"template.lock"})

        self.check_sweep(RUNS, self.short("--json", "x.json", engines="null", duration=0.02), check)

    def test_prod_with_a_database(self):
        def check(_):
            names = self.data_files() if (self.work / "data").exists() else []
            self.assertEqual([n for n in names if n.startswith("pitot-")], [])
            self.assertIn(len([n for n in names if n.startswith("template-")]), (0, 2), names)

        self.check_sweep(RUNS // 4, self.short("--fresh", duration=0.02), check)

    def test_report(self):
        """An allocation that fails must not leave a word out of what is shown."""
        self.measure(engines="null")
        for form in ("json", "table", "csv"):
            arguments = ("report", "x.json", "--format", form)
            whole = self.pitot(*arguments).stdout

            def check(done, whole=whole):
                if done.status == 0:
                    self.assertEqual(done.stdout, whole)

            self.check_sweep(2 * RUNS, arguments, check)


if __name__ == "__main__":
    unittest.main()
