"""The engines that are Turso through its C ABI, with the real library.

Without the library, which needs Rust, these tests are skipped and say so.
"""

import json
import os
import shutil
import sqlite3
import sys
import unittest

import built_engines
import pitot_test

sys.path.insert(0, str(pitot_test.SOURCE / "tests" / "e2e" / "worker"))

import worker_client  # noqa: E402 - its folder is known only now

VERSION = json.loads(
    (pitot_test.SOURCE / "engines" / "turso.json").read_text(encoding="utf-8"))["version"]
BUILT = built_engines.CACHE / f"turso@{VERSION}"
SQLITE = built_engines.CACHE / "sqlite"
PANICKING = pitot_test.BUILD / "tests" / "panicking-turso.so"

# One row for all connections: transactions that write at once meet there.
ONE_ROW = """\\begin write
UPDATE users SET country = country WHERE id = 1;
INSERT INTO orders (user_id, status, amount_cents, currency, created_at, metadata)
VALUES (1, 'new', :op, 'EUR', :op, '');
\\commit
"""


@unittest.skipUnless((BUILT / "libturso.so").is_file(),
                     f"{BUILT} is not there: make turso builds it, with Rust")
class TursoTest(built_engines.BuiltEnginesTest):
    def setUp(self):
        super().setUp()
        self.build(VERSION).symlink_to(os.path.realpath(BUILT))

    def build(self, version):
        return self.engines / f"turso@{version}"

    def only(self, text, kind):
        """The workload gets this one script."""
        for path in self.workload.glob("*.sql"):
            if path.name not in ("schema.sql", "load.sql"):
                path.unlink()
        (self.workload / "one.sql").write_text(text, encoding="utf-8")
        self.change_suite(self.workload, lambda suite: suite.update(
            scripts=[{"name": "one", "kind": kind, "compare": "count"}]))


class Library(TursoTest):
    def test_listed(self):
        listed = self.listed()
        for name in ("turso", "turso-mvcc", f"turso@{VERSION}"):
            with self.subTest(name):
                engine = listed[name]
                self.assertEqual((engine["ready"], engine["failure"]), (True, None))
                self.assertEqual(engine["version"], VERSION)
                self.assertEqual(engine["library"], os.path.realpath(BUILT / "libturso.so"))
                self.assertEqual(engine["default"], name == "turso")
        self.assertFalse(listed["turso-next"]["ready"])
        self.assertIn("scripts/build-engine-turso ", listed["turso-next"]["get"])

    def test_a_version_that_is_not_built(self):
        done = self.pitot(*self.arguments("prod", "turso,turso@0.7.1"), status=3)
        self.assertIn("engine turso@0.7.1 is not ready", done.stderr)
        self.assertIn("get it with: scripts/build-engine-turso 0.7.1", done.stderr)

    def test_a_library_of_another_version_is_refused(self):
        self.build("0.7.1").symlink_to(os.path.realpath(BUILT))
        self.assertIn(f"is Turso {VERSION}", self.listed(status=1)["turso@0.7.1"]["failure"])
        engines, done = self.result("prod", "turso,turso@0.7.1", status=1)
        self.assertEqual((engines["turso"]["status"], engines["turso@0.7.1"]["status"]),
                         ("ok", "failed"), done)
        self.assertIn("version 0.7.1 was named", engines["turso@0.7.1"]["error"])

    def test_a_file_that_is_no_turso(self):
        for version, content in (("0.0.1", None), ("0.0.2", b"no library")):
            with self.subTest(version):
                self.build(version).mkdir()
                path = self.build(version) / "libturso.so"
                if content is None:
                    shutil.copy(pitot_test.system_sqlite(), path)
                else:
                    path.write_bytes(content)
                failure = self.listed(status=1)[f"turso@{version}"]["failure"]
                self.assertIn(str(path), failure)

    def test_how_it_was_built_is_in_the_result(self):
        engines, _ = self.result("verify", "turso")
        facts = json.loads((BUILT / "build.json").read_text(encoding="utf-8"))
        self.assertEqual({fact["name"]: fact["value"] for fact in
                          engines["turso"]["library_build"]}, facts)
        self.assertRegex(facts["lock"], "^[0-9a-f]{64}$")
        self.assertEqual(facts["turso"], VERSION)


