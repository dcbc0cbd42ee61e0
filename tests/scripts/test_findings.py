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

    def test_a_result_that_is_missing_is_named(self):
        (self.tree / "docs" / "findings" / "api.json").unlink()
        done = self.write()
        self.assertEqual(done.returncode, 1)
        self.assertIn("api.json is missing: scripts/findings measure api", done.stderr)
        self.assertFalse((self.tree / "docs" / "findings.md").exists())


if __name__ == "__main__":
    unittest.main()
