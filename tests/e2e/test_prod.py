"""pitot prod from end to end, on a data set of a few hundred rows."""

import csv
import io
import os
import pathlib
import signal
import sqlite3
import subprocess
import unittest

import pitot_test
from pitot_test import PitotTest

USERS = 200
OUTCOMES = ("ok", "busy", "conflict", "failed", "skipped", "open")
SCRIPTS = ["user_by_id", "user_by_email", "orders_by_user", "users_by_plan_page",
           "revenue_dashboard", "insert_order", "update_order_status"]


class ProdTest(PitotTest):
    """With a copy of workloads/prod that has a scale `tiny`, its first."""

    def setUp(self):
        super().setUp()
        self.workload = self.copy_workload("prod")
        self.change_suite(self.workload, self.add_tiny)

    @staticmethod
    def add_tiny(suite):
        tiny = {"users": USERS, "orders_per_user": 4, "orders": 4 * USERS}
        suite["scales"] = {"tiny": tiny, **suite["scales"]}

    def short(self, *more, engines=None, rounds=1, duration=0.3):
        return ["prod", "--workload", self.workload, "--engines", engines or self.sqlite(),
                "--rounds", rounds, "--duration", duration, "--warmup", "50", *more]

    def measure(self, *more, status=0, **options):
        """A short run, its result as JSON."""
        self.pitot(*self.short("--json", "x.json", *more, **options), status=status)
        return self.read_json("x.json")

    def data_files(self):
        return sorted(path.name for path in (self.work / "data").iterdir())

    def template(self):
        return next((self.work / "data").glob("template-*.db"))

    def check_only_the_template_is_left(self):
        names = self.data_files()
        self.assertEqual(len(names), 3, names)
        stem = names[0].removesuffix(".db")
        self.assertEqual(names, [stem + ".db", stem + ".json", "template.lock"])


