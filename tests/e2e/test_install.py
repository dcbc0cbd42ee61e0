"""What `cmake --install` puts where, and that it works from there: pitot, the library, examples.

Everything is staged (DESTDIR) in a folder of the test and used in others, outside of the checkout.
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import termios
import time
import unittest

import pitot_test
from pitot_test import BUILD, SOURCE, PitotTest

WAIT_SECONDS = 60


class InstallTest(PitotTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stage = pitot_test.make_folder()
        cls.addClassCleanup(shutil.rmtree, cls.stage, ignore_errors=True)
        done = subprocess.run(["cmake", "--install", BUILD], capture_output=True, text=True,
                              env={**os.environ, "DESTDIR": str(cls.stage)}, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        # Whatever the prefix of this build is.
        (header,) = cls.stage.rglob("include/pitot.h")
        cls.prefix = header.parent.parent
        (cls.library,) = {path.parent for path in cls.prefix.rglob("libpitot.so")}

    def environment(self, changes=None):
        return super().environment({
            "PKG_CONFIG_PATH": self.library / "pkgconfig",
            **(changes or {}),
        })

    def command(self, *words, status=0, **options):
        done = subprocess.run([str(word) for word in words], cwd=self.work, capture_output=True,
                              text=True, env=self.environment(), timeout=WAIT_SECONDS * 4,
                              check=False, **options)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def example(self, name):
        """Built in a folder of its own against what was installed; gives the program's path."""
        shutil.copytree(self.prefix / "share" / "doc" / "pitot" / "examples" / name,
                        self.work / name)
        self.command("make", "-C", self.work / name, "CFLAGS=-O1 -Wall -Wextra -Werror")
        return self.work / name / name


class Files(InstallTest):
    def test_everything_is_there(self):
        for name in ("bin/pitot", "bin/pitot-worker", "bin/pitot-numbers",
                     "share/man/man1/pitot.1", "share/man/man1/pitot-worker.1",
                     "share/man/man3/libpitot.3", "share/doc/pitot/LICENSE",
                     "share/doc/pitot/library.md", "share/pitot/engines/node/worker.mjs",
                     "share/pitot/engines/sqlite.json", "share/pitot/workloads/prod/suite.json",
                     "share/pitot/scripts/build-engine-sqlite"):
            self.assertTrue((self.prefix / name).is_file(), name)
        for name in ("libpitot.a", "libpitot.so.0", "pkgconfig/pitot.pc",
                     "cmake/pitot/pitot-config.cmake"):
            self.assertTrue((self.library / name).is_file(), name)

    def test_a_man_page_for_every_call_and_command(self):
        folder = self.prefix / "share" / "man"
        page = (folder / "man3" / "libpitot.3").read_text(encoding="utf-8")
        symbols = (SOURCE / "lib" / "symbols").read_text().split()
        self.assertGreater(len(symbols), 30)
        for symbol in symbols:
            self.assertEqual((folder / "man3" / f"{symbol}.3").read_text(),
                             ".so man3/libpitot.3\n")
            self.assertIn(f"{symbol}(", page)
        self.assertNotIn("@HEADER@", page)
        self.assertNotIn("PITOT_API", page)
        page = (folder / "man1" / "pitot.1").read_text(encoding="utf-8")
        for command in ("verify", "prod", "bench", "compare", "numbers", "report", "engines"):
            self.assertIn(f"\n.SS {command}\n", page)
            self.assertIn(f"Usage: pitot {command} ", page)
        self.assertIsNone(re.search(r"@[A-Za-z]+@|%[A-Z]+%", page))

    def test_installed_below_another_prefix(self):
        """`cmake --install --prefix`: what names folders names those of this installation."""
        prefix = self.work / "other prefix"
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        library = prefix / self.library.relative_to(self.prefix)
        page = (prefix / "share" / "man" / "man1" / "pitot.1").read_text(encoding="utf-8")
        self.assertIn(f"{prefix}/share/pitot/scripts", page)
        page = (prefix / "share" / "man" / "man3" / "libpitot.3").read_text(encoding="utf-8")
        self.assertIn(f"{prefix}/share/doc/pitot/library.md", page)
        for text in (library / "pkgconfig" / "pitot.pc", library / "cmake" / "pitot" /
                     "pitot-config.cmake"):
            self.assertNotIn(str(self.prefix), text.read_text())
        flags = self.run_command("pkg-config", "--cflags", "--libs", "pitot",
                                 env={"PKG_CONFIG_PATH": library / "pkgconfig"}).stdout
        words = [pathlib.Path(word[2:]).resolve() for word in shlex.split(flags)
                 if word.startswith(("-I/", "-L/"))]
        self.assertIn((prefix / "include").resolve(), words)
        self.assertIn(library.resolve(), words)

    def test_the_notices_of_what_the_page_bundles(self):
        notices = self.prefix / "share" / "doc" / "pitot" / "report-page-licences.txt"
        if not notices.exists():
            done = self.run_command(self.prefix / "bin" / "pitot", "report", "x.json", "--format",
                                    "html", "-o", "x.html")
            self.assertIn("built without the report page", done.stderr)
            return
        text = notices.read_text(encoding="utf-8")
        self.assertIn("@observablehq/plot", text)
        self.assertIn("Permission to use, copy, modify", text)
        self.assertNotIn("&lt;", text)


