"""Too little of everything: disk, descriptors, threads, memory. Each ends within seconds with a
message that names what was short, and nothing is left behind."""

import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import pitot_test
from test_prod import ProdTest

MIB = 1 << 20


class LimitsTest(ProdTest):
    def limited(self, *words, status=(1, 3), said=None, more=(), **options):
        """pitot behind a program that sets a limit. Gives its Run."""
        done = self.run_command(*words, pitot_test.BUILD / "pitot", *self.short(*more, **options))
        self.check_end(done, status, said)
        return done

    def check_end(self, done, status, said):
        self.assertIn(done.status, status, done)
        self.assertEqual(pitot_test.output_faults(done.stdout + done.stderr), [], done)
        if said is not None and done.status != 0:
            self.assertRegex(done.stderr, said)
        self.check_no_process()
        self.check_nothing_half_made(self.work / "data")

    def check_nothing_half_made(self, data):
        """A whole template or none, and no copy."""
        names = sorted(path.name for path in data.iterdir()) if data.exists() else []
        templates = [name for name in names if name.startswith("template-")]
        self.assertEqual([n for n in names if n not in templates], ["template.lock"] * bool(names))
        self.assertIn(len(templates), (0, 2), names)


class FullDisk(LimitsTest):
    """On a tmpfs of a few MiB."""

    def mount(self, size, name="data"):
        if os.geteuid() != 0:
            self.skipTest("needs root to mount a tmpfs")
        folder = self.work / name
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder],
                              capture_output=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"no tmpfs here: {done.stderr.decode()}")
        self.addCleanup(subprocess.run, ["umount", "-l", folder], check=True)
        return folder

    @staticmethod
    def fill(folder):
        """Takes all that is left."""
        with open(folder / "filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(MIB))
            except OSError:
                pass
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def test_in_the_template(self):
        users = 20_000

        def bigger(suite):
            suite["scales"]["tiny"] = {"users": users, "orders_per_user": 4, "orders": 4 * users}

        self.change_suite(self.workload, bigger)
        data = self.mount("4m")
        done = self.pitot(*self.short(), status=3)
        self.assertRegex(done.stderr, "template.*full")
        self.assertEqual([path.name for path in data.iterdir()], ["template.lock"])

    def test_before_the_template(self):
        data = self.mount("256k")
        self.fill(data)
        done = self.pitot(*self.short(), status=3)
        self.assertIn(str(data), done.stderr)
        self.assertLessEqual({path.name for path in data.iterdir()}, {"filler", "template.lock"})

    def test_in_the_copy(self):
        data = self.mount("40m")
        done = self.pitot(*self.short(), status=3)
        self.assertRegex(done.stderr, r"copy.*needs .* free in .*data")
        self.check_nothing_half_made(data)

    def test_in_the_run(self):
        data = self.mount("80m")
        process = self.start(*self.short("-P", "0.1", "--json", "x.json", duration=2))
        for line in process.stderr:
            if b", run " in line:
                break
        self.fill(data)
        done = self.finish(process)
        (data / "filler").unlink()
        self.assertIn(done.status, (0, 1, 3), done)
        self.check_nothing_half_made(data)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        engine = result["engines"][0]
        texts = [w["text"] for w in result["warnings"]] + [engine["error"] or ""]
        self.assertTrue(any("full" in text for text in texts), texts)
        for run in engine["runs"]:
            for script in run["scripts"]:
                if not script["write"]:
                    self.assertEqual(script["failed"], 0, script)

    def test_the_temporary_folder(self):
        temporary = self.mount("64k", "full")
        self.fill(temporary)
        self.pitot(*self.short(), env={"TMPDIR": temporary, "SQLITE_TMPDIR": temporary})
        self.check_only_the_template_is_left()
        self.assertEqual([path.name for path in temporary.iterdir()], ["filler"])

    def test_standard_output(self):
        with open("/dev/full", "wb") as full:
            process = self.start(*self.short("--json", "x.json"), stdout=full)
            done = self.finish(process)
        self.assertEqual(done.status, 3, done)
        self.assertIn("standard output", done.stderr)
        self.assertFalse(self.read_json("x.json")["partial"])

    def test_standard_output_that_is_closed(self):
        command = " ".join(f"'{word}'" for word in [pitot_test.BUILD / "pitot", *self.short()])
        done = self.run_command("sh", "-c", f"{command} >&-")
        self.assertEqual(done.status, 3, done)
        self.assertIn("standard output is closed", done.stderr)
        self.assertFalse((self.work / "data").exists())


class Counted(LimitsTest):
    """Limits of the process, from what stops it at once to what is enough."""

    def test_descriptors(self):
        good = 0
        for limit in range(4, 32):
            with self.subTest(limit=limit):
                done = self.limited("prlimit", f"--nofile={limit}", status=(0, 1, 3),
                                    said="[Tt]oo many open files|Cannot|cannot|could not|unable to open",
                                    duration=0.02)
                self.assertNotIn("Invalid argument", done.stderr)
                good += done.status == 0
        self.assertGreater(good, 0)

    def test_descriptors_of_many_connections(self):
        done = self.limited("prlimit", "--nofile=64", status=(1, 3), said="open",
                            more=("--threads", "60"))
        self.assertNotEqual(done.stderr, "")

    def test_threads(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another account")
        if pitot_test.SANITIZED:
            self.skipTest("a sanitizer starts threads of its own")
        programs = self.folder / "bin"  # where every account can reach them
        programs.mkdir()
        for name in ("pitot", "pitot-worker"):
            shutil.copy(pitot_test.BUILD / name, programs)
        for path in [self.folder, *self.folder.rglob("*")]:
            os.chown(path, 65534, 65534)
            path.chmod(0o755)
        good = 0
        for limit in range(1, 12):
            with self.subTest(limit=limit):
                done = self.run_command(
                    "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                    "prlimit", f"--nproc={limit}", programs / "pitot", *self.short(duration=0.02))
                self.check_end(done, (0, 1, 3), "thread|cannot start|temporarily unavailable")
                good += done.status == 0
        self.assertGreater(good, 0)

    @unittest.skipIf(pitot_test.SANITIZED, "sanitizers need terabytes of addresses")
    def test_addresses(self):
        self.pitot(*self.short())  # the template: the limits meet copies and runs, too
        for megabytes in [*range(4, 20, 2), *range(20, 100, 10), 4000]:
            with self.subTest(megabytes=megabytes):
                # Below some MB the program loader gives up before pitot begins: status 127 or 1.
                done = self.run_command("prlimit", f"--as={megabytes * 1_000_000}",
                                        pitot_test.BUILD / "pitot", *self.short(duration=0.02))
                if done.status == 127 or "loading shared" in done.stderr or done.status == 126:
                    continue
                self.check_end(done, (0,) if megabytes == 4000 else (0, 1, 3), "memory|thread|map segment")

    def test_more_threads_than_memory(self):
        done = self.limited("prlimit", "--as=2000000000", status=(1, 3), more=("--threads", "1000"),
                            said=r"could start \d+ of 1000 threads|memory") \
            if not pitot_test.SANITIZED else None
        self.assertTrue(done is None or done.stderr)


class Removed(LimitsTest):
    check_leftover_files = False

    def test_the_data_folder_in_mid_run(self):
        process = self.start(*self.short("-P", "0.1", "--json", "x.json", rounds=2, duration=1.5,
                                         engines=f"{self.sqlite()},null"))
        for line in process.stderr:
            if line.startswith(b"sqlite") and b", run " in line:
                break
        shutil.rmtree(self.work / "data")
        done = self.finish(process)
        self.assertIn(done.status, (1, 3), done)
        self.assertIn("data", done.stderr)
        self.check_no_process()
        names = os.listdir(self.work / "data") if (self.work / "data").exists() else []
        self.assertEqual(names, [])
        self.check_schema(self.read_json("x.json"), "docs/result.schema.json")

    def test_the_template_in_mid_run(self):
        process = self.start(*self.short("-P", "0.1", rounds=2, duration=1.5))
        for line in process.stderr:
            if b", run " in line:
                break
        self.template().unlink()
        done = self.finish(process)
        self.assertIn(done.status, (1, 3), done)
        self.assertIn("template-", done.stderr)


class Several(LimitsTest):
    def test_five_on_one_folder(self):
        started = [self.start(*self.short(duration=0.2)) for _ in range(5)]
        waited = 0
        for process in started:
            done = self.finish(process)
            self.assertEqual(done.status, 0, done)
            waited += "waiting for another pitot (process " in done.stderr
        self.assertGreater(waited, 0)
        self.check_only_the_template_is_left()

    def test_one_that_waits_can_be_ended(self):
        first = self.start(*self.short("-P", "0.1", duration=60))
        for line in first.stderr:
            if b", run " in line or b"warm-up" in line:
                break
        second = self.start(*self.short())
        self.assertIn(str(first.pid).encode(), second.stderr.readline())
        second.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(second).status, 143)
        first.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(first).status, 130)
        self.check_only_the_template_is_left()


if __name__ == "__main__":
    unittest.main()
