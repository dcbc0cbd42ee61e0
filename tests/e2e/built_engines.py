"""What the tests of built engines share: those of Node and of Turso.

`make test` gets or builds the engines first and names their folder in PITOT_ENGINES_CACHE. A test
has a folder of its own, into which it links what it needs.
"""

import json
import os
import pathlib
import signal

import pitot_test
from pitot_test import PitotTest

CACHE = pathlib.Path(os.environ.get("PITOT_ENGINES_CACHE") or pathlib.Path(
    os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "pitot" / "engines")

OUTCOMES = ("ok", "busy", "conflict", "failed", "skipped", "open")


class BuiltEnginesTest(PitotTest):
    """With an empty folder of engines, and a workload of a few rows."""

    def setUp(self):
        super().setUp()
        self.engines = self.folder / "cache" / "pitot" / "engines"
        self.engines.mkdir(parents=True)
        self.workload = self.copy_workload("prod")
        self.change_suite(self.workload, self.add_tiny)

    @staticmethod
    def add_tiny(suite):
        tiny = {"users": 200, "orders_per_user": 4, "orders": 800}
        suite["scales"] = {"tiny": tiny, **suite["scales"]}

    def listed(self, status=0):
        listed = json.loads(self.pitot("engines", "--json", status=status).stdout)["engines"]
        return {engine["name"]: engine for engine in listed}

    def arguments(self, command, engines, *more, duration="0.5"):
        lengths = {"prod": ("--rounds", "1", "--duration", duration, "--warmup", "20",
                            "--threads", "2"), "verify": ("--operations", "40")}[command]
        return (command, "--workload", self.workload, "--engines", engines, "--json", "r.json",
                *lengths, *more)

    def result(self, command, engines, *more, status=0):
        """The result's engines by name, and the Run."""
        done = self.pitot(*self.arguments(command, engines, *more), status=status)
        return self.engines_of_result(), done

    def engines_of_result(self):
        result = self.read_json("r.json")
        self.check_schema(result, "docs/result.schema.json")
        return {engine["name"]: engine for engine in result["engines"]}

    def kill_in_its_round(self, victim, engines):
        """Measures the engines and kills the worker of one in its round. Gives as result()."""
        process = self.start(*self.arguments("prod", engines, "-P", "0.1", duration="2"))
        for line in process.stderr:
            if f"{victim}: round 1".encode() in line and b", run" in line:
                break
        workers = [pid for pid in pitot_test.descendants(process.pid)
                   if victim.encode() in pitot_test.command_line(pid)]
        self.assertEqual(len(workers), 1)
        os.kill(workers[0], signal.SIGKILL)
        done = self.finish(process)
        self.assertEqual(done.status, 1, done)
        return self.engines_of_result(), done

    def check_measured(self, engine, done):
        """It ran, nothing failed, every execution has an outcome, and its data are whole."""
        self.assertEqual((engine["status"], engine["error"]), ("ok", None), done)
        run = engine["runs"][0]
        self.assertIsNone(run["check"]["problem"])
        self.assertEqual(run["check"]["integrity"], ["ok"])
        for script in run["scripts"]:
            self.assertEqual(script["attempted"], sum(script[outcome] for outcome in OUTCOMES))
            self.assertEqual(script["failed"], 0, script)
        self.assertGreater(engine["summaries"][0]["operations_per_second"]["median"], 0)