class Pitot(InstallTest):
    def test_engines_are_made_ready_by_what_is_installed(self):
        """Also where it has been moved to. There is no Makefile beside it."""
        shutil.copytree(self.prefix, self.work / "moved", symlinks=True)
        for prefix in (self.prefix, self.work / "moved"):
            listed = json.loads(self.command(prefix / "bin" / "pitot", "engines", "--json").stdout)
            found = {engine["name"]: engine["get"] for engine in listed["engines"]
                     if not engine["ready"]}
            self.assertGreater(len(found), 5)
            for get in found.values():
                program = pathlib.Path(get.split()[0])
                self.assertEqual(program.parent, (prefix / "share/pitot/scripts").resolve())
                self.command(program, "--help")
            self.assertRegex(found["turso"], r"/build-engine-turso \d+\.\d+\.\d+$")

    def test_it_finds_its_worker(self):
        done = self.command(self.prefix / "bin" / "pitot", "bench", "--engines",
                            f"{self.sqlite()},null", "--rows", 50, "--iterations", 20, "--rounds",
                            1, "--workloads", "select-point", "--json", "x.json")
        self.assertIn("select-point", done.stdout)
        self.assertEqual([e["status"] for e in self.read_json("x.json")["engines"]], ["ok", "ok"])

    def test_numbers_find_the_installed_library(self):
        """By the place of both, whatever the linker is told."""
        shutil.copytree(self.prefix, self.work / "moved", symlinks=True)
        library = self.work / "moved" / self.library.relative_to(self.prefix)
        maps = self.run_command("env", "LD_TRACE_LOADED_OBJECTS=1",
                                self.work / "moved" / "bin" / "pitot-numbers")
        found = re.search(r"libpitot\.so\.0 => (\S+)", maps.stdout).group(1)
        self.assertEqual(pathlib.Path(found).resolve(), (library / "libpitot.so.0").resolve())
        self.command(self.work / "moved" / "bin" / "pitot", "numbers", "--rows", 300, "--seconds",
                     "100ms", "--json", "x.json")
        self.assertEqual([n["status"] for n in self.read_json("x.json")["numbers"]], ["ok"])


class Library(InstallTest):
    def test_a_cmake_package(self):
        (self.work / "program.c").write_text("""
            #include <pitot.h>
            #include <string.h>
            int main(void) { return strcmp(pitot_version(), VERSION); }
        """)
        version = re.search(r"VERSION (\d+\.\d+\.\d+)",
                            (SOURCE / "CMakeLists.txt").read_text()).group(1)
        (self.work / "CMakeLists.txt").write_text(f"""
            cmake_minimum_required(VERSION 3.25)
            project(program C)
            find_package(pitot {version} REQUIRED)
            foreach(kind pitot static)
                add_executable(with-${{kind}} program.c)
                target_compile_definitions(with-${{kind}} PRIVATE VERSION="{version}")
                target_link_libraries(with-${{kind}} PRIVATE pitot::${{kind}})
            endforeach()
        """)
        self.command("cmake", "-B", "build", "-S", ".", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.command("cmake", "--build", "build")
        self.command(self.work / "build" / "with-pitot")
        self.command(self.work / "build" / "with-static")

    def test_files_lists_a_tree_and_follows_it(self):
        program = self.example("files")
        tree = self.work / "tree"
        (tree / "below").mkdir(parents=True)
        for i in range(60):
            path = tree / "below" / f"file-{i:02}"
            path.write_text("x" * i)
            os.utime(path, (1_700_000_000 + i, 1_700_000_000 + i))
        shown = self.command(program, "tree", "files.db", "--once").stdout.splitlines()
        self.assertEqual(shown[0], "pass 1: 60 new, 0 changed, 0 gone")
        self.assertEqual([line.split()[-1] for line in shown[1:]],
                         [f"tree/below/file-{i:02}" for i in range(59, 9, -1)])
        self.assertEqual(shown[1].split()[-2], "59")
        # The database is there already; what has changed meanwhile is found and shown.
        process = subprocess.Popen([program, "tree", "files.db"], cwd=self.work, text=True,
                                   env=self.environment(), stdout=subprocess.PIPE)
        self.started.append(process)
        self.assertEqual(process.stdout.readline(), "pass 2: 0 new, 0 changed, 0 gone\n")
        (tree / "newest").write_text("")
        (tree / "below" / "file-00").unlink()
        for line in process.stdout:
            if line.startswith("pass 3"):
                break
        self.assertEqual(line, "pass 3: 1 new, 0 changed, 1 gone\n")
        self.assertEqual(process.stdout.readline().split()[-1], "tree/newest")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(WAIT_SECONDS), 0)

    def test_files_keeps_its_list_when_the_folder_is_gone(self):
        program = self.example("files")
        (self.work / "tree").mkdir()
        (self.work / "tree" / "one").write_text("")
        self.command(program, "tree", "files.db", "--once")
        shutil.rmtree(self.work / "tree")
        shown = self.command(program, "tree", "files.db", "--once").stdout.splitlines()
        self.assertEqual(shown[1], "the list is old: No such file or directory")
        self.assertTrue(shown[2].endswith("tree/one"))