class Result(ProdTest):
    def test_a_run_is_whole_and_adds_up(self):
        result = self.measure(rounds=2)
        self.check_schema(result, "docs/result.schema.json")
        self.assertFalse(result["partial"])
        engine = result["engines"][0]
        self.assertEqual(engine["status"], "ok")
        self.assertEqual(len(engine["runs"]), 2)
        for run in engine["runs"]:
            self.assertEqual(sorted(s["script"] for s in run["scripts"]), sorted(SCRIPTS))
            self.assertEqual(len(run["connections"]), 4)
            busy = 0
            for script in run["scripts"]:
                self.assertEqual(script["attempted"], sum(script[o] for o in OUTCOMES))
                self.assertEqual(script["failed"], 0, script["errors"])
                latency = script["latency"]
                self.assertEqual(latency["count"], script["ok"])
                self.assertEqual(sum(n for _, n in latency["buckets"]) + latency["overflow"],
                                 latency["count"])
                busy += script["time_ns"]
            self.assertLessEqual(busy, run["window_ns"] * 4 * 1.001)
            self.assertGreaterEqual(run["window_ns"], 300_000_000)
            counted = sum(c["operations"] for c in run["connections"])
            self.assertEqual(counted, sum(s["ok"] for s in run["scripts"]))
            self.assertEqual(sum(sum(second["operations"]) for second in run["seconds"]), counted)
        self.check_only_the_template_is_left()

    def test_every_script_touches_rows(self):
        result = self.measure()
        for script in result["engines"][0]["runs"][0]["scripts"]:
            rows = script["rows_changed"] if script["write"] else script["rows_read"]
            self.assertGreater(rows, 0, script["script"])
            if script["write"]:
                self.assertEqual(script["rows_changed"], script["ok"], script["script"])

    def test_settings_are_read_back_on_each_connection(self):
        result = self.measure("--cache", "-4096", "--timeout", "7000")
        for connection in result["engines"][0]["runs"][0]["connections"]:
            settings = {s["name"]: s for s in connection["settings"]}
            expected = {"journal_mode": "wal", "synchronous": "1", "cache_size": "-4096",
                        "busy_timeout": "7000", "page_size": "4096"}
            for name, value in expected.items():
                self.assertEqual(settings[name]["got"], value)
                self.assertTrue(settings[name]["required"] and settings[name]["agrees"])

    def test_what_was_inserted_is_in_the_copy(self):
        result = self.measure("--keep")
        kept = [p for p in (self.work / "data").iterdir() if p.name.startswith("kept-")]
        copy = next(p for p in kept if p.suffix == ".db")
        with sqlite3.connect(copy) as database:
            rows = database.execute("SELECT count(*) FROM orders").fetchone()[0]
            whole = database.execute("PRAGMA integrity_check").fetchone()[0]
        database.close()
        run = result["engines"][0]["runs"][0]
        inserted = next(s["ok"] for s in run["scripts"] if s["script"] == "insert_order")
        self.assertEqual(whole, "ok")
        # Warm-up inserts, too; it made 50 executions on each of 4 connections.
        self.assertGreaterEqual(rows, 4 * USERS + inserted)
        self.assertLessEqual(rows, 4 * USERS + inserted + 200)
        self.measure()
        self.assertTrue(copy.exists(), "a later run took what was to be kept")

    def test_the_seed_gives_the_template(self):
        self.measure("--seed", "7")
        first = self.template().read_bytes()
        self.measure("--seed", "7", "--fresh")
        self.assertEqual(first, self.template().read_bytes())
        self.measure("--seed", "8")
        self.assertEqual(len(list((self.work / "data").glob("template-*.db"))), 2)

    def test_null_needs_no_template(self):
        result = self.measure(engines="null")
        self.assertEqual(result["templates"], [])
        self.assertIsNone(result["cases"][0]["template"])
        self.assertEqual(result["engines"][0]["status"], "ok")
        self.check_schema(result, "docs/result.schema.json")

    def test_a_new_query_is_a_file_and_a_line(self):
        (self.workload / "count_users.sql").write_text("SELECT count(*) FROM users;\n")
        suite = (self.workload / "suite.json").read_text()
        line = '"scripts": [\n{"name": "count_users", "kind": "read", "compare": "ordered"},'
        (self.workload / "suite.json").write_text(suite.replace('"scripts": [', line, 1))
        result = self.measure()
        names = [s["script"] for s in result["engines"][0]["runs"][0]["scripts"]]
        self.assertIn("count_users", names)


class Reports(ProdTest):
    def test_csv_agrees_with_the_result(self):
        result = self.measure(rounds=2)
        done = self.pitot("report", "x.json", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout, newline="")))
        summary = result["engines"][0]["summaries"][0]
        found = {(row["script"], row["metric"]): row for row in rows}
        rate = found[("", "operations_per_second")]
        self.assertAlmostEqual(float(rate["median"]),
                               summary["operations_per_second"]["median"], places=6)
        for script in summary["scripts"]:
            row = found[(script["script"], "latency_p99")]
            self.assertEqual(row["unit"], "ns")
            self.assertAlmostEqual(float(row["median"]), script["points_ns"]["p99"]["median"],
                                   places=3)

    def test_json_goes_through_report_unchanged(self):
        self.measure()
        done = self.pitot("report", "x.json", "--format", "json")
        self.assertEqual(pitot_test.strict_json(done.stdout), self.read_json("x.json"))

    def test_the_table_names_all_queries(self):
        self.measure()
        done = self.pitot("report", "x.json")
        for name in SCRIPTS:
            self.assertIn(name, done.stdout)
        self.assertIn("One run: no difference is claimed", done.stdout)

    def test_json_to_standard_output(self):
        done = self.pitot(*self.short("--json", "-"))
        self.check_schema(pitot_test.strict_json(done.stdout), "docs/result.schema.json")

    def test_hostile_names_survive_every_format(self):
        folder = self.work / "a,b"
        folder.mkdir()
        library = folder / 'lib"x|y;z\x1b[31m.so'
        library.symlink_to(pitot_test.system_sqlite())
        escaped = str(library).replace("\\", "\\\\").replace(",", "\\,")
        result = self.measure(engines=f"{self.sqlite()},sqlite={escaped}")
        self.assertEqual(len(result["engines"]), 2)
        name = result["engines"][1]["name"]
        self.assertEqual(name, f"sqlite={library}")
        # A CSV field holds the bytes as they are, the escape byte too: not through self.pitot().
        done = self.run_command(pitot_test.BUILD / "pitot", "report", "x.json", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout, newline="")))
        # Some warnings are about no engine.
        self.assertEqual({row["engine"] for row in rows if row["metric"] != "warning"},
                         {self.sqlite(), name})
        self.assertIn("?[31m", self.pitot("report", "x.json", "--width", "200").stdout)


