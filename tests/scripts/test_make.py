"""`make prod` with stand-ins for everything that it calls: what reaches pitot, what comes back."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

MAKEFILE = pathlib.Path(__file__).resolve().parents[2] / "Makefile"


class MakeProdTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy(MAKEFILE, self.folder)
        self.stand_in("bin/cmake", "exit 0")
        self.stand_in("scripts/setup", "exit 0")
        self.stand_in("scripts/build-engine-sqlite", "exit 0")
        self.stand_in("scripts/build-engines-node", "exit 0")
        self.stand_in("scripts/build-engine-turso", "exit 0")
        self.stand_in("build/pitot", 'for word; do echo "<$word>"; done')

    def stand_in(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def make(self, *arguments):
        return subprocess.run(
            ["make", "-s", *arguments],
            cwd=self.folder,
            env={"PATH": f"{self.folder}/bin:/usr/bin:/bin", "NAMED": "from the environment"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def words(self, *arguments):
        done = self.make(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_a_result_file_is_named_by_date_and_time(self):
        words = self.words("prod")
        self.assertEqual(words[:2], ["<prod>", "<--json>"])
        self.assertRegex(words[2], r"^<results/prod-\d{8}-\d{6}\.json>$")
        self.assertEqual(len(words), 3)
        self.assertTrue((self.folder / "results").is_dir())

    def test_the_users_result_file_wins(self):
        for given in ("--json mine.json", "--json=mine.json"):
            with self.subTest(given=given):
                words = self.words("prod", f"ARGS={given}")
                self.assertEqual(words, ["<prod>"] + [f"<{word}>" for word in given.split()])

    def test_arguments_keep_their_quotes(self):
        table = (
            ("--scale 'two words'", ["<--scale>", "<two words>"]),
            ('--pragma "encoding=\'UTF-16le\'"', ["<--pragma>", "<encoding='UTF-16le'>"]),
            ("'a\\,b' \"c;d\" 'e#f' '*'", ["<a\\,b>", "<c;d>", "<e#f>", "<*>"]),
            ("'$HOME' \"$NAMED\" '$(x)'", ["<$HOME>", "<from the environment>", "<$(x)>"]),
            ("'50%' ''", ["<50%>", "<>"]),
        )
        for given, expected in table:
            with self.subTest(given=given):
                words = self.words("prod", f"ARGS={given}")
                self.assertEqual(words[3:], expected)

    def test_the_status_is_shown(self):
        self.stand_in("build/pitot", "exit 3")
        done = self.make("prod")
        self.assertEqual(done.returncode, 2)
        self.assertIn("pitot prod ended with status 3\n", done.stderr)
        self.assertIn("Error 3", done.stderr)

    def test_without_npm_and_rust_it_goes_on(self):
        for script in ("build-engine-sqlite", "build-engines-node", "build-engine-turso"):
            self.stand_in(f"scripts/{script}", "exit 3")
        self.assertEqual(self.words("prod")[0], "<prod>")

    def test_a_broken_engine_build_stops_it(self):
        for script in ("build-engine-sqlite", "build-engines-node", "build-engine-turso"):
            with self.subTest(script=script):
                self.stand_in(f"scripts/{script}", "exit 1")
                done = self.make("prod")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.stand_in(f"scripts/{script}", "exit 0")

    def test_a_version_of_turso(self):
        self.stand_in("scripts/build-engine-turso", 'echo "$#:$*"; exit "${2-0}"')
        self.assertEqual(self.words("turso"), ["0:"])
        self.assertEqual(self.words("turso", "TURSO_VERSION=0.7.1"), ["1:0.7.1"])
        # Whoever asks for it by name hears of what is missing.
        self.assertEqual(self.make("turso", "TURSO_VERSION=0.7.1 3").returncode, 2)

    def test_nothing_is_built_where_setup_refuses(self):
        self.stand_in("scripts/setup", "echo one clear line >&2; exit 3")
        self.stand_in("bin/cmake", "echo built")
        for goal in ("prod", "test", "torture", "asan", "tsan", "lint", "engines", "bench-harness",
                     "bench-statistics"):
            with self.subTest(goal=goal):
                done = self.make(goal)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("one clear line\n", done.stderr)
                self.assertIn("Error 3", done.stderr)

    def test_without_a_goal_it_explains_itself(self):
        shown = "\n".join(self.words())
        for goal in ("prod", "test", "torture", "lint", "format", "asan", "tsan", "engines", "turso",
                     "clean"):
            self.assertIn(f"make {goal} ", shown)


if __name__ == "__main__":
    unittest.main()
