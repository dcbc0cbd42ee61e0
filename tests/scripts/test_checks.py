"""The source checks, each shown a small tree that breaks its rules."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, script):
        """Status and lines of a check of the tree."""
        done = subprocess.run(
            [sys.executable, str(SCRIPTS / script), str(self.folder)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()


class IncludesTest(CheckTest):
    def setUp(self):
        super().setUp()
        for layer in ("core", "base", "result", "report", "engine", "coordinator", "worker"):
            self.write(f"src/{layer}/thing.h", "")
        self.write("lib/thing.h", "")

    def one(self, name, text):
        """The only breach that a file makes, or None."""
        self.write(name, text)
        status, lines = self.check("check-includes")
        (self.folder / name).unlink()
        self.assertEqual(status, 1 if lines else 0)
        self.assertLessEqual(len(lines), 1, lines)
        return lines[0] if lines else None

    def test_directions(self):
        table = (
            ("src/core/a.c", "core/thing.h", True),
            ("src/core/a.c", "base/thing.h", False),
            ("src/base/a.h", "core/thing.h", True),
            ("src/report/a.c", "result/thing.h", True),
            ("src/report/a.c", "coordinator/thing.h", False),
            ("src/coordinator/a.c", "engine/thing.h", False),
            ("src/cli/a.c", "coordinator/thing.h", True),
            ("src/cli/main/main.c", "worker/thing.h", False),
            ("src/worker/main/main.c", "engine/thing.h", True),
            ("lib/a.c", "lib/thing.h", True),
            ("lib/a.c", "core/thing.h", True),
            ("lib/a.c", "base/thing.h", False),
            ("src/core/a.c", "lib/thing.h", False),
            ("src/cli/a.c", "lib/thing.h", False),
            ("src/numbers/a.c", "result/thing.h", True),
            ("src/numbers/a.c", "lib/thing.h", False),
        )
        for name, header, allowed in table:
            with self.subTest(name=name, header=header):
                found = self.one(name, f'\n#include "{header}"\n')
                if allowed:
                    self.assertIsNone(found)
                else:
                    self.assertRegex(found, f'^{name}:2: .* includes "{header}"; it may include ')

    def test_paths_begin_with_the_layer(self):
        for header in ("thing.h", "../core/thing.h", "core/missing.h"):
            with self.subTest(header=header):
                self.assertIn("must be", self.one("src/core/a.c", f'#include "{header}"\n'))

    def test_system_headers(self):
        self.assertIn("<sqlite3.h>", self.one("src/engine/a.c", "#include <sqlite3.h>\n"))
        self.assertIn("<err.h>", self.one("src/engine/a.c", "#include <err.h>\n"))
        self.assertIsNone(self.one("src/engine/a.c", "#include <stdio.h>\n"))

    def test_the_library_is_used_by_its_public_header(self):
        self.assertIn("<pitot.h>", self.one("src/cli/a.c", "#include <pitot.h>\n"))
        for name in ("src/numbers/a.c", "lib/a.c"):
            self.assertIsNone(self.one(name, "#include <pitot.h>\n#include <sqlite3.h>\n"))
        self.assertIn("stands alone", self.one("include/a.h", '#include "core/thing.h"\n'))

    def test_only_the_command_line_prints_and_exits(self):
        table = (
            ('printf("x");', "printf"),
            ('fprintf(stderr, "x");', "fprintf"),
            ('fputs("x", stderr);', "fputs"),
            ("exit(1);", "exit"),
            ('perror("x");', "perror"),
            ('fprintf(file, "x");', None),
            ('snprintf(text, 2, "x");', None),
            ("_exit(127);", None),
            ('const char *text = "exit(1)"; // printf(', None),
            ("/* exit(1)\n printf() */", None),
        )
        for text, call in table:
            with self.subTest(text=text):
                found = self.one("src/engine/a.c", f"\nvoid f(void) {{ {text} }}\n")
                if call is None:
                    self.assertIsNone(found)
                else:
                    self.assertIn(f"src/engine/a.c:2: calls {call}: ", found)
                self.assertIsNone(self.one("src/cli/a.c", f"void f(void) {{ {text} }}\n"))
                self.assertIsNone(self.one("src/worker/main/main.c", f"{text}\n"))

    def test_unknown_layer(self):
        self.assertIn("is no layer", self.one("src/misc/a.c", ""))


class FilesTest(CheckTest):
    def test_good_files(self):
        self.write("a.json", '{"a": [1, "/usr/lib/x", null]}\n')
        self.write("b.md", "See /etc/os-release, ${HOME}/work/x and src/work/x.\n")
        self.write("build-test/c.json", "{")
        self.write("node_modules/d/e.json", "{")
        self.assertEqual(self.check("check-files"), (0, []))

    def test_paths_of_one_machine(self):
        for folder in ("root", "work", "home/someone", "Users/someone"):
            with self.subTest(folder=folder):
                self.write("a.md", f"\nIn `/{folder}/pitot` it lies.\n")
                status, lines = self.check("check-files")
                self.assertEqual(status, 1)
                self.assertEqual(lines, [f"a.md:2: holds a path of one machine: /{folder}/"])

    def test_json_that_does_not_parse(self):
        for text in ('{"a": 1,}', '{"a": NaN}', '{"a": 1, "a": 2}', ""):
            with self.subTest(text=text):
                self.write("a.json", text)
                status, lines = self.check("check-files")
                self.assertEqual((status, len(lines)), (1, 1))
                self.assertIn("a.json:1: not valid JSON: ", lines[0])

    def test_address_of_a_registry(self):
        self.write("package-lock.json", '{\n"resolved": "' + 'https://host/x"}')
        self.assertEqual(self.check("check-files")[0], 1)

    def test_registry_in_a_lock_file_of_cargo(self):
        self.write("a.lock", 'name = "x"\nsource = "registry"\n')
        self.assertEqual(self.check("check-files")[0], 0)
        self.write("a.lock", 'name = "x"\nsource = "registry' + '+https://host/index"\n')
        self.assertEqual(self.check("check-files")[0], 1)


class FormatTest(unittest.TestCase):
    def test_a_badly_written_file_is_named(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
        self.addCleanup(shutil.rmtree, folder)
        for name in ("scripts/check-format", ".clang-format"):
            target = folder / name
            target.parent.mkdir(exist_ok=True)
            shutil.copy(SCRIPTS.parent / name, target)
        source = folder / "src" / "core" / "a.c"
        source.parent.mkdir(parents=True)
        source.write_text("int  x ;\n")

        def check(*arguments):
            return subprocess.run(
                [str(folder / "scripts/check-format"), *arguments],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )

        done = check()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("src/core/a.c:1:4: error:", done.stderr)
        self.assertEqual(check("--fix").returncode, 0)
        self.assertEqual(source.read_text(), "int x;\n")
        self.assertEqual(check().returncode, 0)
        self.assertEqual(check("--bad").returncode, 2)


@unittest.skipUnless(shutil.which("clang-tidy"), "no clang-tidy here")
class TidyTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("scripts/check-tidy", ".clang-tidy"):
            target = self.folder / name
            target.parent.mkdir(exist_ok=True)
            shutil.copy(SCRIPTS.parent / name, target)
        for folder in ("src", "build"):
            (self.folder / folder).mkdir()

    def tidy(self, text, *arguments):
        source = self.folder / "src" / "a.c"
        source.write_text(text)
        command = {"directory": str(self.folder), "file": str(source), "command": f"cc -c {source}"}
        (self.folder / "build" / "compile_commands.json").write_text(json.dumps([command]))
        return subprocess.run([self.folder / "scripts" / "check-tidy", *arguments],
                              capture_output=True, text=True, timeout=120, check=False)

    def test_a_good_file(self):
        done = self.tidy("int f(int x);\nint f(int x)\n{\n    return x + 1;\n}\n", "build")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_a_fault_is_named(self):
        done = self.tidy("int f(int x);\nint f(int x)\n{\n    return x - x;\n}\n", "build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a.c:4:14: error: both sides of operator are equivalent", done.stdout)

    def test_what_is_missing_is_said(self):
        done = self.tidy("", "nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cmake --preset test", done.stderr)


if __name__ == "__main__":
    unittest.main()
