"""Workers that break the protocol: each is one failed row that says why, the others are measured,
and nothing is left behind. tests/engines/broken-worker.py is the worker."""

import json
import os
import signal
import sys
import unittest

import pitot_test
from pitot_test import PitotTest

WORKER = pitot_test.SOURCE / "tests" / "engines" / "broken-worker.py"

# (fault, at, what the row must say); None: nothing, the row is as good as any.
AT_HELLO = [
    ("garbage", "broke the protocol"),
    ("array", "it is not a JSON object"),
    ("half", "in the middle of a line"),
    ("deep", "broke the protocol"),
    ("nan", "broke the protocol"),
    ("endless-line", "a line of more than 64 MiB"),
    ("twice", 'said "hello" where ready was due'),
    ("wordy", None),
    ("status-7", "status 7 without a result; its log ends: last words"),
    ("killed", "signal 9"),
    ("closed", "closed descriptor 3"),
    ("child", None),
    ("child-only", "status 7"),
    ("error", "the engine said no"),
    ("protocol-2", "protocol version 2"),
    ("no-protocol", "protocol"),
]
AT_READY = [
    ("garbage", "broke the protocol"),
    ("half", "in the middle of a line"),
    ("nan", "broke the protocol"),
    ("endless-line", "a line of more than 64 MiB"),
    ("twice", 'said "ready" where result was due'),
    ("wordy", None),
    ("status-7", "status 7 without a result; its log ends: last words"),
    ("child", None),
    ("child-only", "status 7"),
    ("error", "the engine said no"),
    ("setting-left-out", "did not read back cache_size"),
    ("setting-asked-otherwise", "cache_size was asked to be -2000"),
    ("setting-made-optional", "cache_size is not required; it is"),
    ("connection-left-out", "names 1 connections, the job asked 2"),
    ("before-go", "go said"),
]
AT_RESULT = [
    ("garbage", "broke the protocol"),
    ("array", "it is not a JSON object"),
    ("half", "in the middle of a line"),
    ("deep", "broke the protocol"),
    ("nan", "broke the protocol"),
    ("endless-line", "a line of more than 64 MiB"),
    ("twice", 'said "result" after its result'),
    ("wordy", None),
    ("status-7", "status 7"),
    ("killed", "signal 9"),
    ("closed", "closed descriptor 3"),
    ("child", None),
    ("child-only", "status 7"),
    ("error", "the engine said no"),
    ("stays", "did not end in 5 s after its result"),
    ("status-7-after", "status 7 after its result"),
    ("killed-after", "signal 9"),
    ("outcomes", "100 attempts, but the outcomes add up to 99"),
    ("negative", '"busy" is -1'),
    ("text", '"busy" is "many"'),
    ("histogram", "the buckets add up to 99"),
    ("histogram-count", "buckets add up to 100"),
    ("histogram-index", "buckets[0]: index"),
    ("histogram-min", "min and max"),
    ("script-left-out", "has no entry for script"),
    ("script-twice", "has no entry for script"),
    ("seconds", "its seconds count 101"),
    ("connections", "the connections count"),
    ("window", "go said"),
    ("future", "which is still to come"),
]


