"""pitot numbers from end to end: small passes, short groups of lines."""

import os
import pathlib
import shutil
import signal
import unittest

import pitot_test
from pitot_test import BUILD, PitotTest

LINES = [
    ("open", "a new database", "ns"),
    ("open", "an existing database", "ns"),
    ("resync", "to its closing event", "ns"),
    ("pass", "replace, the whole pass", "ns"),
    ("pass", "replace, rows of a pass", "1/s"),
    ("pass", "replace, write lock held", "ns"),
    ("pass", "replace, rows of the commit", "1/s"),
    ("pass", "replace, its staging", "ns"),
    ("pass", "merge, the same again", "ns"),
    ("pass", "merge, the same again, rows", "1/s"),
    ("pass", "merge, 1 in 100 changed", "ns"),
    ("read", "writer idle", "ns"),
    ("read", "writer busy", "ns"),
    ("read", "busy, service time", "ns"),
    ("read", "busy, SQLite's defaults", "ns"),
]
SHORT = ("--rows", "400", "--seconds", "200ms")


class NumbersTest(PitotTest):
    def built_library(self):
        """Another file than the system's library, where the built one is looked for."""
        folder = self.folder / "cache" / "pitot" / "engines" / "sqlite"
        folder.mkdir(parents=True)
        return folder / "libsqlite3.so.0"

    def environment(self, changes=None):
        return super().environment({"XDG_CACHE_HOME": self.folder / "cache", **(changes or {})})

    def numbers(self, *more, status=0):
        self.done = self.pitot("numbers", *SHORT, "--json", "n.json", *more, status=status)
        result = self.read_json("n.json")
        self.check_schema(result, "docs/result.schema.json")
        return result


