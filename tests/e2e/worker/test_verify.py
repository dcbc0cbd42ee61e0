"""The `verify` job of docs/worker-protocol.md, with the system's SQLite.

Digests and draws are worked out a second time here, with the references in tests/vectors.
By hand: PITOT_BUILD_FOLDER=/path/to/build python3 test_verify.py
"""

import importlib.util
import os
import sqlite3
import struct
import tempfile
import unittest

from worker_client import (HERE, Worker, call, constant, find_sqlite, job, names, run, script,
                           set_to, statement, step, variable)

SQLITE = find_sqlite()


def load_reference(name):
    path = os.path.join(HERE, "../../vectors", name + ".py")
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = load_reference("make-digest")
RANDOM = load_reference("make-random")
PURPOSE_VERIFY = 6


def operation_digest(outcome, statements, compare, strict):
    """`statements`: (rows changed, rows) of each that ran."""
    data = outcome
    for changed, rows in statements:
        data += struct.pack("<Q", changed)
        hashes = [REFERENCE.row(row, strict) for row in rows]
        if compare == "count":
            hashes = [len(rows)]
        elif compare == "set":
            hashes.sort()
        data += b"".join(struct.pack("<Q", h) for h in hashes)
    return "%016x" % REFERENCE.digest(data)


def table_digest(rows, strict):
    total = sum(REFERENCE.row(row, strict) for row in rows) % 2**64
    return "%016x" % REFERENCE.digest(struct.pack("<QQ", len(rows), total))


def compared(how, text):
    return dict(text, compare=how)


def point(most=5, how="ordered"):
    return compared(how, script("point", names(id="set"),
                                [statement("SELECT id, name, weight FROM users WHERE id = ?", 0)],
                                [set_to(0, call("random", constant(1), constant(most))), run(0)]))


def query(sql, how="ordered"):
    return compared(how, script("query", names(), [statement(sql)], [run(0)]))


def write(sql="INSERT INTO log (op, at) VALUES (?, random())"):
    return compared("ordered", script("write", names(op="builtin"), [statement(sql, 0)], [run(0)],
                                      kind="write"))


def verify_job(database, scripts, operations=10, **more):
    return job("verify", database, scripts=scripts, operations=operations,
               **dict({"ignore": ["log.at"]}, **more))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="pitot-worker-test-")
        self.addCleanup(self.folder.cleanup)
        self.database = os.path.join(self.folder.name, "a.db")
        self.make()

    def make(self, *changes, order="id"):
        """The database, anew; `order` is that in which the rows are inserted."""
        if os.path.exists(self.database):
            os.remove(self.database)
        users = [(1, "Ann", 1.5), (2, "Bea", None), (3, "Cy", 3.0), (4, "Cy", -0.5), (5, "", 7.0)]
        if order == "backwards":
            users.reverse()
        connection = sqlite3.connect(self.database)
        connection.executescript(
            "CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, weight REAL);"
            "CREATE TABLE heap(id INTEGER, name TEXT, weight REAL);"
            'CREATE TABLE "a ""b"""(x BLOB);'
            "CREATE TABLE log(op INTEGER, at INTEGER);")
        connection.executemany("INSERT INTO users VALUES (?, ?, ?)", users)
        connection.executemany("INSERT INTO heap VALUES (?, ?, ?)", users)
        connection.execute('INSERT INTO "a ""b""" VALUES (?)', (b"\0\xff",))
        for sql in changes:
            connection.execute(sql)
        connection.commit()
        connection.close()

    def query(self, sql):
        connection = sqlite3.connect(self.database)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def worker(self):
        worker = Worker("--engine", "sqlite", "--driver", "sqlite", "--library", SQLITE)
        worker.expect("hello")
        return worker

    def verify(self, line):
        with self.worker() as worker:
            worker.send(line)
            result = worker.expect("result")
            self.assertEqual(worker.ended(), 0)
        self.assertEqual(result["job"], "verify")
        for entry in result.get("scripts", []):
            count = entry["ok"] + entry["busy"] + entry["conflict"] + entry["failed"]
            self.assertEqual([len(entry["value"]), len(entry["strict"])], [count, count])
            self.assertEqual(sum(e["count"] for e in entry["errors"]), entry["failed"])
        return result

    def verify_error(self, line, phase, text):
        with self.worker() as worker:
            worker.send(line)
            error = worker.expect("error")
            self.assertEqual(worker.ended(), 1)
        self.assertEqual(error["phase"], phase, error)
        self.assertIn(text, error["message"])
        return error

    def one(self, sql, how):
        return self.verify(verify_job(self.database, [query(sql, how)], 1))["scripts"][0]


