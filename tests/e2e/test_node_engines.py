"""The engines that are measured through Node, with their real packages.

Without the packages, which need npm, these tests are skipped and say so.
"""

import json
import os
import pathlib
import shutil
import signal
import unittest

import built_engines
import pitot_test

NODE_ENGINES = ("better-sqlite3", "node:sqlite", "turso-js", "turso-js-async")
DEFAULT_ENGINES = NODE_ENGINES[:3]
PACKAGES = {"better-sqlite3": "better-sqlite3", "turso-js": "@tursodatabase/database"}
PREPARED = built_engines.CACHE / "node"


def built():
    """build.json of the newest folder, None where there is none."""
    try:
        return json.loads((PREPARED / "build.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


@unittest.skipIf(built() is None, f"{PREPARED} is not there: make engines gets it, with npm")
class NodeTest(built_engines.BuiltEnginesTest):
    """With the real packages in the test's own cache."""

    def setUp(self):
        super().setUp()
        self.node = self.engines / "node"
        self.node.symlink_to(os.path.realpath(PREPARED))

    def own_copy(self, without=None, replace=None):
        """Instead of the link a folder in which packages can be changed: each is a link to the
        real one, but for the package `without`, and `replace`, which is copied. Gives the copy."""
        real = pathlib.Path(os.path.realpath(PREPARED))
        if self.node.is_symlink():
            self.node.unlink()
        else:
            shutil.rmtree(self.node)
        (self.node / "node_modules").mkdir(parents=True)
        for path in real.iterdir():
            if path.name == "node":
                (self.node / "node").symlink_to(os.path.realpath(path))
            elif path.is_dir() and path.name != "node_modules":
                shutil.copytree(path, self.node / path.name)
            elif path.is_file():
                shutil.copy(path, self.node)
        for path in self.packages(real / "node_modules"):
            name = path.relative_to(real / "node_modules")
            target = self.node / "node_modules" / name
            target.parent.mkdir(exist_ok=True)
            if str(name) == replace:
                shutil.copytree(path, target)
            elif str(name) != without:
                target.symlink_to(path)
        return self.node / "node_modules" / (replace or "")

    @staticmethod
    def packages(folder):
        for path in folder.iterdir():
            if path.name.startswith("@"):
                yield from path.iterdir()
            elif path.is_dir() and not path.name.startswith("."):
                yield path


class Listed(NodeTest):
    def test_versions(self):
        listed = self.listed()
        packages = built()["packages"]
        for name in NODE_ENGINES:
            engine = listed[name]
            with self.subTest(name):
                self.assertTrue(engine["ready"], engine)
                self.assertIsNone(engine["failure"])
                self.assertEqual(engine["default"], name in DEFAULT_ENGINES)
                self.assertEqual(engine["runtime"], f"node {built()['node']['version']}")
                self.assertGreaterEqual(int(built()["node"]["version"].split(".")[0]), 24)
                self.assertEqual(engine["version"].split(" ")[0].split(".")[0],
                                 engine["expected_version"].split(".")[0])
                package = PACKAGES.get(name.removesuffix("-async"))
                if package:
                    self.assertEqual(engine["binding_version"], packages[package]["version"])
                else:  # a part of Node
                    self.assertIsNone(engine["binding_version"])
        shown = self.pitot("engines").stdout
        self.assertIn(f"package {packages['better-sqlite3']['version']}, run by node ", shown)

    def test_a_package_that_is_missing(self):
        for name, package in PACKAGES.items():
            with self.subTest(name):
                self.own_copy(without=package)
                engine = self.listed()[name]
                self.assertFalse(engine["ready"])
                self.assertIn(f"{package}/package.json", engine["missing"])
                self.assertEqual(engine["get"], "scripts/build-engines-node")
                done = self.pitot(*self.arguments("prod", name), status=3)
                self.assertIn(f"engine {name} is not ready", done.stderr)
                self.assertIn("get it with: scripts/build-engines-node", done.stderr)

    def test_default_engines_that_are_not_ready_are_left_out(self):
        self.own_copy(without="better-sqlite3")
        done = self.pitot("prod", "--workload", self.workload, "--rounds", "1", "--duration",
                          "0.3", "--warmup", "10", "--threads", "1", "--json", "r.json")
        result = self.read_json("r.json")
        names = [engine["name"] for engine in result["engines"]]
        self.assertEqual(names, ["node:sqlite", self.sqlite_name(result), "turso-js"], done)
        warning = next(w for w in result["warnings"] if w["subject"] == "better-sqlite3")
        self.assertIn("left out, since it is not ready", warning["text"])
        self.assertIn("get it with: scripts/build-engines-node", warning["text"])

    @staticmethod
    def sqlite_name(result):
        return next(e["name"] for e in result["engines"] if e["name"].startswith("sqlite="))

    def test_a_binding_that_does_not_load(self):
        package = self.own_copy(replace="better-sqlite3")
        package.joinpath("package.json").write_text(json.dumps(
            {"name": "better-sqlite3", "version": "13.2.0", "main": "./index.js"}))
        package.joinpath("index.js").write_text("throw new Error('no such binary here');\n")
        engine = self.listed(status=1)["better-sqlite3"]
        self.assertTrue(engine["ready"])
        self.assertIn("no such binary here", engine["failure"])
        engines, done = self.result("prod", f"better-sqlite3,{self.sqlite()}", status=1)
        self.assertEqual(engines["better-sqlite3"]["status"], "failed")
        self.assertIn("no such binary here", engines["better-sqlite3"]["error"])
        self.assertEqual(engines[self.sqlite()]["status"], "ok")

    def test_what_a_package_prints_changes_nothing(self):
        package = self.own_copy(replace="better-sqlite3")
        main = json.loads((package / "package.json").read_text(encoding="utf-8"))["main"]
        path = package / main
        path = path if path.is_file() else path.with_suffix(".js")
        path.write_text("console.log('{\"kind\": \"result\"}'); console.error('noise');\n" +
                        path.read_text(encoding="utf-8"))
        engines, _ = self.result("prod", "better-sqlite3")
        self.assertEqual(engines["better-sqlite3"]["status"], "ok")


class Measured(NodeTest):
    def test_verify(self):
        engines, done = self.result(
            "verify", ",".join((self.sqlite(), *NODE_ENGINES)), status=None)
        for name in NODE_ENGINES:
            with self.subTest(name):
                verify = engines[name]["verify"]
                for script in verify["databases"][0]["scripts"]:
                    self.assertEqual((script["status"], script["ok"]), ("equal", 40),
                                     (script, done))
                self.assertEqual({t["status"] for t in verify["databases"][0]["tables"]},
                                 {"equal"})
                self.assertGreater(verify["journal_bytes"], 0)
                # Every setting is there as it was read back, taken or not.
                for connection in verify["connections"]:
                    self.assertEqual({s["name"] for s in connection["settings"]},
                                     {"journal_mode", "synchronous", "page_size", "cache_size",
                                      "busy_timeout"})

    def test_side_by_side(self):
        names = (self.sqlite(), *DEFAULT_ENGINES)
        engines, done = self.result("prod", ",".join(names))
        for name in names:
            with self.subTest(name):
                self.check_measured(engines[name], done)
                run = engines[name]["runs"][0]
                if name in NODE_ENGINES:
                    # What cannot be measured is absent, never 0.
                    self.assertTrue(all(c["slept_ns"] is None for c in run["connections"]))

    def event_loops(self, engines, *more, status=0):
        found, done = self.result("prod", engines, "--event-loop", *more, status=status)
        return {name: engine["event_loop"] for name, engine in found.items()}, done

    def test_event_loop(self):
        loops, done = self.event_loops(f"{self.sqlite()},node:sqlite,turso-js-async")
        unable = loops.pop(self.sqlite())
        self.assertEqual(unable["status"], "unable", unable)
        self.assertIn("no event loop", unable["error"])
        self.assertIsNone(unable["lateness"]["p50_ns"])
        self.assertEqual(unable["closed"]["attempted"], 0)
        for name, loop in loops.items():
            with self.subTest(name):
                self.assertEqual((loop["status"], loop["error"]), ("ok", None), done)
                depths = [part["in_flight"] for part in loop["in_flight"]]
                self.assertEqual(depths, [1, 4, 16] if name == "turso-js-async" else [])
                for part in (loop["closed"], loop["paced"], *loop["in_flight"]):
                    self.assertEqual(part["attempted"], part["ok"], part["errors"])
                    self.assertEqual(part["tail"]["latency"]["count"], part["ok"])
                for tail in (loop["bare_lateness"], loop["lateness"]):
                    self.assertLessEqual(tail["p50_ns"], tail["p99_ns"])
                    self.assertLessEqual(tail["p99_ns"], tail["max_ns"])
                    self.assertEqual(tail["max_ns"], tail["latency"]["max"])
        shown = " ".join(done.stdout.split())
        self.assertIn("Event loop: one connection on the main thread", shown)
        self.assertIn("not measured: its worker has no event loop", shown)
        self.assertIn("turso-js-async × 16", shown)
        rows = [row.split(",") for row in
                self.pitot("report", "r.json", "--format", "csv").stdout.splitlines()]
        rows = [row for row in rows if row[3] == "event_loop"]
        statuses = {row[0]: row[10] for row in rows if row[5] == "status"}
        self.assertEqual(statuses.pop(self.sqlite()), f"unable: {unable['error']}")
        self.assertEqual(statuses, {name: "ok" for name in loops})
        found = {(row[0], row[4], row[5]) for row in rows if row[5] != "status"}
        self.assertIn(("node:sqlite", "", "timer_lateness_p99"), found)
        self.assertIn(("turso-js-async", "4", "executions_per_second"), found)
        self.assertEqual({row[0] for row in found}, set(loops))

    def test_without_event_loop_nothing_is_said_of_it(self):
        engines, done = self.result("prod", "node:sqlite")
        self.assertIsNone(engines["node:sqlite"]["event_loop"]["status"])
        self.assertNotIn("Event loop", done.stdout)

    def test_a_worker_killed_on_its_event_loop_keeps_its_rounds(self):
        process = self.start(*self.arguments("prod", "better-sqlite3,node:sqlite"),
                             "--event-loop", "-P", "0.1")
        for line in process.stderr:
            if b"better-sqlite3: event loop, event_loop" in line:
                break
        [worker] = [pid for pid in pitot_test.descendants(process.pid)
                    if b"better-sqlite3" in pitot_test.command_line(pid)]
        os.kill(worker, signal.SIGKILL)
        done = self.finish(process)
        self.assertEqual(done.status, 1, done)
        self.assertIn("better-sqlite3 failed on the event loop: ", done.stderr)
        result = self.read_json("r.json")
        self.check_schema(result, "docs/result.schema.json")
        engines = {engine["name"]: engine for engine in result["engines"]}
        killed = engines["better-sqlite3"]
        self.assertEqual((killed["status"], killed["event_loop"]["status"]), ("ok", "failed"))
        self.assertIn("signal 9", killed["event_loop"]["error"])
        self.assertEqual(killed["runs"][0]["status"], "ok")
        self.assertEqual(engines["node:sqlite"]["event_loop"]["status"], "ok")
        self.assertTrue(any("event loop failed" in w["text"] for w in result["warnings"]))

    def test_off_cpu(self):
        engines, _ = self.result("prod", f"{self.sqlite()},better-sqlite3,turso-js-async")
        for name, engine in engines.items():
            for connection in engine["runs"][0]["connections"]:
                off_cpu_ns = connection["off_cpu_ns"]
                if name == "turso-js-async":  # other threads do a part of its work
                    self.assertIsNone(off_cpu_ns)
                else:
                    on_ns = connection["cpu_ns"] + connection["run_queue_ns"]
                    self.assertEqual(off_cpu_ns, max(0, connection["window_ns"] - on_ns))

    def test_synchronous_and_promises(self):
        engines, done = self.result("prod", "turso-js,turso-js-async")
        for name, engine in engines.items():
            self.assertEqual((engine["status"], engine["error"]), ("ok", None), (name, done))

    def test_faults_stand_above_the_numbers(self):
        engines, done = self.result("prod", "turso-js")
        self.assertEqual(len(engines["turso-js"]["known_faults"]), 3)
        shown = " ".join(done.stdout.split())
        self.assertIn("a power cut can lose it", shown)
        self.assertLess(shown.index("power cut"), shown.index("operations/s"))

    def test_an_option_reaches_its_engine_alone(self):
        engines, done = self.result("verify", "better-sqlite3,node:sqlite", "--engine-option",
                                    "better-sqlite3.integers=bigint")
        self.assertEqual(engines["better-sqlite3"]["options"],
                         [{"name": "integers", "value": "bigint"}])
        self.assertEqual(engines["node:sqlite"]["options"], [])
        self.assertIn("option integers=bigint", " ".join(done.stdout.split()))

    def test_an_option_that_the_worker_does_not_know(self):
        done = self.pitot(*self.arguments("prod", "better-sqlite3", "--engine-option",
                                          "better-sqlite3.integer=bigint"), status=3)
        self.assertIn("integer", done.stderr)

    def test_a_killed_worker_leaves_the_others(self):
        engines, done = self.kill_in_its_round("node:sqlite", "better-sqlite3,node:sqlite")
        self.assertEqual(engines["better-sqlite3"]["status"], "ok")
        self.assertEqual(engines["node:sqlite"]["status"], "failed")
        self.assertIn("signal 9", engines["node:sqlite"]["error"])
        self.assertIn("better-sqlite3", done.stdout)


if __name__ == "__main__":
    unittest.main()
