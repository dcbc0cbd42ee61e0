"""libpitot's tests once more with the newest SQLite, the one that the engine `sqlite` is built from: the
programs are linked with the system's library, and LD_LIBRARY_PATH puts the other in its place."""

import os
import pathlib
import subprocess
import unittest

from built_engines import CACHE

PROGRAMS = pathlib.Path(os.environ["PITOT_BUILD_FOLDER"]) / "tests"
LIBRARY = CACHE / "sqlite" / "libsqlite3.so.0"


@unittest.skipUnless(LIBRARY.exists(), f"no {LIBRARY}; scripts/build-engine-sqlite makes it")
class NewestSqlite(unittest.TestCase):
    def test_all(self):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(LIBRARY.parent)}
        programs = sorted(PROGRAMS.glob("lib_test_*"))
        self.assertGreater(len(programs), 5)
        for program in programs:
            with self.subTest(program=program.name):
                linked = subprocess.run(
                    ["ldd", program], env=environment, capture_output=True, text=True, check=True
                ).stdout
                if "libsqlite3" in linked:
                    self.assertIn(f"=> {LIBRARY}", linked)
                done = subprocess.run(
                    [program],
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    timeout=300,
                    check=False,
                )
                self.assertEqual(done.returncode, 0, done.stdout[-4000:])


if __name__ == "__main__":
    unittest.main()
