"""The folder of caches is found by all build scripts in the same way as by pitot."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
BUILDERS = sorted(path.name for path in SCRIPTS.glob("build-*"))


class Caches(unittest.TestCase):
    def test_there_are_builders(self):
        self.assertIn("build-page", BUILDERS)
        self.assertIn("build-engine-sqlite", BUILDERS)

    def test_no_absolute_path_is_refused(self):
        with tempfile.TemporaryDirectory(prefix="pitot-test-") as folder:
            for name in BUILDERS:
                for changes in ({}, {"HOME": ""}, {"HOME": "home", "XDG_CACHE_HOME": "cache"}):
                    done = subprocess.run(
                        [SCRIPTS / name], env={"PATH": "/usr/local/bin:/usr/bin:/bin", **changes},
                        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                        timeout=60, check=False)
                    self.assertEqual(done.returncode, 1, name)
                    self.assertEqual(done.stderr, f"{name}: neither XDG_CACHE_HOME nor HOME is an "
                                                  "absolute path: set one of them\n")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