class Pragmas(ProdTest):
    def page_size(self):
        header = self.template().read_bytes()[16:18]
        return int.from_bytes(header, "big")

    def check_taken(self, pragma, got):
        name, _, value = pragma.partition("=")
        result = self.measure("--pragma", pragma)
        for connection in result["engines"][0]["runs"][0]["connections"]:
            setting = next(s for s in connection["settings"] if s["name"] == name)
            self.assertEqual(setting["got"], got)
            self.assertTrue(setting["agrees"])

    def test_page_size_512(self):
        self.check_taken("page_size=512", "512")
        self.assertEqual(self.page_size(), 512)

    def test_page_size_65536(self):
        self.check_taken("page_size=65536", "65536")
        self.assertEqual(self.page_size(), 1)

    def test_auto_vacuum(self):
        self.check_taken("auto_vacuum=1", "1")

    def test_encoding(self):
        self.check_taken("encoding='UTF-16le'", "UTF-16le")

    def test_each_has_a_template_of_its_own(self):
        self.measure()
        self.measure("--pragma", "page_size=512")
        self.measure("--pragma", "page_size=512")
        self.assertEqual(len(list((self.work / "data").glob("template-*.db"))), 2)

    def test_a_page_size_that_is_not_taken(self):
        done = self.pitot(*self.short("--pragma", "page_size=1000"), status=2)
        self.assertIn("page_size=1000", done.stderr)
        self.assertIn("4096", done.stderr)

    def test_an_informative_setting_that_differs_is_shown(self):
        result = self.measure("--pragma", "mmap_size=1", "--pragma", "nonesuch=1")
        self.assertEqual(result["engines"][0]["status"], "ok")
        connection = result["engines"][0]["runs"][0]["connections"][0]
        setting = next(s for s in connection["settings"] if s["name"] == "nonesuch")
        self.assertIsNone(setting["got"])
        self.assertFalse(setting["required"])


