"""docs/findings.md is what `make findings` makes of the stored results, and these are results."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import jsonschema

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Findings(unittest.TestCase):
    def setUp(self):
        self.tree = pathlib.Path(tempfile.mkdtemp(prefix="pitot-findings-test-"))
        self.addCleanup(shutil.rmtree, self.tree)
        (self.tree / "scripts").mkdir()
        shutil.copy(SOURCE / "scripts" / "findings", self.tree / "scripts")
        shutil.copytree(SOURCE / "docs" / "findings", self.tree / "docs" / "findings")

    def write(self):
        return subprocess.run([self.tree / "scripts" / "findings", "write"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_no_figure_was_typed_by_hand(self):
        done = self.write()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.tree / "docs" / "findings.md").read_text(encoding="utf-8"),
                         (SOURCE / "docs" / "findings.md").read_text(encoding="utf-8"),
                         "make findings writes it anew")

    def test_what_is_stored_are_results(self):
        schema = json.loads((SOURCE / "docs" / "result.schema.json").read_text(encoding="utf-8"))
        validator = jsonschema.validators.validator_for(schema)(schema)
        names = sorted(path.name for path in (self.tree / "docs" / "findings").iterdir())
        names.remove("syncs.json")
        self.assertGreaterEqual(len(names), 5)
        for name in names:
            stored = json.loads((self.tree / "docs" / "findings" / name).read_text())
            self.assertEqual([error.message for error in validator.iter_errors(stored)], [], name)
            self.assertFalse(stored["partial"], name)

    def at_rate(self, unstarted):
        """The answer when so many of each connection's 1,000 executions never began."""
        path = self.tree / "docs" / "findings" / "tail-at-rate.json"
        stored = json.loads(path.read_text())
        for run in stored["engines"][1]["runs"]:
            for connection in run["connections"]:
                connection["offered"], connection["unstarted"] = 1000, unstarted
        table = next(t for t in stored["comparison"]["tables"] if t["metric"] == "p99")
        table["rows"][0]["cells"][1].update(verdict="slower", note=None, ratio=2, ratio_low=1.5,
                                            ratio_high=3)
        path.write_text(json.dumps(stored))
        self.assertEqual(self.write().returncode, 0)
        page = (self.tree / "docs" / "findings.md").read_text(encoding="utf-8")
        return next(line for line in page.splitlines() if "At equal rate: " in line)

    def test_no_ratio_of_tails_is_claimed_of_an_engine_that_fell_behind(self):
        self.assertIn("the p99 of turso is 2.00 times (1.50 to 3.00) that of sqlite: slower.",
                      self.at_rate(10))
        behind = self.at_rate(11)
        self.assertIn("turso did not keep up with the rate (in a round 1.1 % of what was due never",
                      behind)
        self.assertNotIn("slower", behind)

    def test_known_faults_stand_beside_the_counts_of_syncs(self):
        for path in (self.tree / "docs" / "findings").iterdir():
            stored = json.loads(path.read_text())
            for engine in stored.get("engines", []):
                engine["known_faults"] = ["it forgets"] if engine["name"] == "turso" else []
            path.write_text(json.dumps(stored))
        self.write()
        page = (self.tree / "docs" / "findings.md").read_text(encoding="utf-8")
        self.assertEqual([line for line in page.splitlines() if "it forgets" in line],
                         ["* turso 0.8.3: it forgets."])

    def test_a_result_that_is_missing_is_named(self):
        (self.tree / "docs" / "findings" / "api.json").unlink()
        done = self.write()
        self.assertEqual(done.returncode, 1)
        self.assertIn("api.json is missing: scripts/findings measure api", done.stderr)
        self.assertFalse((self.tree / "docs" / "findings.md").exists())


if __name__ == "__main__":
    unittest.main()
