"""libpitot as it is built and installed: what it exports, and that programs can be built with it."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
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


class InstalledTest(unittest.TestCase):
    """The program of docs/library.md, built against the installed library."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", "library")
        text = (SOURCE / "docs" / "library.md").read_text()
        (cls.folder / "files.c").write_text(text.split("```c\n")[1].split("```")[0])
        cls.listed = cls.folder / "listed"
        cls.listed.mkdir()
        (cls.listed / "small").write_text("x")
        (cls.listed / "large").write_text("x" * 1000)

    def start(self, program, **environment):
        process = subprocess.Popen(
            [program, self.folder / f"{program.name}.db", self.listed],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.addCleanup(process.kill)
        lines = []
        while not any(" small" in line for line in lines):
            line = process.stdout.readline()
            self.assertNotEqual(line, "", process.stderr.read() if line == "" else "")
            lines.append(line)
        rest, errors = process.communicate("end\n", timeout=60)
        self.assertEqual((process.returncode, errors), (0, ""))
        return "".join(lines) + rest

    def check(self, output):
        self.assertRegex(output, r"\Apass 1\n")
        self.assertRegex(output, r"(?m)^      1000  large$")

    def test_through_pkg_config(self):
        environment = {
            **os.environ,
            "PKG_CONFIG_PATH": str(next(self.prefix.rglob("pkgconfig"))),
        }
        flags = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "pitot"],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        ).stdout.split()
        program = self.folder / "files-pkg-config"
        run("cc", "-Wall", "-Wextra", "-Werror", "-o", program, self.folder / "files.c", *flags)
        library = next(self.prefix.rglob("libpitot.so.0")).parent
        self.check(self.start(program, LD_LIBRARY_PATH=str(library)))

    def test_through_cmake(self):
        tree = self.folder / "cmake"
        tree.mkdir()
        shutil.copy(self.folder / "files.c", tree)
        (tree / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(files C)\n"
            "find_package(pitot 0.1 REQUIRED)\n"
            "add_executable(files-shared files.c)\n"
            "target_link_libraries(files-shared pitot::pitot)\n"
            "add_executable(files-static files.c)\n"
            "target_link_libraries(files-static pitot::static)\n"
        )
        run("cmake", "-S", tree, "-B", tree / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", tree / "build")
        self.check(self.start(tree / "build" / "files-shared"))
        self.check(self.start(tree / "build" / "files-static"))


if __name__ == "__main__":
    unittest.main()