@unittest.skipIf(SQLITE is None, "no libsqlite3 on this machine")
class TestDigests(Case):
    def test_answers_by_another_implementation(self):
        sql = ("SELECT id, name, weight, x'00ff', 9007199254740993, 2.0, NULL FROM users "
               "ORDER BY name, id DESC")
        rows = self.query(sql)
        for how in ("ordered", "set", "count"):
            entry = self.one(sql, how)
            for kind in ("value", "strict"):
                self.assertEqual(entry[kind],
                                 [operation_digest(b"o", [(0, rows)], how, kind == "strict")])
            self.assertEqual((entry["rows_read"], entry["rows_changed"]), (5, 0))

    def test_tables_by_another_implementation(self):
        result = self.verify(verify_job(self.database, [point()], 1))
        self.assertEqual([t["table"] for t in result["tables"]], ['a "b"', "heap", "log", "users"])
        for table in result["tables"]:
            rows = self.query('SELECT * FROM "%s"' % table["table"].replace('"', '""'))
            self.assertEqual(table["rows"], len(rows))
            for kind in ("value", "strict"):
                self.assertEqual(table[kind], table_digest(rows, kind == "strict"))

    def test_ends_of_ranges_come_first(self):
        entry = self.verify(verify_job(self.database, [point()], 40))["scripts"][0]
        by_id = {operation_digest(b"o", [(0, self.query(
            "SELECT * FROM users WHERE id = %d" % i))], "ordered", False): i for i in range(7)}
        drawn = [by_id[digest] for digest in entry["value"]]
        # Id 0 is the same answer as 6: none.
        self.assertEqual([drawn[0], drawn[1], drawn[2]], [1, 5, 6])
        self.assertEqual(set(drawn[3:]), {1, 2, 3, 4, 5})
        self.assertEqual(entry["rows_read"], 39)

    def test_twice_the_same_and_another_seed_another(self):
        def run_once(seed):
            self.make()
            result = self.verify(verify_job(self.database, [point(), write()], 20, seed=seed))
            del result["elapsed_ns"]
            return result
        first, second, other = run_once(7), run_once(7), run_once(8)
        self.assertEqual(first, second)
        self.assertEqual(first["tables"], other["tables"])
        self.assertNotEqual(first["scripts"][0]["value"], other["scripts"][0]["value"])
        self.assertEqual(first["scripts"][1]["value"], other["scripts"][1]["value"])

    def test_a_row_less_or_changed_shows_in_answers_and_tables(self):
        line = verify_job(self.database, [point(), query("SELECT * FROM users", "set")], 40)
        first = self.verify(line)
        for change in ("DELETE FROM users WHERE id = 3", "UPDATE users SET name = 'Cz' WHERE id = 3",
                       "UPDATE users SET weight = NULL WHERE id = 3"):
            self.make(change)
            second = self.verify(line)
            for i in (0, 1):
                self.assertNotEqual(first["scripts"][i]["value"], second["scripts"][i]["value"])
            differ = [a["table"] for a, b in zip(first["tables"], second["tables"]) if a != b]
            self.assertEqual(differ, ["users"])
            # Only the executions that read row 3 differ.
            self.assertEqual(first["scripts"][0]["value"][:3], second["scripts"][0]["value"][:3])

    def test_order_counts_for_ordered_alone(self):
        ordered = {how: self.one("SELECT * FROM heap", how)["value"]
                   for how in ("ordered", "set", "count")}
        table = self.verify(verify_job(self.database, [point()], 1))["tables"]
        self.make(order="backwards")
        for how, before in ordered.items():
            after = self.one("SELECT * FROM heap", how)["value"]
            self.assertEqual(before == after, how != "ordered", how)
        self.assertEqual(self.verify(verify_job(self.database, [point()], 1))["tables"], table)

    def test_only_count_is_blind_to_what_rows_hold(self):
        def all_three():
            return [self.one("SELECT name FROM users ORDER BY id", how)["value"]
                    for how in ("ordered", "set", "count")]
        first = all_three()
        self.make("UPDATE users SET name = 'x' WHERE id = 1")
        self.assertEqual([a == b for a, b in zip(first, all_three())], [False, False, True])
        self.make("DELETE FROM users WHERE id = 1")
        self.assertEqual([a == b for a, b in zip(first, all_three())], [False] * 3)

    def test_strict_alone_sees_the_storage_class(self):
        first, second = self.one("SELECT 3", "ordered"), self.one("SELECT 3.0", "ordered")
        self.assertEqual(first["value"], second["value"])
        self.assertNotEqual(first["strict"], second["strict"])

    def test_ignore_leaves_a_column_out(self):
        def table(name, **more):
            self.make()
            result = self.verify(verify_job(self.database, [write()], 5, **more))
            return [t for t in result["tables"] if t["table"] == name][0]
        self.assertNotEqual(table("log", ignore=[]), table("log", ignore=[]))
        self.assertEqual(table("log"), table("log"))
        self.assertEqual(table("log"), table("log", ignore=["LOG.At"]))
        self.assertEqual(table("log")["value"], table_digest([(i,) for i in range(5)], False))
        everything = table("log", ignore=["log.op", "log.at"])
        self.assertEqual(everything["value"], table_digest([(None,)] * 5, False))
        for wrong in ("log.att", "lo.at", "logs.at"):
            self.verify_error(verify_job(self.database, [point()], 1, ignore=[wrong]),
                              "verify", wrong)

    def test_ignore_of_a_generated_column(self):
        def table(*ignore):
            self.make("CREATE TABLE made(a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) VIRTUAL, "
                      "c INTEGER AS (a * 3) STORED)", "INSERT INTO made VALUES (1), (2)")
            line = verify_job(self.database, [point()], 1, ignore=[f"made.{i}" for i in ignore])
            return next(t for t in self.verify(line)["tables"] if t["table"] == "made")
        for ignore, rows in (((), [(1, 2, 3), (2, 4, 6)]), (("a",), [(2, 3), (4, 6)]),
                             (("b",), [(1, 3), (2, 6)]), (("B", "c"), [(1,), (2,)])):
            for kind in ("value", "strict"):
                self.assertEqual(table(*ignore)[kind], table_digest(rows, kind == "strict"), ignore)

    def test_hidden_columns_stay_out(self):
        """The columns of an fts5 table that SELECT * does not give: its name and rank."""
        self.make("CREATE VIRTUAL TABLE found USING fts5(title, body)",
                  "INSERT INTO found VALUES ('a', 'b')")
        result = self.verify(verify_job(self.database, [point()], 1, ignore=["found.title"]))
        table = next(t for t in result["tables"] if t["table"] == "found")
        self.assertEqual(table["value"], table_digest([("b",)], False))

    def test_shadow_tables_are_no_tables(self):
        self.make("CREATE VIRTUAL TABLE found USING fts5(body)",
                  "CREATE VIRTUAL TABLE boxes USING rtree(id, low, high)",
                  "CREATE TABLE found_mine(x)", "CREATE TABLE users_data(x)",
                  "INSERT INTO found VALUES ('one'), ('two')")
        tables = ['a "b"', "boxes", "found", "found_mine", "heap", "log", "users", "users_data"]
        result = self.verify(verify_job(self.database, [point()], 1))
        self.assertEqual([t["table"] for t in result["tables"]], tables)
        self.assertEqual(result["tables"][2]["value"], table_digest([("one",), ("two",)], False))
        with self.worker() as worker:
            worker.send(job("check", self.database, tables=[], integrity="none"))
            self.assertEqual(list(worker.expect("result")["rows"]), tables)
            self.assertEqual(worker.ended(), 0)

    def test_a_zero_has_no_sign(self):
        self.make("CREATE TABLE zero(x REAL)", "INSERT INTO zero VALUES (0.0)")
        result = self.verify(verify_job(self.database, [query("SELECT -0.0"),
                                                        query("SELECT 0.0 * -1")], 1))
        for entry in result["scripts"]:
            self.assertEqual(entry["strict"],
                             [operation_digest(b"o", [(0, [(0.0,)])], "ordered", True)])

    def test_no_tables_and_no_rows(self):
        os.remove(self.database)
        sqlite3.connect(self.database).execute("PRAGMA user_version = 1").connection.close()
        result = self.verify(verify_job(self.database, [query("SELECT 1 WHERE 0")], 1, ignore=[]))
        self.assertEqual(result["tables"], [])
        self.assertEqual(result["scripts"][0]["value"],
                         [operation_digest(b"o", [(0, [])], "ordered", False)])


