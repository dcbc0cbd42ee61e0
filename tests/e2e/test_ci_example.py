"""The workflow in docs/continuous-integration.md, its shell steps run as GitHub runs them, with
small options and a `gh` that notes what it is told. What the steps share is in files and
variables, as there."""

import os
import re
import shutil
import stat
import unittest

import yaml

import pitot_test
from pitot_test import PitotTest

PAGE = pitot_test.SOURCE / "docs" / "continuous-integration.md"
SMALL = ("--suites bench --workloads select-point --rows 200 --iterations 300 --runs 2 "
         "--max-disturbance 1000%")


class Example(PitotTest):
    def setUp(self):
        super().setUp()
        if "without the report page" in self.pitot("report", "none", "--format", "html",
                                                   status=None).stderr:
            self.skipTest("pitot is built without the report page")
        text = re.search(r"(?s)```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8")).group(1)
        self.workflow = yaml.safe_load(text)
        self.workflow["env"]["OPTIONS"] = SMALL
        (job,) = self.workflow["jobs"].values()
        self.steps = {step["name"]: step for step in job["steps"]}
        tools = self.work / "tools"
        tools.mkdir()
        (tools / "pitot").symlink_to(pitot_test.BUILD / "pitot")
        self.gh(0)
        for side in ("old", "new"):
            (self.work / side).mkdir()
            shutil.copyfile(pitot_test.system_sqlite(), self.work / side / "libsqlite3.so")
        self.variables = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "GITHUB_OUTPUT": self.work / "output",
            "GITHUB_STEP_SUMMARY": self.work / "summary",
            "RUNNER_TEMP": self.work,
        }

    def gh(self, status):
        path = self.work / "tools" / "gh"
        path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >gh-words\nexit {status}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def value(self, text):
        """What GitHub puts in place of ${{ … }}."""
        outputs = self.work / "output"
        known = {
            "steps.measure.outputs.status":
                dict(line.split("=", 1) for line in outputs.read_text().splitlines()
                     ).get("status", "") if outputs.exists() else "",
            "github.token": "a-token",
            "github.event.pull_request.html_url": "a-pull-request",
        }
        return re.sub(r"\$\{\{ *([^ ]*) *\}\}", lambda match: known[match.group(1)], text)

    def step(self, name):
        step = self.steps[name]
        environment = dict(self.workflow["env"]) | self.variables
        environment |= {key: self.value(text) for key, text in step.get("env", {}).items()}
        return self.run_command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c",
                                self.value(step["run"]), env=environment)

    def test_two_libraries_alike(self):
        measured = self.step("Measure")
        self.assertEqual(measured.status, 0, measured)
        engines = self.read_json("compare.json")["engines"]
        self.assertEqual([engine["name"] for engine in engines],
                         [f"sqlite={self.work}/{side}/libsqlite3.so" for side in ("old", "new")])
        self.assertEqual(self.step("Report").status, 0)
        summary = (self.work / "summary").read_text(encoding="utf-8")
        self.assertIn("select-point", summary)
        words = (self.work / "gh-words").read_text().splitlines()
        self.assertEqual(words[:3], ["pr", "comment", "a-pull-request"])
        self.assertEqual((self.work / words[words.index("--body-file") + 1]).read_text(), summary)
        self.assertIn("<html", (self.work / "compare.html").read_text(encoding="utf-8"))
        self.assertEqual(self.step("Gate").status, 0)

    def test_a_change_that_fails_is_reported_and_stopped(self):
        # What is wrong with the library stands in its name. Rows are made before the rounds too.
        shutil.copyfile(pitot_test.BUILD / "tests" / "broken-sqlite.so",
                        self.work / "new" / "broken-abort-insert-10500.so")
        self.steps["Measure"]["run"] = self.steps["Measure"]["run"].replace(
            "new/$LIBRARY", "new/broken-abort-insert-10500.so")
        self.workflow["env"]["OPTIONS"] = (
            "--suites bench --workloads insert-tx-batch,select-point --rows 200 --iterations 1000 "
            "--warmup 0 --runs 2 --max-disturbance 1000%")
        self.assertEqual(self.step("Measure").status, 0, "the report is written all the same")
        self.assertEqual(self.step("Report").status, 0)
        self.assertIn("failed", (self.work / "summary").read_text(encoding="utf-8"))
        self.assertEqual(self.step("Gate").status, 1)

    def test_no_right_to_comment(self):
        self.step("Measure")
        self.gh(1)
        reported = self.step("Report")
        self.assertEqual(reported.status, 0, reported)
        self.assertIn("::notice::", reported.stdout)


if __name__ == "__main__":
    unittest.main()
