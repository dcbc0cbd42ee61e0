"""scripts/setup against a made-up system: a PATH of stand-ins for every program it asks."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "setup"

# What setup itself is made of: taken from the real system.
REAL = ("sh", "env", "sed", "grep", "mktemp", "rm")

# Program to the shell text of its stand-in, all needs met. `log` notes the call.
WHOLE = {
    "uname": 'case "$1" in -s) echo Linux ;; -m) echo x86_64 ;; esac',
    "id": "echo 0",
    "cc": "exit 0",
    "cmake": "echo cmake version 3.25.1",
    "ninja": "exit 0",
    "pkg-config": "exit 0",
    "ldconfig": 'echo "	libsqlite3.so.0 (libc6,x86-64) => /lib/libsqlite3.so.0"',
    "npm": "exit 0",
    "clang": "exit 0",
    "clang-format": "exit 0",
    "clang-tidy": "exit 0",
    "strace": "exit 0",
    "chromium": "exit 0",
    "python3": "exit 0",
    "apt-get": 'echo "apt-get $*" >>"$CALLS"',
}

# What an apt-get does that brings a program.
INSTALLS = """echo "apt-get $*" >>"$CALLS"
case "$*" in
install*) for name in {names}; do printf '#!/bin/sh\\n{text}\\n' >"$STANDINS/$name"; /bin/chmod +x "$STANDINS/$name"; done ;;
esac"""


class SetupTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.standins = self.folder / "bin"
        self.standins.mkdir()
        self.calls = self.folder / "calls"
        for name in REAL:
            (self.standins / name).symlink_to(shutil.which(name))

    def setup(self, *arguments, without=(), **changes):
        """Runs setup on a whole system without some programs and with others changed
        (pkg_config stands for pkg-config)."""
        programs = dict(WHOLE)
        programs.update({name.replace("_", "-"): text for name, text in changes.items()})
        for name, text in programs.items():
            if name not in without:
                path = self.standins / name
                path.write_text(f"#!/bin/sh\n{text}\n")
                path.chmod(0o755)
        # The ldconfig of the real system lies in folders that setup appends to PATH; the
        # stand-in comes first.
        environment = {
            "PATH": str(self.standins),
            "CALLS": str(self.calls),
            "STANDINS": str(self.standins),
            "PYTHON": "python3",
        }
        return subprocess.run(
            ["/bin/sh", str(SETUP), *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def calls_made(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def test_nothing_missing_means_no_call_of_apt(self):
        for arguments in ((), ("--tests",)):
            with self.subTest(arguments=arguments):
                done = self.setup(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.calls_made(), [])

    def test_packages_are_named_then_installed(self):
        done = self.setup(
            without=("ninja",), apt_get=INSTALLS.format(names="ninja", text="exit 0")
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("installing: ninja-build\n", done.stdout)
        self.assertEqual(
            self.calls_made(),
            ["apt-get update -q", "apt-get install -y -q --no-install-recommends ninja-build"],
        )

    def test_a_second_time_installs_nothing(self):
        changed = {"apt_get": INSTALLS.format(names="ninja", text="exit 0")}
        self.assertEqual(self.setup(without=("ninja",), **changed).returncode, 0)
        self.calls.unlink()
        self.assertEqual(self.setup(without=("ninja",), **changed).returncode, 0)
        self.assertEqual(self.calls_made(), [])

    def test_a_bare_system_gets_the_compiler_with_the_headers(self):
        done = self.setup(without=("cc", "cmake", "ninja", "pkg-config"), id="echo 1000")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(
            done.stderr.splitlines()[-1],
            "apt-get update && apt-get install -y --no-install-recommends "
            "gcc libc6-dev cmake ninja-build pkg-config libjansson-dev "
            "libsqlite3-dev",
        )

    def test_sudo_without_a_password_is_used(self):
        done = self.setup(
            without=("ninja",),
            id="echo 1000",
            sudo='shift; echo "sudo $*" >>"$CALLS"; exec "$@"',
            true="exit 0",
            apt_get=INSTALLS.format(names="ninja", text="exit 0"),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(
            "sudo env DEBIAN_FRONTEND=noninteractive "
            "apt-get install -y -q --no-install-recommends ninja-build",
            self.calls_made(),
        )

    def test_sudo_that_would_ask_is_named_in_the_command(self):
        done = self.setup(without=("ninja",), id="echo 1000", sudo="exit 1")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(
            done.stderr.splitlines()[-1],
            "sudo apt-get update && sudo apt-get install -y --no-install-recommends ninja-build",
        )
        self.assertEqual(self.calls_made(), [])

    def test_without_apt_the_missing_things_are_listed(self):
        done = self.setup(without=("ninja", "apt-get"), cmake="echo cmake version 3.22.1")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no apt-get", done.stderr)
        self.assertIn("  cmake 3.25 or newer (found 3.22.1)\n  ninja\n", done.stderr)

    def test_what_apt_cannot_bring_is_said(self):
        done = self.setup(cmake="echo cmake version 3.22.1")
        self.assertEqual(done.returncode, 3)
        self.assertIn("still missing after installing cmake", done.stderr)

    def test_an_apt_that_fails_is_status_3(self):
        done = self.setup(without=("ninja",), apt_get="exit 100")
        self.assertEqual(done.returncode, 3)
        self.assertIn("could not install: ninja-build", done.stderr)

    def test_tests_need_a_python_with_modules(self):
        for text, packages in (
            ('[ "$2" = "" ]', "python3-jsonschema python3-yaml"),
            ('[ "$2" != "import yaml" ]', "python3-yaml"),
            ("exit 1", "python3 python3-jsonschema python3-yaml"),
        ):
            with self.subTest(text=text):
                done = self.setup("--tests", python3=text, id="echo 1000")
                self.assertEqual(done.returncode, 3)
                self.assertTrue(done.stderr.endswith(f"recommends {packages}\n"), done.stderr)

    def test_cmake_versions(self):
        for version, status in (("3.25.0", 0), ("3.24.9", 3), ("3.31", 0), ("4.0.1", 0)):
            with self.subTest(version=version):
                done = self.setup(cmake=f"echo cmake version {version}", id="echo 1000")
                self.assertEqual(done.returncode, status)

    def test_which_sqlite_is_measured(self):
        no_library = "exit 0"
        self.assertIn("better-sqlite3", self.setup(ldconfig=no_library).stdout)
        (self.standins / "npm").unlink()
        done = self.setup(without=("npm",))
        self.assertIn("the system's libsqlite3.so.0", done.stdout)
        self.assertEqual(self.calls_made(), [])
        done = self.setup(without=("npm",), ldconfig=no_library, id="echo 1000")
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stderr.endswith(" libsqlite3-0\n"), done.stderr)

    def test_other_systems_and_processors_are_refused_in_one_line(self):
        for system, processor in (("Darwin", "arm64"), ("Linux", "riscv64"), ("Linux", "i686")):
            with self.subTest(system=system, processor=processor):
                done = self.setup(uname=f'[ "$1" = -s ] && echo {system} || echo {processor}')
                self.assertEqual((done.returncode, done.stdout), (3, ""))
                self.assertEqual(
                    done.stderr,
                    "pitot runs on Linux on x86-64 and arm64; "
                    f"this is {system} on {processor}\n",
                )

    def test_wrong_arguments(self):
        for arguments in (("--test",), ("--tests", "--tests"), ("",)):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.setup(*arguments).returncode, 2)


if __name__ == "__main__":
    unittest.main()