class Terminal:
    """A program in a terminal of 24 rows and 100 columns, and what it shows."""

    def __init__(self, words, **options):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave,
                                        start_new_session=True, **options)
        os.close(slave)
        self.bytes = b""

    def screen(self):
        """The lines that were drawn last."""
        text = self.bytes.decode(errors="replace").rsplit("\x1b[H", 1)[-1]
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).split("\r\n")

    def wait_for(self, condition, what):
        """Reads until a whole screen fulfils the condition, and gives it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.master], [], [], 1)
            if ready:
                try:
                    self.bytes += os.read(self.master, 65536)
                except OSError:  # the program has ended
                    break
            if self.bytes.endswith(b"\x1b[J") and condition(self.screen()):
                return self.screen()
        raise AssertionError(f"{what} was never shown; the last screen:\n" +
                             "\n".join(self.screen()))

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        """Its exit status. What it still writes must be taken from it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    os.read(self.master, 65536)
                except OSError:
                    break
        return self.process.wait(WAIT_SECONDS)


def status_text(names):
    return "".join(f"Package: {name}\nStatus: install ok installed\nInstalled-Size: 12\n"
                   f"Architecture: all\nVersion: 1.0\nDescription: what {name} does\n"
                   " and more of it\n\n" for name in names) + (
        "Package: removed\nStatus: deinstall ok config-files\nArchitecture: all\n\n")


class Packages(InstallTest):
    def start_browser(self, *more):
        program = self.example("packages")
        terminal = Terminal([program, "p.db", "--status", "status", *more], cwd=self.work,
                            env={**self.environment(), "TERM": "xterm"})
        self.started.append(terminal.process)
        self.addCleanup(os.close, terminal.master)
        return terminal

    def test_search_and_refresh(self):
        status = self.work / "status"
        status.write_text(status_text(f"package-{i:03}" for i in range(300)))
        terminal = self.start_browser()
        terminal.wait_for(lambda s: s[0] == "300 packages" and "pass 1: 300 new" in s[-2], "all")
        terminal.type("-12")
        shown = terminal.wait_for(lambda s: s[0] == "10 packages with -12", "what was searched")
        self.assertEqual([line.split()[0] for line in shown[1:11]],
                         [f"package-12{i}" for i in range(10)])
        self.assertIn("what package-120 does", shown[1])
        self.assertEqual(shown[11].strip(), "")
        status.write_text(status_text(f"package-{i:03}" for i in range(125)))
        terminal.type("\x12")
        terminal.wait_for(lambda s: s[0] == "5 packages with -12" and
                          "pass 2: 0 new, 0 changed, 175 gone" in s[-2], "the fresh list")
        status.unlink()
        terminal.type("\x12")
        terminal.wait_for(lambda s: s[0] == "5 packages with -12" and
                          "the list is old: status: No such file" in s[-2], "the error")
        terminal.type("\x1b")
        terminal.wait_for(lambda s: s[0] == "125 packages", "all again")
        terminal.type("\x03")
        self.assertEqual(terminal.end(), 0)

    def test_it_is_readable_while_a_pass_runs(self):
        """A pass that would take hours shows nothing of itself, and keeps nobody waiting."""
        status = self.work / "status"
        status.write_text(status_text(f"package-{i:03}" for i in range(50)))
        terminal = self.start_browser()
        terminal.wait_for(lambda s: s[0] == "50 packages", "all")
        terminal.type("\x03")
        self.assertEqual(terminal.end(), 0)

        status.write_text(status_text(f"other-{i:05}" for i in range(10000)))
        shutil.rmtree(self.work / "packages")
        terminal = self.start_browser("--pause", "1000000")
        terminal.wait_for(lambda s: s[0] == "50 packages" and "reading the packages" in s[-2],
                          "the old list, and that a pass runs")
        terminal.type("-04")
        shown = terminal.wait_for(lambda s: s[0] == "10 packages with -04", "what was searched")
        self.assertTrue(shown[1].startswith("package-040"))
        self.assertIn("reading the packages", shown[-2])
        terminal.type("\x03")
        self.assertEqual(terminal.end(), 0)

    def test_it_wants_a_terminal(self):
        program = self.example("packages")
        done = self.command(program, "p.db", status=1, stdin=subprocess.DEVNULL)
        self.assertIn("needs a terminal", done.stderr)


if __name__ == "__main__":
    unittest.main()