@unittest.skipIf(SQLITE is None, "no libsqlite3 on this machine")
class TestExecutions(Case):
    def test_writes_are_answers_and_stay(self):
        entry = self.verify(verify_job(self.database, [write(), query("SELECT count(*) FROM log")],
                                       10))["scripts"]
        self.assertEqual(entry[0]["value"],
                         [operation_digest(b"o", [(1, [])], "ordered", False)] * 10)
        self.assertEqual(entry[0]["rows_changed"], 10)
        self.assertEqual(entry[1]["value"],
                         [operation_digest(b"o", [(0, [(10,)])], "ordered", False)] * 10)
        self.assertEqual(self.query("SELECT op FROM log"), [(i,) for i in range(10)])

    def test_op_counts_on_from_script_to_script(self):
        self.verify(verify_job(self.database, [write(), point(), write()], 4))
        self.assertEqual(self.query("SELECT op FROM log"), [(i,) for i in (0, 1, 2, 3, 8, 9, 10, 11)])

    def test_draws_by_another_implementation(self):
        most = 1 << 40
        text = compared("ordered", script(
            "draw", names(n="set"), [statement("INSERT INTO log VALUES (?, 0)", 0)],
            [set_to(0, call("random", constant(1), constant(most))), run(0)], kind="write"))
        self.verify(verify_job(self.database, [text, text], 6, seed=4000000000))
        expected = []
        for index in (0, 1):
            stream = RANDOM.Random([4000000000, PURPOSE_VERIFY, 0, index])
            expected += [1, most, most + 1, *(1 + stream.below(most) for _ in range(3))]
        self.assertEqual(self.query("SELECT op FROM log"), [(n,) for n in expected])

    def test_a_failure_rolls_back_and_goes_on(self):
        both = compared("ordered", script(
            "both", names(id="set"),
            [statement("INSERT INTO log VALUES (?, 1)", 0),
             statement("SELECT id, id / (id < 5) FROM users WHERE id = ?", 0),
             statement("INSERT INTO users (id) VALUES (?)", 0)],
            [set_to(0, call("random", constant(1), constant(5))), step("begin_write"), run(0),
             run(1), run(2), step("commit")], kind="write"))
        entry = self.verify(verify_job(self.database, [both], 10, ignore=[]))["scripts"][0]
        self.assertEqual((entry["ok"], entry["failed"]), (1, 9))
        self.assertEqual(entry["errors"][0]["statement"], 2)
        self.assertEqual((entry["rows_read"], entry["rows_changed"]), (0, 2))
        # What ran before the failure belongs to the answer.
        self.assertEqual(entry["value"][0],
                         operation_digest(b"f", [(1, []), (0, [(1, 1)])], "ordered", False))
        self.assertEqual(entry["value"][2],
                         operation_digest(b"o", [(1, []), (0, []), (1, [])], "ordered", False))
        self.assertEqual(self.query("SELECT op FROM log"), [(6,)])

    def test_rows_of_a_statement_that_fails_are_no_answer(self):
        # Three rows come, then the engine gives up.
        text = query("SELECT abs(CASE WHEN id < 4 THEN id ELSE -9223372036854775807 - 1 END) "
                     "FROM users ORDER BY id")
        entry = self.verify(verify_job(self.database, [text], 2))["scripts"][0]
        self.assertEqual((entry["failed"], entry["rows_read"]), (2, 0))
        self.assertEqual(entry["value"], [operation_digest(b"f", [], "ordered", False)] * 2)
        self.assertIn("overflow", entry["errors"][0]["message"])

    def test_a_locked_database_is_busy(self):
        holder = sqlite3.connect(self.database, isolation_level=None)
        self.addCleanup(holder.close)
        holder.execute("PRAGMA journal_mode=wal")
        holder.execute("BEGIN IMMEDIATE")
        entry = self.verify(verify_job(self.database, [write()], 3, busy_timeout_ms=1))["scripts"][0]
        self.assertEqual((entry["ok"], entry["busy"], entry["errors"]), (0, 3, []))
        self.assertEqual(entry["value"], [operation_digest(b"y", [], "ordered", False)] * 3)

    def test_one_takes_the_first_row(self):
        text = compared("ordered", script("one", names(),
                                          [statement("SELECT id FROM users ORDER BY id", one=True)],
                                          [run(0)]))
        entry = self.verify(verify_job(self.database, [text], 1))["scripts"][0]
        self.assertEqual(entry["value"], [operation_digest(b"o", [(0, [(1,)])], "ordered", False)])

    def test_arithmetic_fails_beyond_the_range_only(self):
        def text(most):
            divisor = call("subtract", constant(6), variable(0))
            return compared("ordered", script(
                "divide", names(a="set", b="set"), [statement("SELECT ?", 1)],
                [set_to(0, call("random", constant(1), constant(most))),
                 set_to(1, dict(call("divide", constant(60), divisor), place=[4, 9])), run(0)]))
        entry = self.verify(verify_job(self.database, [text(5)], 4))["scripts"][0]
        self.assertEqual((entry["ok"], entry["failed"]), (3, 1))
        self.assertEqual(entry["value"][2], operation_digest(b"f", [], "ordered", False))
        self.assertEqual(entry["errors"][0]["statement"], None)
        self.assertIn("division by zero", entry["errors"][0]["message"])
        shown = self.verify(verify_job(self.database, [text(5)], 4,
                                       detail={"script": 0, "operation": 2, "rows": 1}))
        self.assertEqual((shown["outcome"], shown["statements"]), ("failed", []))
        self.assertIn("division by zero", shown["message"])
        shown = self.verify(verify_job(self.database, [text(5)], 4,
                                       detail={"script": 0, "operation": 3, "rows": 1}))
        self.assertEqual((shown["outcome"], shown["message"]), ("ok", None))
        error = self.verify_error(verify_job(self.database, [point(), text(6)], 4), "verify",
                                  "division by zero")
        self.assertEqual((error["script"], error["place"]), (1, [4, 9]))

    def test_what_cannot_be_prepared_is_named(self):
        error = self.verify_error(verify_job(self.database, [point(), query("SELECT nam FROM users")]),
                                  "prepare", "nam")
        self.assertEqual((error["script"], error["statement"]), (1, 0))

    def test_a_missing_database(self):
        os.remove(self.database)
        self.verify_error(verify_job(self.database, [point()]), "open", self.database)
        self.verify_error(verify_job(None, [point()]), "job", "needs a database")

    def test_an_engine_without_answers(self):
        with Worker("--engine", "null", "--driver", "null") as worker:
            worker.expect("hello")
            worker.send(verify_job(self.database, [point()]))
            error = worker.expect("error")
            self.assertEqual(worker.ended(), 1)
            self.assertEqual(error["phase"], "job")
            self.assertIn("engine null stores nothing", error["message"])

    def test_required_settings_that_are_refused(self):
        self.verify_error(verify_job(self.database, [point()], settings=[
            {"name": "x;y", "value": "1", "required": True}]), "job", "x;y")