class Measured(TursoTest):
    def test_answers_settings_and_journal(self):
        engines, done = self.result("verify", f"{self.sqlite()},turso,turso-mvcc")
        for name, mode, journal in (("turso", "wal", "-wal"), ("turso-mvcc", "mvcc", "-log")):
            with self.subTest(name):
                verify = engines[name]["verify"]
                self.assertEqual(verify["status"], "equal", done)
                for script in verify["databases"][0]["scripts"]:
                    self.assertEqual((script["status"], script["ok"]), ("equal", 40), script)
                self.assertEqual({t["status"] for t in verify["databases"][0]["tables"]},
                                 {"equal"})
                self.assertEqual((verify["journal_mode"], verify["journal"]), (mode, journal))
                self.assertGreater(verify["journal_bytes"], 0)
                for connection in verify["connections"]:
                    got = {s["name"]: s["got"] for s in connection["settings"]}
                    self.assertEqual(got["journal_mode"], mode)
                    self.assertEqual(got["busy_timeout"], "15000")

    def test_side_by_side(self):
        names = (self.sqlite(), "turso", f"turso@{VERSION}", "turso-mvcc")
        engines, done = self.result("prod", ",".join(names))
        for name in names:
            with self.subTest(name):
                self.check_measured(engines[name], done)

    def test_waits_are_counted_where_the_driver_waits(self):
        for value, counted in (("0", False), ("1", True)):
            with self.subTest(async_io=value):
                engines, _ = self.result("prod", "turso", "--engine-option",
                                         f"turso.async_io={value}")
                turso = engines["turso"]
                self.assertEqual(turso["status"], "ok")
                self.assertIn(f"async_io={value}", turso["compile_options"])
                for connection in turso["runs"][0]["connections"]:
                    self.assertEqual(connection["slept_ns"] is not None, counted)

    def test_an_option_of_turso_reaches_its_versions(self):
        engines, _ = self.result("verify", f"turso,turso@{VERSION}", "--engine-option",
                                 "turso.vfs=syscall")
        for engine in engines.values():
            self.assertEqual(engine["options"], [{"name": "vfs", "value": "syscall"}])
            self.assertIn("vfs=syscall", engine["compile_options"])

    def test_an_option_that_the_driver_does_not_know(self):
        done = self.pitot(*self.arguments("prod", "turso", "--engine-option", "turso.vsf=x"),
                          status=3)
        self.assertIn("has no option 'vsf'", done.stderr)

    def test_conflicts_are_retried_and_counted(self):
        self.only(ONE_ROW, "write")
        done = self.pitot("prod", "--workload", self.workload, "--engines", "turso,turso-mvcc",
                          "--rounds", "1", "--duration", "1", "--warmup", "20", "--threads", "8",
                          "--max-tries", "3", "--json", "r.json")
        engines = self.engines_of_result()
        for name in engines:
            self.check_measured(engines[name], done)
        script = engines["turso-mvcc"]["runs"][0]["scripts"][0]
        self.assertGreater(script["retries"], 0)
        self.assertGreaterEqual(script["retries"], 2 * script["conflict"])
        script = engines["turso"]["runs"][0]["scripts"][0]
        self.assertEqual((script["retries"], script["conflict"]), (0, 0))

    def test_a_panic_is_a_failure_with_its_last_words(self):
        config = self.folder / "config" / "pitot" / "engines"
        config.mkdir(parents=True)
        manifest = {"name": "panicking", "summary": "dies", "driver": "turso",
                    "library": str(PANICKING), "no_shm": True}
        (config / "panicking.json").write_text(json.dumps(manifest), encoding="utf-8")
        done = self.pitot(*self.arguments("prod", "panicking,turso"), status=1,
                          env={"PITOT_TEST_TURSO_LIBRARY": os.path.realpath(BUILT / "libturso.so"),
                               "PITOT_TEST_PANIC_AT": "500"})
        engines = self.engines_of_result()
        self.check_measured(engines["turso"], done)
        self.assertEqual(engines["panicking"]["status"], "failed")
        self.assertIn("signal 6", engines["panicking"]["error"])
        self.assertIn("panicked at core/made-up.rs", done.stdout + done.stderr)

    def test_the_second_opinion(self):
        names = "turso,turso-mvcc"
        engines, done = self.result("prod", names)
        for name, engine in engines.items():  # sqlite is not in this cache
            self.assertEqual((name, engine["runs"][0]["check"]["second_opinion"]), (name, None))
            self.assertIn("no second opinion of sqlite on its files: ", done.stdout)
        if not SQLITE.exists():
            self.skipTest(f"{SQLITE} is not there: scripts/build-engine-sqlite builds it")
        (self.engines / "sqlite").symlink_to(os.path.realpath(SQLITE))
        engines, done = self.result("prod", names)
        for name, engine in engines.items():
            with self.subTest(name):
                self.check_measured(engine, done)
                self.assertEqual(engine["runs"][0]["check"]["second_opinion"], "sqlite")
                self.assertNotIn("no second opinion", done.stdout)

    def test_a_database_that_another_process_has_open(self):
        path = self.work / "d.db"
        other = sqlite3.connect(path)
        self.addCleanup(other.close)
        other.execute("CREATE TABLE t (a)")
        with worker_client.Worker("--engine", "turso", "--driver", "turso", "--library",
                                  str(BUILT / "libturso.so")) as worker:
            worker.expect("hello")
            other.execute("BEGIN IMMEDIATE")
            worker.send(worker_client.job("check", str(path), tables=["t"], integrity="none"))
            error = worker.expect("error")
            self.assertEqual(error["phase"], "open")
            self.assertIn(f"process {os.getpid()} has {path} open, and Turso opens a database only "
                          "for one process at a time", error["message"])

    def test_a_killed_worker_leaves_the_others(self):
        engines, _ = self.kill_in_its_round("turso-mvcc", "turso,turso-mvcc")
        self.assertEqual(engines["turso"]["status"], "ok")
        self.assertEqual(engines["turso-mvcc"]["status"], "failed")
        self.assertIn("signal 9", engines["turso-mvcc"]["error"])


if __name__ == "__main__":
    unittest.main()