class Scripts(ProdTest):
    """Inputs as users bring them: the only script of a workload."""

    def only(self, text, kind="read"):
        for name in SCRIPTS:
            (self.workload / f"{name}.sql").unlink()
        (self.workload / "one.sql").write_bytes(
            text if isinstance(text, bytes) else text.encode())

        def change(suite):
            suite["scripts"] = [{"name": "one", "kind": kind, "compare": "ordered"}]

        self.change_suite(self.workload, change)

    def refused(self, text, place, *words):
        self.only(text)
        done = self.pitot(*self.short(), status=2)
        self.assertIn(f"one.sql:{place}:", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.work / "data").exists())

    def test_colons_in_literals_and_comments(self):
        self.only("""-- opens at :noon, which is no parameter
/* nor is :this, nor the ';' in it */
\\set user random(1, :users)
SELECT '12:30:00' AS t, ':user' AS quoted, "id:x", 'it''s :user; still text'
FROM (SELECT id AS "id:x" FROM orders) WHERE "id:x" = :user;
""")
        run = self.measure()["engines"][0]["runs"][0]
        self.assertEqual(run["scripts"][0]["rows_read"], run["scripts"][0]["ok"])

    def test_byte_order_mark_and_crlf(self):
        self.only(b"\xef\xbb\xbf\\set user random(1, :users)\r\n"
                  b"SELECT length('one\r\ntwo'), id FROM users\r\nWHERE id = :user;\r\n")
        run = self.measure()["engines"][0]["runs"][0]
        self.assertEqual(run["scripts"][0]["rows_read"], run["scripts"][0]["ok"])

    def test_cast(self):
        self.refused("\\set user random(1, :users)\nSELECT id FROM users WHERE id = :user::INTEGER;\n",
                     "2:38", "CAST")

    def test_question_mark(self):
        self.refused("SELECT id, name FROM users WHERE id = ?1;\n", "1:39", ":")

    def test_at_sign(self):
        self.refused("\\set user 7\nSELECT id FROM users WHERE id = @user OR id = $user;\n",
                     "2:33", ":user")

    def test_setrandom(self):
        self.refused("\\setrandom user 1 100000\nSELECT id FROM users WHERE id = :user;\n",
                     "1:1", "\\set user random(1, 100000)")

    def test_utf16(self):
        self.refused("SELECT 1;".encode("utf-16"), "1:1", "UTF-8")

    def test_a_column_that_is_not_there(self):
        self.only("SELECT nonesuch FROM users;\n")
        done = self.pitot(*self.short(), status=2)
        self.assertIn("one.sql:1:1:", done.stderr)
        self.assertIn("nonesuch", done.stderr)

    def test_a_read_that_writes(self):
        for text in ("WITH x AS (SELECT 1) UPDATE users SET plan = 'x' WHERE id = 1;",
                     "UPDATE\tusers SET plan = 'x' WHERE id = 1;"):
            with self.subTest(text):
                self.setUp()
                self.only(text)
                done = self.pitot(*self.short(), status=2)
                self.assertIn("one.sql:1:1:", done.stderr)
                self.assertIn('"kind": "write"', done.stderr)

    def test_arithmetic_that_fails_in_a_run(self):
        self.only("\\set x 1 / (:op % 2)\nSELECT id FROM users WHERE id = :x;\n")
        done = self.pitot(*self.short(), status=None)
        self.assertIn("one.sql:1:", done.stderr)
        self.assertNotEqual(done.status, 0)


class Windows(ProdTest):
    def test_a_connection_that_hangs_is_busy_until_the_deadline(self):
        for name in SCRIPTS:
            if name != "insert_order":
                (self.workload / f"{name}.sql").unlink()
        # Connection 0, which also answers the check before the run, ends at once.
        (self.workload / "endless.sql").write_text(
            "\\set most if(:connection = 1, 1000000000000, 2)\n"
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < :most) "
            "SELECT count(*) FROM c;\n")

        def change(suite):
            suite["scripts"] = [
                {"name": "insert_order", "kind": "write", "compare": "ordered", "weight": 50},
                {"name": "endless", "kind": "read", "compare": "ordered"}]

        self.change_suite(self.workload, change)
        self.pitot("prod", "--workload", self.workload, "--engines", self.sqlite(), "--rounds", "1",
                   "--duration", "1", "--warmup", "0", "--grace", "100ms", "--threads", "2",
                   "--json", "x.json", status=None)
        engine = self.read_json("x.json")["engines"][0]
        run = engine["runs"][0]
        scripts = {s["script"]: s for s in run["scripts"]}
        self.assertEqual(scripts["endless"]["open"], 1)
        self.assertEqual(run["connections"][1]["window_ns"], 1_000_000_000)
        self.assertGreater(run["window_ns"], 1_100_000_000)
        rate = engine["summaries"][0]["writes_per_second"]["median"]
        self.assertLessEqual(rate, scripts["insert_order"]["ok"] / 1.0)


