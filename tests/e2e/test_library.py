"""libpitot as it is built and installed: what it exports, and that it can be linked."""

import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["PITOT_BUILD_FOLDER"])


def run(*command):
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=True, timeout=120
    ).stdout


class SymbolsTest(unittest.TestCase):
    def setUp(self):
        self.listed = (SOURCE / "lib" / "symbols").read_text().split()

    def test_the_list_is_sorted(self):
        self.assertEqual(self.listed, sorted(set(self.listed)))

    def test_the_shared_library_exports_the_list(self):
        lines = run("nm", "-D", "--defined-only", BUILD / "libpitot.so").splitlines()
        names = [line.split()[-1] for line in lines if " A " not in line]
        self.assertEqual(sorted(names), [f"{name}@@PITOT_0" for name in self.listed])

    def test_the_static_library_shows_the_list(self):
        output = run("nm", "-g", "--defined-only", BUILD / "libpitot.a")
        names = [line.split()[-1] for line in output.splitlines() if len(line.split()) == 3]
        # What the sanitizers mark each file with is not ours.
        names = [name for name in names if not name.startswith("__")]
        self.assertEqual(sorted(names), self.listed)

    def test_the_header_declares_the_list(self):
        text = (SOURCE / "include" / "pitot.h").read_text()
        declared = re.findall(r"^PITOT_API [^;(]*?\b(pitot_\w+)\(", text, re.MULTILINE)
        self.assertEqual(sorted(declared), self.listed)

    def test_the_name_that_programs_ask_for(self):
        self.assertIn("[libpitot.so.0]", run("readelf", "-d", BUILD / "libpitot.so"))


if __name__ == "__main__":
    unittest.main()
