#!/usr/bin/env python3
"""Ends pitot and its workers at random moments of every phase, and looks at what is left.

    tests/torture/torture.py [--kills N] [--signals N] [--seed N]      (or: make torture)

* A worker killed with -9: pitot says so in its row, measures the other engine, leaves nothing.
* pitot killed with -9: its worker ends by itself; the next run cleans up and succeeds. A quarter
  of all happens in PID namespaces of their own, where the next run gets the same numbers.
* SIGINT and SIGTERM: status 130 and 143, only the template is left, the partial JSON is whole.

Prints counts by phase, then orphans, leftovers and failures. Status: 0, or 1 if there was any.
The seed decides phases and delays; it is printed, but two runs never meet the same instants.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import pitot_test
from phases import PHASES, WITHOUT_WORKER, Watched

USERS = 10000
# Tries until a phase of a few milliseconds is met; most halve the longest delay.
TRIES = 30
PATIENCE_SECONDS = 60
# A worker must be gone a second after its coordinator; the rest is for a machine that is busy.
ORPHAN_SECONDS = 15

# Phase to (longest delay after its begin, --warmup, --duration).
TIMES = {
    "start": (0.003, "50", "0.2"),
    "identify": (0.02, "50", "0.2"),
    "load": (0.15, "50", "0.2"),
    "preflight": (0.08, "50", "0.2"),
    "copy": (0.003, "50", "0.2"),
    "settle": (0.1, "50", "0.2"),
    "open": (0.02, "50", "0.2"),
    "warm-up": (0.9, "1200ms", "0.2"),
    "run": (0.7, "20ms", "2"),
    "close": (0.02, "20ms", "1.3"),
    "after-run": (0.01, "20ms", "0.2"),
}

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}


class Torture:
    """One folder, and what happened in it."""

    def __init__(self, seed, verbose):
        self.random = random.Random(seed)
        self.verbose = verbose
        self.folder = pitot_test.make_folder()
        self.work = self.folder / "work"
        self.data = self.work / "data"
        self.json = self.work / "result.json"
        self.ballast = self.work / "ballast"
        self.engine = f"sqlite={pitot_test.system_sqlite()}"
        self.counts = collections.Counter()
        self.missed = collections.Counter()
        self.orphans = 0
        self.leftovers = 0
        self.failures = []
        workload = self.work / "workload"
        shutil.copytree(pitot_test.SOURCE / "workloads" / "prod", workload)
        suite = json.loads((workload / "suite.json").read_text())
        tiny = {"users": USERS, "orders_per_user": 4, "orders": 4 * USERS}
        suite["scales"] = {"tiny": tiny, **suite["scales"]}
        (workload / "suite.json").write_text(json.dumps(suite))

    def close(self):
        pitot_test.end_strays()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- one run ----

    def command(self, space, warmup, duration, *more):
        words = [str(pitot_test.BUILD / "pitot"), "prod", "--workload", "workload", "--rounds",
                 "1", "--warmup", warmup, "--duration", duration, "-P", "0.1", *more]
        if space:
            words = ["unshare", "-pf", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh", *words]
        return words

    def start(self, space, phase):
        _, warmup, duration = TIMES[phase]
        more = ["--engines", f"{self.engine},null", "--json", self.json.name]
        if phase == "load":
            more.append("--fresh")
        self.json.unlink(missing_ok=True)
        process = subprocess.Popen(
            self.command(space, warmup, duration, *more), cwd=self.work,
            env=pitot_test.test_environment(self.folder), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        return Watched(process, self.data, self.engine)

    def reach(self, watched, phase):
        """Waits until the phase has begun; False when the run went past it or ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        passed = PHASES.index(phase) + 1
        while time.monotonic() < deadline:
            found, _, _ = watched.look()
            if phase == "settle" and found in ("preflight", "copy") and not self.ballast.exists():
                self.ballast.write_bytes(bytes(48 << 20))  # dirty pages: something to wait for
            if found == phase:
                return True
            if watched.process.poll() is not None or found in PHASES[passed:]:
                return False
            time.sleep(0.0005)
        return False

    def strike(self, who, number, phase, space, longest):
        """Sends a signal in a phase. None: the moment was missed."""
        watched = self.start(space, phase)
        struck = None
        if self.reach(watched, phase):
            time.sleep(self.random.uniform(0, longest))
            found, pitot, worker = watched.look()
            target = worker if who == "worker" else pitot
            if found == phase and target is not None:
                try:
                    os.kill(target, number)
                    struck = watched
                except ProcessLookupError:
                    pass
        if struck is None:
            self.finish(watched)
            self.missed[phase] += 1
        return struck

    def finish(self, watched):
        """The exit status; None when it does not end."""
        try:
            return watched.finish(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            pitot_test.end_strays()
            watched.finish(PATIENCE_SECONDS)
            return None
        finally:
            self.ballast.unlink(missing_ok=True)

    # ---- what is looked at ----

    def fail(self, where, text, watched=None):
        tail = "".join(f"\n        {line}" for line in (watched.lines[-6:] if watched else []))
        self.failures.append(f"{where}: {text}{tail}")

    def check_orphans(self, where):
        deadline = time.monotonic() + ORPHAN_SECONDS
        while left := pitot_test.strays():
            if time.monotonic() > deadline:
                self.orphans += len(left)
                self.fail(where, f"still there: {pitot_test.end_strays()}")
                return
            pitot_test.wait_for_one(left, 0.2)

    def check_files(self, where):
        names = sorted(os.listdir(self.data)) if self.data.exists() else []
        strange = [name for name in names if not name.startswith("template-")
                   and name != "template.lock"] + pitot_test.leftover_files(self.work)
        if len([name for name in names if name.startswith("template-")]) not in (0, 2):
            strange += names
        if strange:
            self.leftovers += len(set(strange))
            self.fail(where, f"left behind: {sorted(set(strange))}")

    def read_result(self, where):
        """The JSON that was written, None without one. pitot must be able to read it, too."""
        if not self.json.exists():
            return None
        shown = pitot_test.run([pitot_test.BUILD / "pitot", "report", self.json.name], self.folder)
        if shown.status != 0:
            self.fail(where, f"its own result is refused: {shown}")
        try:
            return pitot_test.strict_json(self.json.read_text(encoding="utf-8"))
        except ValueError as error:
            self.fail(where, f"the JSON is broken: {error}")
            return None

    def next_run(self, where, space):
        """What comes after a kill cleans up and succeeds."""
        words = self.command(space, "20", "0.1", "--engines", self.engine)
        try:
            done = pitot_test.run(words, self.folder, timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.fail(where, "the next run hangs")
            return
        if done.status != 0:
            self.fail(where, f"the next run failed: {done}")
        self.check_orphans(where + ", next run")
        self.check_files(where + ", next run")

    # ---- the three ends ----

    def check_killed_pitot(self, where, watched, space):
        status = self.finish(watched)
        if status != (137 if space else -signal.SIGKILL):
            self.fail(where, f"pitot ended with {status}", watched)
        self.check_orphans(where)
        self.next_run(where, space)

    def check_killed_worker(self, where, phase, watched, space):
        status = self.finish(watched)
        self.check_orphans(where)
        self.check_files(where)
        result = self.read_result(where)
        faults = pitot_test.output_faults("\n".join(watched.lines))
        if faults:
            self.fail(where, f"{faults}", watched)
        if status == 0:
            # Its line had been sent already: the result must be whole.
            if result is None or result["partial"] or phase in ("load", "warm-up", "run"):
                self.fail(where, "a killed worker, and status 0", watched)
        elif status not in (1, 3) or not any("signal 9" in line for line in watched.lines):
            self.fail(where, f"status {status}, or signal 9 not named", watched)
        elif result is None and status == 3 and any("the template" in x for x in watched.lines):
            pass  # it built the template or counted its rows: without one nothing can be measured
        elif phase != "load":
            states = {e["name"]: e["status"] for e in result["engines"]} if result else {}
            # Each engine is identified and tried in turn: there it may be the other's worker.
            good = ({self.engine: "failed", "null": "ok"}, {self.engine: "ok", "null": "failed"})
            if states not in good[: 2 if phase in ("identify", "preflight") else 1]:
                self.fail(where, f"engines: {states}", watched)
        self.next_run(where, space)

    def check_ended(self, where, number, phase, watched):
        status = self.finish(watched)
        self.check_orphans(where)
        self.check_files(where)
        result = self.read_result(where)
        too_late = phase in ("close", "after-run") and status == 0
        too_early = phase == "start" and status == -number
        if status != SIGNALS[number] and not too_late and not too_early:
            self.fail(where, f"status {status} instead of {SIGNALS[number]}", watched)
        if phase == "run":
            runs = result["engines"][0]["runs"] if result else []
            if (not runs or not result["partial"] or runs[0]["status"] != "partial"
                    or sum(s["ok"] for s in runs[0]["scripts"]) == 0):
                self.fail(where, "what was measured is not in the JSON as partial", watched)
        if result and status == 0 and result["partial"]:
            self.fail(where, "status 0, but the result is partial", watched)

    def one(self, kind, who, number, phase, space):
        for again in range(TRIES):
            watched = self.strike(who, number, phase, space, TIMES[phase][0] / 2 ** (again % 8))
            if watched is not None:
                break
        else:
            return
        where = f"{kind} in {phase}" + (" in a namespace" if space else "")
        before = len(self.failures)
        self.counts[kind, phase] += 1
        if kind == "pitot killed":
            self.check_killed_pitot(where, watched, space)
        elif kind == "worker killed":
            self.check_killed_worker(where, phase, watched, space)
        else:
            self.check_ended(where, number, phase, watched)
        if self.verbose:
            print(where, flush=True)
        for text in self.failures[before:]:
            print(f"FAILED {text}", flush=True)

    def report(self):
        kinds = ("pitot killed", "worker killed", "SIGINT", "SIGTERM")
        print(f"\n{'phase':<12}" + "".join(f"{kind:>15}" for kind in kinds))
        for phase in PHASES:
            counts = [self.counts[kind, phase] for kind in kinds]
            print(f"{phase:<12}" + "".join(f"{count:>15}" for count in counts))
        totals = [sum(self.counts[kind, phase] for phase in PHASES) for kind in kinds]
        print(f"{'all':<12}" + "".join(f"{total:>15}" for total in totals))
        missed = ", ".join(f"{phase} {count}" for phase, count in sorted(self.missed.items()))
        print(f"\nmoments missed and tried again: {missed or 'none'}")
        print(f"orphans {self.orphans}, leftovers {self.leftovers}, "
              f"failures {len(self.failures)}")
        return totals


def can_unshare():
    try:
        return subprocess.run(["unshare", "-pf", "--mount-proc", "true"], capture_output=True,
                              check=False).returncode == 0
    except FileNotFoundError:
        return False


def plan(kills, signals, random_source):
    """What is to be done, each phase as often as any other, in random order."""
    pairs = [("pitot killed", "pitot", phase) for phase in PHASES]
    pairs += [("worker killed", "worker", p) for p in PHASES if p not in WITHOUT_WORKER
              and p != "after-run"]
    jobs = []
    while len(jobs) < kills:
        random_source.shuffle(pairs)
        jobs += [(kind, who, signal.SIGKILL, phase) for kind, who, phase in pairs]
    jobs = jobs[:kills]
    ends = [(n.name, "pitot", n, phase) for phase in PHASES for n in SIGNALS]
    some = []
    while len(some) < signals:
        random_source.shuffle(ends)
        some += ends
    jobs += some[:signals]
    random_source.shuffle(jobs)
    return jobs


def main(arguments=None):
    parser = argparse.ArgumentParser(description="ends pitot at random moments of every phase")
    parser.add_argument("--kills", type=int, default=220, help="kill -9 so often (220)")
    parser.add_argument("--signals", type=int, default=44, help="SIGINT or SIGTERM so often (44)")
    parser.add_argument("--seed", type=int, default=None, help="of phases and delays")
    parser.add_argument("--verbose", action="store_true", help="a line for each")
    given = parser.parse_args(arguments)
    seed = given.seed if given.seed is not None else int.from_bytes(os.urandom(3), "big")
    print(f"seed {seed}", flush=True)
    spaces = can_unshare()
    if not spaces:
        print("no PID namespaces: unshare -pf is not allowed here")
    pitot_test.become_subreaper()
    torture = Torture(seed, given.verbose)
    try:
        torture.next_run("the first run", False)
        for kind, who, number, phase in plan(given.kills, given.signals, torture.random):
            space = spaces and number == signal.SIGKILL and torture.random.random() < 0.25
            torture.one(kind, who, number, phase, space)
        totals = torture.report()
    finally:
        torture.close()
    for text in torture.failures:
        print(f"FAILED {text}")
    done = sum(totals[:2]) >= given.kills and sum(totals[2:]) >= given.signals
    if not done:
        print(f"asked for {given.kills} kills and {given.signals} signals: some moments were "
              "never met")
    return 0 if done and not torture.failures else 1


if __name__ == "__main__":
    sys.exit(main())