class Engines(ProdTest):
    def test_a_file_that_is_no_library(self):
        done = self.pitot(*self.short(engines="sqlite=/bin/ls"), status=3)
        self.assertIn("/bin/ls", done.stderr)

    def test_the_others_are_measured(self):
        result = self.measure(engines=f"{self.sqlite()},sqlite=/bin/ls", status=1)
        self.assertEqual([e["status"] for e in result["engines"]], ["ok", "failed"])
        self.assertIn("/bin/ls", result["engines"][1]["error"])
        self.check_schema(result, "docs/result.schema.json")

    def test_two_libraries_in_processes_of_their_own(self):
        copy = self.work / "copy.so"
        copy.write_bytes(pathlib.Path(pitot_test.system_sqlite()).read_bytes())
        result = self.measure(engines=f"{self.sqlite()},sqlite={copy}")
        real = [e["libraries"][0]["real"] for e in result["engines"]]
        self.assertEqual(real[1], str(copy))
        self.assertEqual(os.path.realpath(real[0]), os.path.realpath(pitot_test.system_sqlite()))

    def test_the_same_engine_twice(self):
        result = self.measure(engines="null,null")
        self.assertEqual([e["name"] for e in result["engines"]], ["null", "null#2"])

    def test_3_40_1_warns_of_the_wal_reset(self):
        result = self.measure()
        engine = result["engines"][0]
        if engine["version"] != "3.40.1":
            self.skipTest(f"the system's SQLite is {engine['version']}")
        self.assertTrue(any("3.51.3" in w["text"] or "WAL" in w["text"]
                            for w in result["warnings"] if w["subject"] == engine["name"]))

    def test_a_worker_of_ones_own_that_fails(self):
        """Manifests need no recompilation; a worker that says nonsense is one failed row."""
        folder = self.folder / "config" / "pitot" / "engines"
        folder.mkdir(parents=True)
        program = self.work / "mad.sh"
        program.write_text("#!/bin/sh\necho last words >&2\necho '{\"kind\":' >&3\n")
        program.chmod(0o755)
        (folder / "mad.json").write_text(
            '{"name": "mad", "summary": "says nonsense", "command": ["%s"]}' % program)
        result = self.measure(engines=f"{self.sqlite()},mad", status=1)
        self.assertEqual(result["engines"][1]["status"], "failed")
        self.assertIn("protocol", result["engines"][1]["error"])


