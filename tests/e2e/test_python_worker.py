"""examples/worker-python: the vectors that hold languages together, and pitot with that worker."""

import json
import os
import pathlib
import sqlite3
import struct
import sys
import tempfile
import unittest

import pitot_test
from pitot_test import PitotTest

EXAMPLE = pitot_test.SOURCE / "examples" / "worker-python"
VECTORS = pitot_test.SOURCE / "tests" / "vectors"

sys.path[:0] = [str(EXAMPLE), str(pathlib.Path(__file__).resolve().parent / "worker")]
import connection
import digests
import scripts
from worker_client import (Worker, call, constant, job, names, run, run_job, script, set_to,
                           statement, step)


def vectors(name):
    return pitot_test.strict_json((VECTORS / name).read_text(encoding="utf-8"))


class RandomVectors(unittest.TestCase):
    def setUp(self):
        self.vectors = vectors("random.json")

    def test_raw(self):
        for case in self.vectors["raw"]:
            stream = scripts.Random(*case["stream"])
            self.assertEqual([stream.next() for _ in case["values"]], case["values"])

    def test_below(self):
        for case in self.vectors["below"]:
            stream = scripts.Random(*case["stream"])
            found = [stream.below(int(case["n"])) for _ in case["values"]]
            self.assertEqual(found, list(map(int, case["values"])), case["n"])
            self.assertEqual(stream.next(), case["next"])

    def test_unit(self):
        for case in self.vectors["unit"]:
            stream = scripts.Random(*case["stream"])
            found = [struct.pack(">d", stream.unit()).hex() for _ in case["bits"]]
            self.assertEqual(found, case["bits"])

    def test_distributions(self):
        for name in ("gaussian", "exponential", "zipfian"):
            for case in self.vectors[name]:
                stream = scripts.Random(*case["stream"])
                draw = getattr(stream, name)
                found = [draw(int(case["lo"]), int(case["hi"]), float(case["parameter"]))
                         for _ in case["values"]]
                self.assertEqual(found, list(map(int, case["values"])), (name, case["parameter"]))
                self.assertEqual(stream.next(), case["next"])


class DigestVectors(unittest.TestCase):
    @staticmethod
    def column(pair):
        kind, *value = pair
        if kind == "null":
            return None
        if kind == "integer":
            return int(value[0])
        data = bytes.fromhex(value[0])
        if kind == "real":
            return struct.unpack(">d", data)[0]
        return data if kind == "blob" else data.decode("utf-8", "surrogateescape")

    def test_bytes(self):
        for data, expected in vectors("digest.json")["bytes"]:
            self.assertEqual(f"{digests.digest(bytes.fromhex(data)):016x}", expected)

    def test_rows(self):
        for columns, value, strict in vectors("digest.json")["rows"]:
            row = list(map(self.column, columns))
            self.assertEqual(f"{digests.row_digest(row, False):016x}", value, columns)
            self.assertEqual(f"{digests.row_digest(row, True):016x}", strict, columns)


class HistogramVectors(unittest.TestCase):
    def test_buckets(self):
        for value, index, *_ in vectors("histogram.json")["buckets"]:
            self.assertEqual(connection.bucket(value), index, value)


class ScriptVectors(unittest.TestCase):
    def draw_load(self, script):
        """The calls of a load script, without the transactions that \\rows makes."""
        calls = []
        for step in script.tree["steps"]:
            if step["step"] != "rows":
                calls += script.block([step])
                continue
            count = script.value(step["count"])
            script.value(step["chunk"])
            for row in range(1, count + 1):
                script.assign("row", row)
                calls += script.block(step["steps"])
        return calls

    @staticmethod
    def call_json(kind, statement, values):
        if kind != "statement":
            return {"call": kind}
        names = {int: "integer", float: "double", str: "text"}
        return {"call": kind, "statement": statement,
                "values": [{names[type(value)]: value} for value in values]}

    def operations(self, case, draw):
        script = scripts.Script(case["tree"], case["variables"], draw["connection"],
                                draw["connections"])
        script.random = scripts.Random(draw["seed"], draw["purpose"], draw["connection"],
                                       draw["script"])
        script.ends = None if draw["draw"] == "random" else draw["draw"]
        found = []
        for i in range(draw["operations"]):
            try:
                calls = self.draw_load(script) if case["load"] else script.draw(draw["first_op"] + i)
                found.append({"calls": [self.call_json(*call) for call in calls]})
            except scripts.ScriptError as error:
                found.append({"place": error.place, "error": str(error).partition(":")[0]})
                break
        return found

    def test_draws(self):
        cases = vectors("scripts/scripts.json")["cases"]
        self.assertGreater(len(cases), 10)
        for case in cases:
            for draw in case["draws"]:
                with self.subTest(case=case["name"], draw=draw["draw"]):
                    self.assertEqual(self.operations(case, draw), draw["expect"])


def python_worker():
    return Worker("--engine", "python", program=(sys.executable, "-B", EXAMPLE / "worker.py"))