@unittest.skipIf(SQLITE is None, "no libsqlite3 on this machine")
class TestDetail(Case):
    def detail(self, scripts, index, operation, rows=20, operations=10, **more):
        self.make()
        result = self.verify(verify_job(self.database, scripts, operations, detail={
            "script": index, "operation": operation, "rows": rows}, **more))
        self.assertEqual(sorted(result), sorted(["kind", "job", "parameters", "statements",
                                                 "statements_more", "outcome", "message"]))
        return result

    def test_parameters_and_rows(self):
        shown = self.detail([point()], 0, 1)
        self.assertEqual(shown["parameters"], {"id": 5})
        self.assertEqual(shown["statements"], [
            {"statement": 0, "values": ["5"], "rows_changed": 0, "rows": [["5", "''", "7.0"]],
             "more": 0}])
        self.assertEqual((shown["outcome"], shown["message"], shown["statements_more"]),
                         ("ok", None, 0))
        shown = self.detail([point()], 0, 2)
        self.assertEqual((shown["parameters"], shown["statements"][0]["rows"]), ({"id": 6}, []))

    def test_values_are_literals(self):
        shown = self.detail([query("SELECT 1, 2.5, NULL, 'it''s', x'00ff', CAST(x'6100' AS TEXT), "
                                   "CAST(x'ff' AS TEXT), 9e999")], 0, 0)
        self.assertEqual(shown["statements"][0]["rows"],
                         [["1", "2.5", "NULL", "'it''s'", "x'00ff'", "CAST(x'6100' AS TEXT)",
                           "'\\xff'", "9e999"]])

    def test_the_same_numbers_as_in_the_whole(self):
        whole = self.verify(verify_job(self.database, [point(), point(4)], 10))
        for i in range(10):
            shown = self.detail([point(), point(4)], 1, i)
            rows = self.query("SELECT * FROM users WHERE id = %d" % shown["parameters"]["id"])
            self.assertEqual(whole["scripts"][1]["value"][i],
                             operation_digest(b"o", [(0, rows)], "ordered", False))

    def test_everything_before_it_was_done(self):
        self.detail([write(), query("SELECT 1"), write()], 2, 3)
        self.assertEqual(self.query("SELECT op FROM log"),
                         [(i,) for i in [*range(10), *range(20, 24)]])

    def test_rows_beyond_are_counted(self):
        shown = self.detail([query("SELECT id FROM users ORDER BY id")], 0, 0, rows=2)
        self.assertEqual(shown["statements"][0]["rows"], [["1"], ["2"]])
        self.assertEqual(shown["statements"][0]["more"], 3)
        shown = self.detail([query("SELECT id FROM users")], 0, 0, rows=0)
        self.assertEqual((shown["statements"][0]["rows"], shown["statements"][0]["more"]), ([], 5))

    def test_what_is_long_is_counted(self):
        shown = self.detail([query("SELECT 1 UNION ALL SELECT zeroblob(3000000)")], 0, 0)
        self.assertEqual((shown["statements"][0]["rows"], shown["statements"][0]["more"]),
                         ([["1"]], 1))
        # The rows shown are the first ones: none after one that is left out.
        shown = self.detail([query("SELECT zeroblob(3000000) UNION ALL SELECT 1")], 0, 0)
        self.assertEqual((shown["statements"][0]["rows"], shown["statements"][0]["more"]), ([], 2))
        many = compared("ordered", script(
            "many", names(i="set"), [statement("SELECT ?", 0)],
            [{"step": "repeat", "count": constant(10003), "variable": 0, "steps": [run(0)],
              "place": [1, 1]}]))
        shown = self.detail([many], 0, 0)
        self.assertEqual((len(shown["statements"]), shown["statements_more"]), (10000, 3))
        self.assertEqual(shown["statements"][9999]["rows"], [["10000"]])
        self.assertEqual(shown["parameters"], {"i": 10003})

    def test_a_failure_with_its_message(self):
        shown = self.detail([write("INSERT INTO users (id) VALUES (?)")], 0, 3)
        self.assertEqual(shown["outcome"], "failed")
        self.assertIn("UNIQUE", shown["message"])
        self.assertEqual(shown["statements"], [])


@unittest.skipIf(SQLITE is None, "no libsqlite3 on this machine")
class TestLong(Case):
    ENDLESS = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
               "SELECT count(*) FROM c")

    def test_progress_then_stop(self):
        with self.worker() as worker:
            worker.send(verify_job(self.database, [point(), query(self.ENDLESS)], 10))
            line = worker.read()
            self.assertEqual({k: line[k] for k in ("kind", "phase", "done", "total", "table")},
                             {"kind": "progress", "phase": "verify", "done": 10, "total": 20,
                              "table": None})
            worker.stop()
            error = worker.expect("error")
            self.assertEqual(error["phase"], "verify")
            self.assertIn("stopped", error["message"])
            self.assertEqual(worker.ended(), 1)

    def test_the_end_of_input_ends_it(self):
        with self.worker() as worker:
            worker.send(verify_job(self.database, [query(self.ENDLESS)], 10))
            worker.read()
            worker.end_input()
            self.assertEqual(worker.process.wait(10), 1)


if __name__ == "__main__":
    unittest.main()