class Result(NumbersTest):
    def test_every_line_with_each_library(self):
        built = self.built_library()
        shutil.copyfile(pathlib.Path(pitot_test.system_sqlite()).resolve(), built)
        result = self.numbers()
        self.assertEqual([n["name"] for n in result["numbers"]], ["sqlite", "system"])
        self.assertEqual(result["numbers"][0]["library"], str(built.resolve()))
        self.assertEqual(result["numbers"][1]["library"],
                         str(pathlib.Path(pitot_test.system_sqlite()).resolve()))
        self.assertEqual((result["command"], result["engines"], result["cases"]),
                         ("numbers", [], []))
        self.assertFalse(result["partial"])
        for numbers in result["numbers"]:
            self.check_library(numbers)
            self.assertIn(f"SQLite {numbers['version']} ({numbers['name']})", self.done.stdout)
            self.assertIn(numbers["library"], self.done.stdout.replace("\n          ", " "))
        self.check_shown(result)
        self.assertEqual(list(self.work.glob("data/pitot-numbers*")), [])

    def check_library(self, numbers):
        self.assertEqual((numbers["status"], numbers["error"]), ("ok", None))
        self.assertGreater(len(numbers["compile_options"]), 3)
        self.assertEqual((numbers["rows"], numbers["length_ns"]), (400, 200_000_000))
        self.assertEqual([(x["group"], x["name"], x["unit"]) for x in numbers["lines"]], LINES)
        # Two numbers a row and a text of 14 to 19 bytes.
        self.assertTrue(400 * 30 <= numbers["own_bytes"] <= 400 * 35)
        self.assertEqual(numbers["kept_rows"], 400)
        for line in numbers["lines"]:
            self.check_side(line, line["pitot"])
            self.check_side(line, line["plain"])
            if line["rounds"] > 0:
                self.assertGreater(line["ratio"], 0)
        busy = [x for x in numbers["lines"] if "busy" in x["name"]]
        self.assertEqual(len(busy), 3)
        for line in busy:
            self.assertGreater(line["pitot"]["passes"], 0)
            self.assertIsNotNone(line["plain"]["passes"])
        self.assertGreater(numbers["busy_p50"], 0)
        self.assertGreater(numbers["busy_p99"], 0)
        self.assertIn("synchronous=FULL", busy[2]["note"])

    def check_side(self, line, side):
        self.assertEqual(side["latency"]["count"], side["count"])
        self.assertEqual(side["p99_thin"], side["count"] < 1000)
        if side["count"] == 0:  # the plain way's reader may wait for a lock all the time
            self.assertEqual((line["name"], line["rounds"]), (LINES[-1][1], 0))
            self.assertGreater(side["missed"], 0)
            self.assertEqual((side["median"], side["p99"], side["curve"]), (None, None, []))
            return
        slow, fast = sorted((side["median"], side["slowest"]), reverse=line["unit"] == "ns")
        self.assertEqual((slow, fast), (side["slowest"], side["median"]))
        if line["group"] == "read":
            self.assertEqual(side["due"], 200)
            self.assertEqual(side["due"], side["count"] + side["missed"] + side["busy"])
        else:
            self.assertEqual((side["due"], side["missed"], side["busy"]), (None, None, None))
        curve = [point["percentile"] for point in side["curve"]]
        self.assertEqual((curve, curve[-1]), (sorted(curve), 100))

    def check_shown(self, result):
        """What was saved prints the same again."""
        again = self.pitot("report", "n.json", "--width", "100").stdout
        self.assertEqual(again, self.done.stdout)
        for group, name, _ in LINES:
            self.assertIn(f"\n{group}: {name}\n  libpitot ", again)
        meaningless = "these numbers mean nothing" in again
        self.assertEqual(meaningless, result["build"] != "release")
        rows = self.pitot("report", "n.json", "--format", "csv").stdout.split("\r\n")
        version = result["numbers"][0]["version"]
        side = result["numbers"][0]["lines"][0]["plain"]
        self.assertIn(f"sqlite,{version},open,plain,a new database,samples,count,{side['count']},,,",
                      rows)

    def test_without_the_built_library(self):
        result = self.numbers()
        self.assertEqual([n["name"] for n in result["numbers"]], ["system"])
        self.assertIn("measured with the system's SQLite alone", result["warnings"][0]["text"])

    def test_a_library_that_cannot_be_loaded(self):
        self.built_library().write_text("no library")
        result = self.numbers(status=1)
        broken, system = result["numbers"]
        self.assertEqual((broken["status"], broken["lines"]), ("failed", []))
        self.assertIn("libsqlite3.so.0", "".join(broken["log"]) + broken["error"])
        self.assertEqual(system["status"], "ok")
        self.assertIn("SQLite of sqlite: ", self.done.stderr)

    def test_a_tmpfs_is_named(self):
        folder = pathlib.Path("/dev/shm") / f"pitot-test-numbers-{os.getpid()}"
        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("no /dev/shm")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        result = self.numbers("--dir", folder)
        self.assertEqual(result["host"]["file_system"], "tmpfs")
        self.assertIn("on tmpfs", self.done.stdout)
        self.assertFalse(folder.exists())

    def test_a_program_that_is_missing(self):
        shutil.copyfile(BUILD / "pitot", self.work / "pitot")
        (self.work / "pitot").chmod(0o755)
        done = self.run_command(self.work / "pitot", "numbers", *SHORT)
        self.assertEqual(done.status, 3, done)
        self.assertIn("pitot-numbers is not beside pitot", done.stderr)


class Ended(NumbersTest):
    check_leftover_files = False

    def wait_for_reads(self, process):
        for line in process.stderr:
            if b"reads" in line:
                return
        self.fail("it ended before the reads")

    def begin(self):
        process = self.start("numbers", "--rows", "400", "--seconds", "2", "-P", "1ms", "--json",
                             "n.json")
        self.wait_for_reads(process)
        return process

    def own_folders(self):
        return list(self.work.glob("data/pitot-numbers-*"))

    def test_by_a_signal(self):
        (self.work / "n.json").write_text("as it was")
        process = self.begin()
        self.assertEqual(len(self.own_folders()), 1)
        process.send_signal(signal.SIGINT)
        stderr = process.stderr.read().decode()
        process.stdout.read()
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertIn("nothing was measured, n.json is left as it was", stderr)
        self.assertEqual((self.work / "n.json").read_text(), "as it was")
        self.assertEqual(self.own_folders(), [])
        self.check_no_process()

    def test_by_a_kill(self):
        """The program that measures ends with pitot; the next pitot removes what is left."""
        process = self.begin()
        process.kill()
        process.wait()
        self.wait_until_alone()
        self.assertEqual(len(self.own_folders()), 1)
        self.numbers()
        self.assertEqual(self.own_folders(), [])
        self.assertRegex(self.done.stderr, "removed .* that an earlier run left")


if __name__ == "__main__":
    unittest.main()
