"""The harness of the command-line and end-to-end tests, with a stand-in for pitot: does it see
what it promises to see?"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]

# What a made-up pitot can do, by its first argument.
PITOT = r"""#!/bin/sh
case "$1" in
say) echo "said $2" ;;
echo-stdin) cat ;;
environment) echo "<${NAMED-unset}> <$HOME>" ;;
file) cat "$2" ;;
fail) echo "pitot: wrong --scale" >&2; exit 2 ;;
fail-silently) exit 2 ;;
fail-on-stdout) echo table; echo oops >&2; exit 1 ;;
escape) printf '\033[31mred\n' ;;
not-utf-8) printf '\377\n' ;;
sanitizer) echo "==1==ERROR: AddressSanitizer: heap-use-after-free" >&2; exit 1 ;;
stray) setsid tail -f /dev/null >/dev/null 2>&1 & ;;
short-stray) (sleep 0.1 >/dev/null 2>&1 &) ;;
hang) exec tail -f /dev/null ;;
leftover) : >pitot-run-1-sqlite.db ;;
killed) kill -9 $$ ;;
esac
"""


class TableTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        pitot = self.folder / "pitot"
        pitot.write_text(PITOT)
        pitot.chmod(0o755)

    def table(self, text):
        """Status and output of run-table.py for a table."""
        path = self.folder / "a.table"
        path.write_text(text)
        done = subprocess.run(
            [sys.executable, str(TESTS / "cli" / "run-table.py"), str(path)],
            env=dict(os.environ, PITOT_BUILD_FOLDER=str(self.folder)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def passes(self, text):
        status, output = self.table(f"test it\n{text}\n")
        self.assertEqual(status, 0, output)
        self.assertEqual(output, "ok 1 - a.table:1 it\n1 of 1 passed\n")

    def fails(self, text, fault):
        status, output = self.table(f"test it\n{text}\n")
        self.assertEqual(status, 1, output)
        self.assertIn("not ok 1 - a.table:1 it\n", output)
        self.assertIn(fault, output)
        self.assertTrue(output.endswith("0 of 1 passed\n"), output)

    def test_what_passes(self):
        self.passes("args say 'two words'\nstatus 0\nstdout ^said two words$\nwithout three")
        self.passes("args fail\nstatus 2\nstderr --scale")
        self.passes("args echo-stdin\nstdin a\\nb\\x41\nstatus 0\nstdout ^bA")
        self.passes("args file deep/x\nfile deep/x one\\ttwo\nstatus 0\nstdout ^one\ttwo$")
        self.passes("args environment\nenv NAMED=a b\nstatus 0\nstdout ^<a b> <${FOLDER}/home>$")
        self.passes("args environment\nenv HOME\nstatus 0\nstdout <unset> <>")

    def test_what_fails(self):
        self.fails("args say x\nstatus 1", "status 0, not 1")
        self.fails("args say x\nstatus 0\nstdout ^x", "stdout has nothing like '^x'")
        self.fails("args fail\nstatus 2\nstderr --thread", "stderr has nothing like '--thread'")
        self.fails("args say x\nstatus 0\nwithout sa.d", "output holds 'said'")
        self.fails("args fail-silently\nstatus 2", "wrote nothing on stderr")
        self.fails("args fail-on-stdout\nstatus 1", "wrote on stdout")
        self.fails("args escape\nstatus 0", "an escape byte")
        self.fails("args not-utf-8\nstatus 0", "not UTF-8")
        self.fails("args sanitizer\nstatus 1", "a report of AddressSanitizer")
        self.fails("args stray\nstatus 0", "left process")
        self.fails("args leftover\nstatus 0", "left file work/pitot-run-1-sqlite.db")
        self.fails("args killed\nstatus 0", "status -9, not 0")

    def test_common_lines_come_first(self):
        status, output = self.table(
            "common\nfile x one\nenv NAMED=one\n\n"
            "test a\nargs file x\nstatus 0\nstdout ^one$\n\n"
            "test b\nfile x two\nargs file x\nstatus 0\nstdout ^two$\n\n"
            "test c\nargs environment\nstatus 0\nstdout ^<one>\n"
        )
        self.assertEqual((status, output.count("ok ")), (0, 3), output)

    def test_mistakes_in_a_table_are_failures(self):
        for text in (
            "test a\nargs say",
            "status 0\nargs say",
            "test a\nstatus 0\nstats 1",
            "test a\nstatus 0\nstatus 1",
        ):
            with self.subTest(text=text):
                status, output = self.table(text)
                self.assertEqual(status, 1)
                self.assertIn("not ok - ", output)
        self.assertEqual(self.table("# nothing\n"), (1, "0 of 0 passed\n"))

    def test_one_line_a_test(self):
        text = "test a\nargs say x\nstatus 0\n\n\n# remark\ntest b\nargs fail\nstatus 2\n"
        self.assertEqual(
            self.table(text),
            (0, "ok 1 - a.table:1 a\nok 2 - a.table:7 b\n2 of 2 passed\n"),
        )


class BaseClassTest(unittest.TestCase):
    """PitotTest with a stand-in: which tests pass, which fail, and why."""

    def outcome(self, body):
        """Runs a test with this body; gives the text of its failure, "" when it passed."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
        self.addCleanup(shutil.rmtree, folder)
        for name in ("pitot", "pitot-worker"):
            (folder / name).write_text(PITOT)
            (folder / name).chmod(0o755)
        program = (
            "import sys, signal, unittest\n"
            f"sys.path.insert(0, {str(TESTS / 'e2e')!r})\n"
            "from pitot_test import *\n"
            "class Case(PitotTest):\n"
            "    def test(self):\n" + "".join(f"        {line}\n" for line in body.split("\n"))
        )
        done = subprocess.run(
            [sys.executable, "-c", program + "unittest.main()\n"],
            env=dict(os.environ, PITOT_BUILD_FOLDER=str(folder)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return "" if done.returncode == 0 else done.stderr

    def test_a_good_command_passes(self):
        self.assertEqual(self.outcome("self.assertEqual(self.pitot('say', 1).stdout, 'said 1\\n')"), "")
        self.assertEqual(self.outcome("self.pitot('fail', status=2)"), "")

    def test_faults_fail(self):
        for body, fault in (
            ("self.pitot('fail')", "2 != 0"),
            ("self.pitot('stray')", "processes left behind"),
            ("self.run_command(BUILD / 'pitot', 'stray')", "processes left behind"),
            ("self.pitot('leftover')", "files left behind"),
            ("self.pitot('escape')", "an escape byte"),
            ("self.start('hang')", "still runs at the end of the test"),
        ):
            with self.subTest(body=body):
                self.assertIn(fault, self.outcome(body))

    def test_a_started_command_is_no_stray(self):
        body = (
            "process = self.start('hang')\n"
            "self.pitot('say', 'x')\n"
            "process.send_signal(signal.SIGTERM)\n"
            "self.assertEqual(self.finish(process).status, -signal.SIGTERM)"
        )
        self.assertEqual(self.outcome(body), "")

    def test_strays_that_end_by_themselves_can_be_waited_for(self):
        body = "self.run_command(BUILD / 'pitot', 'short-stray')\nself.wait_until_alone()"
        self.assertEqual(self.outcome(body), "")
        body = "self.run_command(BUILD / 'pitot', 'stray')\nself.wait_until_alone(0.1)"
        self.assertIn("still there after", self.outcome(body))

    def test_json_is_read_strictly(self):
        body = "(self.work / 'a.json').write_text({!r})\nself.read_json('a.json')"
        self.assertEqual(self.outcome(body.format('{"a": null}')), "")
        self.assertIn("NaN is not JSON", self.outcome(body.format('{"a": NaN}')))


if __name__ == "__main__":
    unittest.main()