class Folders(ProdTest):
    def test_names_that_are_not_plain(self):
        for name in ("with space", "a#b?c%d", "ünï→cødé", "semi;colon'quote"):
            with self.subTest(name):
                self.pitot(*self.short("--dir", name))
                self.assertEqual(len(list((self.work / name).glob("template-*.db"))), 1)

    def test_environment(self):
        self.pitot(*self.short(), env={"BENCH_DATA_DIR": self.work / "elsewhere"})
        self.assertTrue((self.work / "elsewhere" / "template.lock").exists())

    def test_a_file(self):
        (self.work / "file").write_text("mine")
        done = self.pitot(*self.short("--dir", "file"), status=2)
        self.assertIn("file", done.stderr)
        self.assertEqual((self.work / "file").read_text(), "mine")

    def test_memory(self):
        done = self.pitot(*self.short("--dir", ":memory:"), status=2)
        self.assertIn(":memory:", done.stderr)

    def test_read_only(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        (self.work / "locked").mkdir(mode=0o555)
        for folder in (self.folder, self.work, self.workload):
            folder.chmod(0o755)
        done = self.run_command("setpriv", "--reuid", "65534", "--regid", "65534",
                                "--clear-groups", pitot_test.BUILD / "pitot",
                                *self.short("--dir", self.work / "locked"))
        if "setpriv" in done.stderr or "cannot execute" in done.stderr:
            self.skipTest("the build folder cannot be reached by nobody")
        if done.status == 126 or done.status == 127:
            self.skipTest(done.stderr)
        self.assertEqual(done.status, 3, done)
        self.assertIn("locked", done.stderr)


class Ends(ProdTest):
    """What happens when pitot is ended before its time."""

    check_leftover_files = False

    def start_long(self, *more):
        process = self.start("prod", "--workload", self.workload, "--engines", self.sqlite(),
                             "--rounds", "1", "--duration", "60", "--warmup", "50", "-P", "1",
                             "--json", "x.json", *more)
        # The first line of progress about the run: it goes on by then.
        for line in process.stderr:
            if b"round 1" in line and b"run" in line:
                return process
        self.fail("no progress line of the run came")

    def check_partial(self, process, number, status):
        os.kill(process.pid, number)
        process.stdout.read()
        process.stderr.read()
        self.assertEqual(process.wait(timeout=60), status)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        self.assertTrue(result["partial"])
        run = result["engines"][0]["runs"][0]
        self.assertEqual(run["status"], "partial")
        self.assertGreater(sum(s["ok"] for s in run["scripts"]), 0)
        self.check_only_the_template_is_left()
        self.check_no_process()

    def test_sigint(self):
        self.check_partial(self.start_long(), signal.SIGINT, 130)

    def test_sigterm(self):
        self.check_partial(self.start_long(), signal.SIGTERM, 143)

    def test_killed_workers_end_and_the_next_run_cleans_up(self):
        process = self.start_long()
        process.kill()
        process.wait()
        self.wait_until_alone()
        self.assertTrue(any(n.startswith("pitot-run-") for n in self.data_files()))
        self.measure()
        self.check_only_the_template_is_left()

    def test_a_killed_worker_is_a_failed_row(self):
        process = self.start_long()
        workers = [pid for pid, name in pitot_test.descendants(process.pid).items()
                   if name == "pitot-worker"]
        self.assertEqual(len(workers), 1)
        os.kill(workers[0], signal.SIGKILL)
        output = self.finish(process)
        self.assertIn(output.status, (1, 3), output)
        engine = self.read_json("x.json")["engines"][0]
        self.assertEqual(engine["status"], "failed")
        self.assertIn("signal 9", engine["error"])
        self.check_only_the_template_is_left()

    def test_two_at_once_the_second_waits(self):
        first = self.start_long()
        second = self.start(*self.short("--json", "y.json"))
        line = second.stderr.readline()
        self.assertIn(str(first.pid).encode(), line)
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=60)
        second.communicate(timeout=60)
        self.assertEqual(second.returncode, 0)
        self.check_only_the_template_is_left()

    def test_small_process_numbers_come_again(self):
        """As in a container: killed, then started again with the same numbers."""
        if os.geteuid() != 0 or subprocess.run(
                ["unshare", "-pf", "--mount-proc", "true"], capture_output=True).returncode != 0:
            self.skipTest("unshare -pf is not allowed here")
        kill = ["sh", "-c", '"$@" & sleep 0.7; kill -9 $!; wait', "sh"]
        again = ["sh", "-c", '"$@"', "sh"]
        command = [str(pitot_test.BUILD / "pitot"), *map(str, self.short(duration=60))]
        space = ["unshare", "-pf", "--mount-proc"]
        self.run_command(*space, *kill, *command)
        command = [str(pitot_test.BUILD / "pitot"), *map(str, self.short())]
        done = self.run_command(*space, *again, *command)
        self.assertEqual(done.status, 0, done)
        self.check_only_the_template_is_left()


class Streams(ProdTest):
    def test_head(self):
        command = " ".join(f"'{word}'" for word in
                           [pitot_test.BUILD / "pitot", *self.short("--quiet")])
        done = self.run_command("sh", "-c", f"{command} | head -n 1")
        self.assertEqual(done.status, 0, done)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertEqual(done.stderr, "")

    def test_quiet(self):
        self.assertEqual(self.pitot(*self.short("--quiet")).stderr, "")

    def test_progress_has_no_escape_byte_in_a_pipe(self):
        done = self.pitot(*self.short(), env={"TERM": "xterm-256color"})
        self.assertNotIn("\x1b", done.stdout + done.stderr)
        self.assertIn("template built", done.stderr)

    def test_no_line_is_wider_than_the_window(self):
        for columns in ("20", "47", "80"):
            done = self.pitot(*self.short(), env={"COLUMNS": columns})
            widest = max(len(line) for line in done.stdout.splitlines())
            self.assertLessEqual(widest, int(columns))


if __name__ == "__main__":
    unittest.main()