def c_worker():
    return Worker("--engine", "sqlite", "--driver", "sqlite", "--library",
                  os.path.realpath(pitot_test.system_sqlite()))


def reads(how):
    sql = ("SELECT id, name, 2.5, NULL, x'00ff', 'it''s', CAST(x'ff' AS TEXT) FROM users "
           "WHERE id <= ? ORDER BY id")
    tree = script("reads", names(id="set"), [statement(sql, 0)],
                  [set_to(0, call("random", constant(1), constant(5))), run(0)])
    return dict(tree, compare=how)


def writes():
    tree = script("writes", names(op="builtin"),
                  [statement("INSERT INTO users (id, name) VALUES (? % 7 + 100, 'new')", 0),
                   statement("UPDATE users SET name = 'x' WHERE id < 3")],
                  [step("begin_write"), run(1), run(0), step("commit"), run(1)], kind="write")
    return dict(tree, compare="ordered")


class BesideTheOtherWorker(unittest.TestCase):
    """The same jobs for both: what they say is the same but for times."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pitot-test-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "it's 100%?.db"

    def make(self):
        self.path.unlink(missing_ok=True)
        db = sqlite3.connect(self.path)
        db.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, seen REAL)")
        db.executemany("INSERT INTO users VALUES (?, ?, ?)",
                       [(i, f"name {i}", i / 3) for i in range(1, 6)])
        db.execute("CREATE TABLE odd (\"a b\" ANY, c BLOB)")
        db.executemany("INSERT INTO odd VALUES (?, ?)",
                       [(2**60, b"\0"), (-0.0, None), ("\u4e2d", b""), (1e300, b"x" * 300)])
        db.commit()
        db.close()
        return str(self.path)

    def said(self, worker, line):
        with worker as it:
            it.expect("hello")
            it.send(dict(line, database=self.make()))
            answer = it.expect("result")
            self.assertEqual(it.ended(), 0)
        answer.pop("elapsed_ns", None)
        return answer

    def both(self, kind, **keys):
        line = job(kind, "", **keys)
        python, other = self.said(python_worker(), line), self.said(c_worker(), line)
        self.assertEqual(python, other)
        return python

    def verify(self, *trees, **keys):
        return self.both("verify", **{"scripts": list(trees), "operations": 20, "max_tries": 3,
                                      "ignore": [], **keys})

    def test_answers(self):
        found = self.verify(reads("ordered"), reads("set"), reads("count"), writes(),
                            ignore=["Users.SEEN"])
        self.assertEqual([table["table"] for table in found["tables"]], ["odd", "users"])
        last = found["scripts"][3]
        self.assertGreater(last["ok"], 0)
        self.assertIn("UNIQUE", last["errors"][0]["message"])

    def test_one_execution_shown(self):
        for index, operation in ((0, 0), (0, 7), (1, 3), (1, 15)):
            found = self.verify(reads("ordered"), writes(),
                                detail={"script": index, "operation": operation, "rows": 2})
            self.assertEqual(found["outcome"], "failed" if operation == 15 else "ok")

    def test_check(self):
        for integrity in ("none", "quick", "full"):
            found = self.both("check", tables=[], integrity=integrity)
            self.assertEqual(found["rows"], {"odd": 4, "users": 5})

    def run_to_end(self, worker, line, stop=False):
        with worker as it:
            it.expect("hello")
            it.send(dict(line, database=self.make()))
            ready = it.expect("ready")
            it.go()
            if stop:
                it.stop()
            result = it.expect("result")
            self.assertEqual(it.ended(), 0)
        return ready, result

    def test_run(self):
        """A number of operations: all counts agree, since all draws do."""
        kept = ("role", "script", "attempted", "ok", "busy", "conflict", "failed", "skipped",
                "open", "retries", "rows_read", "rows_changed", "acknowledged", "errors")
        line = run_job("", [reads("ordered"), writes()], connections=1)
        found = []
        for worker in (python_worker(), c_worker()):
            ready, result = self.run_to_end(worker, line)
            self.assertFalse(result["partial"])
            for entry in result["scripts"]:
                latency = entry["latency"]
                self.assertEqual(sum(count for _, count in latency["buckets"]), entry["ok"])
                self.assertLessEqual(latency["sum"], entry["time_ns"])
            found.append(([{key: entry[key] for key in kept} for entry in result["scripts"]],
                          ready["acknowledged"], ready["warmup_operations"],
                          [c["operations"] for c in result["connections"]], set(result)))
        self.assertEqual(found[0], found[1])

    def test_stop_makes_it_partial(self):
        line = run_job("", [reads("ordered")], duration_ns=60 * 10**9)
        _, result = self.run_to_end(python_worker(), line, stop=True)
        self.assertTrue(result["partial"])

    def test_settings_that_are_refused(self):
        wrong = {"name": "no name", "value": "1", "required": True}
        for required in (False, True):
            line = run_job(self.make(), [reads("ordered")],
                           settings=[dict(wrong, required=required)])
            with python_worker() as it:
                it.expect("hello")
                it.send(line)
                if required:
                    self.assertEqual(it.expect("error")["phase"], "settings")
                    self.assertEqual(it.ended(), 1)
                else:
                    setting = it.expect("ready")["connections"][0]["settings"][0]
                    self.assertIsNone(setting["got"])
                    self.assertIn("no name", setting["problem"])

    def test_what_it_cannot_take_is_an_error(self):
        for line, phase in ((job("load", "x"), "job"), (dict(job("run", "x"), protocol=2), "job"),
                            ({"kind": "go", "at_ns": 1}, "protocol"), ([1], "protocol"),
                            (run_job("/nonesuch/x.db", [reads("ordered")]), "open"),
                            (run_job(self.make(), [dict(writes(), kind="read")]), "prepare")):
            with python_worker() as it:
                it.expect("hello")
                it.send(line)
                self.assertEqual(it.expect("error")["phase"], phase)
                self.assertEqual(it.ended(), 1)

    def test_it_ends_when_the_coordinator_is_gone(self):
        for sent in (None, run_job("", [reads("ordered")], duration_ns=60 * 10**9)):
            with python_worker() as it:
                it.expect("hello")
                if sent:
                    it.send(dict(sent, database=self.make()))
                    it.expect("ready")
                it.end_input()
                self.assertEqual(it.ended(), 1)


class ThroughPitot(PitotTest):
    def setUp(self):
        super().setUp()
        self.workload = self.copy_workload("prod")
        self.change_suite(self.workload, self.add_tiny)

    @staticmethod
    def add_tiny(suite):
        tiny = {"users": 200, "orders_per_user": 4, "orders": 800}
        suite["scales"] = {"tiny": tiny, **suite["scales"]}

    def with_python(self, *arguments, status=0):
        # Its /usr/bin/env python3 must be one that is recent enough: this one.
        path = os.pathsep.join((str(self.folder / "bin"), os.environ["PATH"]))
        (self.folder / "bin").mkdir(exist_ok=True)
        link = self.folder / "bin" / "python3"
        if not link.exists():
            link.symlink_to(sys.executable)
        environment = {"PITOT_ENGINES": EXAMPLE, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        return self.pitot(*arguments, env=environment, status=status)

    def measured(self, *arguments, status=0):
        done = self.with_python(*arguments, "--workload", self.workload, "--engines",
                                f"{self.sqlite()},python", "--json", "r.json", status=status)
        result = self.read_json("r.json")
        self.check_schema(result, "docs/result.schema.json")
        return result, done

    def test_it_is_listed(self):
        listed = json.loads(self.with_python("engines", "--json").stdout)["engines"]
        python = next(engine for engine in listed if engine["name"] == "python")
        self.assertTrue(python["ready"])
        self.assertIsNone(python["failure"])
        self.assertTrue(python["runtime"].startswith("python 3."), python)
        self.assertRegex(python["version"], r"^3\.\d+\.\d+$")

    def test_verify(self):
        result, _ = self.measured("verify", "--operations", "60")
        verify = result["engines"][1]["verify"]
        self.assertEqual(verify["status"], "equal", verify)
        self.assertEqual(verify["journal"], "-wal")
        for script in verify["databases"][0]["scripts"]:
            self.assertEqual((script["status"], script["ok"]), ("equal", 60), script)
        self.assertEqual([t["status"] for t in verify["databases"][0]["tables"]], ["equal"] * 2)

    def test_prod(self):
        result, done = self.measured("prod", "--rounds", "1", "--duration", "0.5", "--warmup",
                                     "50", "--threads", "2")
        python = result["engines"][1]
        self.assertEqual((python["status"], python["error"]), ("ok", None))
        run = python["runs"][0]
        self.assertEqual(run["check"]["integrity"], ["ok"])
        self.assertIsNone(run["check"]["problem"])
        self.assertEqual(len(run["connections"]), 2)
        for script in run["scripts"]:
            self.assertEqual(script["attempted"], sum(script[outcome] for outcome in (
                "ok", "busy", "conflict", "failed", "skipped", "open")))
        self.assertGreater(python["summaries"][0]["operations_per_second"]["median"], 0)
        self.assertTrue(all(connection["slept_ns"] is None for connection in run["connections"]))

    def test_a_script_with_a_mistake(self):
        (self.workload / "user_by_id.sql").write_text("SELECT nonesuch FROM users;\n")
        done = self.with_python("prod", "--workload", self.workload, "--engines", "python",
                                "--rounds", "1", "--duration", "0.2", status=2)
        self.assertIn("user_by_id.sql:1:1:", done.stderr)

    def test_it_takes_no_options(self):
        done = self.with_python("verify", "--workload", self.workload, "--engines", "python",
                                "--engine-option", "python.fast=yes", status=3)
        self.assertIn("this worker has no options", done.stderr)


if __name__ == "__main__":
    unittest.main()
