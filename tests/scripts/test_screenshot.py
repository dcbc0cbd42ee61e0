"""scripts/screenshot says what it lacks, and the picture that README shows is small."""

import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "screenshot"
# All that it calls before it looks for what may be missing.
TOOLS = ("bash", "dirname", "readlink", "sed")


class Screenshot(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pitot-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.result = self.folder / "result.json"
        self.result.write_text("{}", encoding="utf-8")
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))

    def stand_in(self, name):
        path = self.bin / name
        path.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def run_it(self, *words, pitot="no-such-pitot"):
        return subprocess.run(
            [SCRIPT, *words], env={"PATH": str(self.bin), "HOME": str(self.folder),
                                   "PITOT": str(self.folder / pitot)},
            cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
            check=False)

    def check_refused(self, done, status, said):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, rf"^screenshot: .*{said}")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertFalse((self.folder / "out.png").exists())

    def test_wrong_words(self):
        for words in ((), (self.result,), (self.result, "out.png", "more")):
            self.check_refused(self.run_it(*words), 2, f"found {len(words)} words")
        self.check_refused(self.run_it("missing.json", "out.png"), 2, "missing.json: no such file")

    def test_what_it_needs_is_named(self):
        self.check_refused(self.run_it(self.result, "out.png"), 3, "no-such-pitot is not there")
        pitot = self.stand_in("pitot").relative_to(self.folder)
        self.check_refused(self.run_it(self.result, "out.png", pitot=pitot), 3, "needs Chromium")
        self.stand_in("chromium")
        self.check_refused(self.run_it(self.result, "out.png", pitot=pitot), 3, "needs pngquant")

    def test_help(self):
        done = self.run_it("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("scripts/screenshot RESULT.json OUT.png", done.stdout)


class Picture(unittest.TestCase):
    def test_it_is_small_and_has_a_palette(self):
        self.assertIn("](docs/report.png)", (ROOT / "README.md").read_text(encoding="utf-8"))
        picture = (ROOT / "docs" / "report.png").read_bytes()
        self.assertLessEqual(len(picture), 200_000)
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        width, height, _, colour_type = struct.unpack(">IIBB", picture[16:26])
        self.assertEqual(colour_type, 3)
        self.assertGreater(min(width, height), 600)


if __name__ == "__main__":
    unittest.main()