class BrokenWorkers(PitotTest):
    def setUp(self):
        super().setUp()
        self.engines = self.folder / "config" / "pitot" / "engines"
        self.engines.mkdir(parents=True)

    def check_no_process(self):
        """What was left in a worker's group is killed as pitot ends; it may take its time to
        die, but it must not go on."""
        expected = [process.pid for process in self.started if process.poll() is None]
        if not expected:
            self.wait_until_alone()

    def engine(self, fault, at="result"):
        """A manifest for a worker with that fault; its name."""
        name = f"{fault}.{at}"
        manifest = {"name": name, "summary": "made to fail", "no_database": True,
                    "command": [sys.executable, str(WORKER)],
                    "options": {"fault": fault, "at": at}}
        (self.engines / f"{name}.json").write_text(json.dumps(manifest), encoding="utf-8")
        return name

    @staticmethod
    def short(*engines, folder="data"):
        return ["prod", "--engines", ",".join(engines), "--rounds", "2", "--duration", "0.05",
                "--warmup", "10", "--threads", "2", "--timeout", "100", "--dir", folder,
                "--json", f"{folder}.json"]

    def check_all(self, at, cases):
        """All of them in one run, between two that are sound."""
        names = [self.engine(fault, at) for fault, _ in cases]
        done = self.pitot(*self.short("null", *names, self.engine("sound")), status=1)
        result = self.read_json("data.json")
        self.check_schema(result, "docs/result.schema.json")
        self.assertFalse(result["partial"])
        rows = {engine["name"]: engine for engine in result["engines"]}
        self.assertEqual(len(rows), len(cases) + 2)
        expected = [("null", None), ("sound.result", None)]
        expected += [(name, text) for name, (_, text) in zip(names, cases)]
        for name, text in expected:
            with self.subTest(name):
                row = rows[name]
                if text is None:
                    self.assertEqual((row["status"], row["error"]), ("ok", None))
                    self.assertEqual([run["status"] for run in row["runs"]], ["ok", "ok"])
                else:
                    self.assertEqual(row["status"], "failed")
                    self.assertIn(text, row["error"])
                    self.assertIn(name, done.stdout)
                    self.assertTrue(all(run["status"] == "failed" for run in row["runs"]))
                    self.assertLessEqual(len(row["runs"]), 1, "it was run again")
        return rows

    def test_at_hello(self):
        self.check_all("hello", AT_HELLO)

    def test_at_ready(self):
        self.check_all("ready", AT_READY)

    def test_at_result(self):
        rows = self.check_all("result", AT_RESULT)
        # What it last said is shown with the row.
        self.assertEqual(rows["status-7.result"]["runs"][0]["log"], ["last words"])

    def test_time_that_cannot_be(self):
        name = self.engine("too-much-time")
        self.pitot(*self.short(name), status=1)
        warnings = [w["text"] for w in self.read_json("data.json")["warnings"]
                    if w["subject"] == name]
        self.assertTrue(any("the window is wrong" in text for text in warnings), warnings)

    def test_silence_after_go(self):
        """Given up 10 s after the grace; side by side, since each takes as long."""
        started = []
        for fault in ("silence", "standing-still", "stopped", "flood", "wordy-for-ever"):
            names = (self.engine(fault), "null")
            started.append((names[0], fault, self.start(*self.short(*names, folder=fault))))
        for name, fault, process in started:
            with self.subTest(fault):
                done = self.finish(process)
                self.assertEqual(done.status, 1, done)
                engines = self.read_json(f"{fault}.json")["engines"]
                self.assertEqual([engine["status"] for engine in engines], ["failed", "ok"])
                self.assertIn("gave no result in time", engines[0]["error"])
                self.assertEqual(engines[0]["name"], name)

    def test_held_by_a_signal_while_it_loads(self):
        """A statement may take as long as it needs, a worker that is silent may not."""
        workload = self.copy_workload("prod")
        with open(workload / "load.sql", "a", encoding="utf-8") as script:
            script.write("\nWITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c) "
                         "SELECT max(x) FROM c;\n")
        process = self.start("prod", "--workload", workload, "--scale", "small", "--engines",
                             self.sqlite(), "--timeout", "100")
        for line in process.stderr:
            if b"building the template" in line:
                break
        (worker,) = pitot_test.descendants(process.pid)
        os.kill(worker, signal.SIGSTOP)
        done = self.finish(process)
        self.assertEqual(done.status, 3, done)
        self.assertRegex(done.stderr, r"the template could not be built: the worker of sqlite\S* "
                                      r"made no headway for 30\.1 s")

    def test_a_worker_that_does_not_hear_stop(self):
        process = self.start(*self.short(self.engine("standing-still")))
        for line in process.stderr:
            if b"round 1" in line:
                break
        process.send_signal(signal.SIGINT)
        done = self.finish(process)
        self.assertEqual(done.status, 130, done)
        self.assertTrue(self.read_json("data.json")["partial"])


if __name__ == "__main__":
    unittest.main()
