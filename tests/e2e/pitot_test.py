"""What the end-to-end and command-line tests share: pitot in a fresh folder of its own.

A test derives from PitotTest and calls self.pitot("prod", …). The base class makes sure, for
every test, that
  * nothing of the user's machine is seen: home, caches, engines and data lie in the test's folder;
  * a command that hangs is killed and fails the test;
  * no process is left behind when a command has ended (strays become this process's children,
    since it is a child subreaper, so tests can run side by side);
  * no output holds a sanitizer's report, bytes that are not UTF-8, or, without a terminal, an
    escape byte;
  * no leftover of a run (pitot-build-*, pitot-run-*, pitot-numbers-*) stays in the test's folder.

Only Python's own modules are used, and jsonschema where a test asks for it.
"""

import ctypes
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PITOT_BUILD_FOLDER", SOURCE / "build-test"))
SANITIZED = os.environ.get("PITOT_SANITIZED", "")

# A command that takes longer hangs; the slowest machine is meant. Sanitizers slow down.
TIMEOUT_SECONDS = 240 if SANITIZED else 120

SANITIZER_REPORTS = ("AddressSanitizer", "ThreadSanitizer", "LeakSanitizer", "runtime error:")

PR_SET_CHILD_SUBREAPER = 36


def become_subreaper():
    """Grandchildren whose parent ends become ours, so that none can hide."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def processes():
    """PID to (parent's PID, state, command) of every process that can be seen."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        command, rest = stat[stat.index("(") + 1 :].rsplit(")", 1)
        fields = rest.split()
        found[int(entry.name)] = (int(fields[1]), fields[0], command)
    return found


def descendants(of_pid):
    """PID to command of what of_pid and its children started and still runs."""
    table = processes()
    found = {}
    level = [of_pid]
    while level:
        level = [pid for pid, entry in table.items() if entry[0] in level]
        found.update({pid: table[pid][2] for pid in level if table[pid][1] != "Z"})
    return found


def command_line(pid):
    """The bytes of /proc/PID/cmdline; none when it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def strays(expected=()):
    """PID to command of what we started, directly or not, and is still there; takes leave of
    what has ended. Processes in `expected` (PIDs) and what they started are left alone."""
    left = {}
    for pid, (parent, state, command) in processes().items():
        if parent != os.getpid() or pid in expected:
            continue
        if state == "Z":
            os.waitpid(pid, 0)
        else:
            left[pid] = command
            left.update(descendants(pid))
    return left


def end_strays(expected=()):
    """As strays(), and kills them."""
    found = {}
    while left := strays(expected):
        found.update(left)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_for_one(left, None)
    return found


def wait_for_one(pids, seconds):
    """Waits until one of the processes has ended or the time (None: no limit) is over."""
    poll = select.poll()
    descriptors = []
    try:
        for pid in pids:
            try:
                descriptors.append(os.pidfd_open(pid))
            except ProcessLookupError:
                return
            poll.register(descriptors[-1], select.POLLIN)
        poll.poll(None if seconds is None else max(0, seconds) * 1000)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def system_sqlite():
    """Path of the system's libsqlite3.so.0, the engine that every machine with the tests has."""
    search = dict(os.environ, PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    listed = subprocess.run(
        ["ldconfig", "-p"], env=search, capture_output=True, text=True, check=True
    ).stdout
    for line in listed.splitlines():
        if line.strip().startswith("libsqlite3.so.0 "):
            return line.split("=>")[1].strip()
    raise FileNotFoundError("libsqlite3.so.0; scripts/setup --tests installs it")


def strict_json(text):
    """Parses JSON as the standard has it: NaN and Infinity are refused."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_environment(folder):
    """The whole environment of a command: all that it may read or write lies in folder."""
    folder = pathlib.Path(folder)
    kept = ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment.update(
        HOME=str(folder / "home"),
        XDG_CACHE_HOME=str(folder / "cache"),
        XDG_CONFIG_HOME=str(folder / "config"),
        TMPDIR=str(folder / "tmp"),
        LC_ALL="C.UTF-8",
    )
    return environment


def make_folder():
    """A fresh folder with the places that test_environment() names."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
    for name in ("home", "cache", "config", "tmp", "work"):
        (folder / name).mkdir()
    return folder


def output_faults(text, terminal=False):
    """What no output may hold, whatever the command."""
    found = [f"a report of {report}" for report in SANITIZER_REPORTS if report in text]
    if "\ufffd" in text:
        found.append("bytes that are not UTF-8")
    if not terminal and "\x1b" in text:
        found.append("an escape byte, with no terminal there")
    return found


def leftover_files(folder):
    """Copies, half-built templates and half-written files that a command should have removed."""
    folder = pathlib.Path(folder)
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.name.startswith(("pitot-run-", "pitot-build-", "pitot-numbers-")) or ".tmp." in path.name
    )


class Run:
    """A command that has ended."""

    def __init__(self, arguments, status, stdout, stderr):
        self.arguments = arguments
        self.status = status  # negative: the signal that ended it
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self):
        words = " ".join(map(str, self.arguments))
        return (
            f"\n$ {words}\nstatus {self.status}\n"
            f"---- stdout\n{self.stdout}\n---- stderr\n{self.stderr}\n----"
        )


def run(command, folder, environment=None, stdin=b"", timeout=TIMEOUT_SECONDS):
    """Runs a command in folder/work and gives its Run; raises TimeoutExpired after killing it
    and all that it started."""
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=pathlib.Path(folder) / "work",
        env=environment or test_environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        end_strays()
        raise
    return Run(
        command,
        process.returncode,
        stdout.decode(errors="replace"),
        stderr.decode(errors="replace"),
    )


class PitotTest(unittest.TestCase):
    """Base of all end-to-end tests."""

    maxDiff = None
    # Tests that kill pitot leave files behind on purpose and set this to False.
    check_leftover_files = True

    @classmethod
    def setUpClass(cls):
        become_subreaper()
        for program in ("pitot", "pitot-worker"):
            if not (BUILD / program).is_file():
                raise FileNotFoundError(f"{BUILD / program}: build it, or set PITOT_BUILD_FOLDER")

    def setUp(self):
        self.folder = make_folder()
        self.work = self.folder / "work"  # where commands run
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.started = []

    def tearDown(self):
        for process in self.started:
            running = process.poll() is None
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
            self.assertFalse(running, f"still runs at the end of the test: {process.args}")
        self.check_no_process()
        if self.check_leftover_files:
            self.assertEqual(leftover_files(self.folder), [], "files left behind")

    def check_no_process(self):
        """Fails when a process is left, and kills it. What start() gave does not count."""
        expected = [process.pid for process in self.started if process.poll() is None]
        self.assertEqual(end_strays(expected), {}, "processes left behind")

    def wait_until_alone(self, seconds=30):
        """Waits for the workers of a killed pitot, which must end by themselves."""
        deadline = time.monotonic() + seconds
        while left := strays():
            if time.monotonic() > deadline:
                self.fail(f"still there after {seconds} s: {end_strays()}")
            wait_for_one(left, deadline - time.monotonic())

    def pitot(self, *arguments, status=0, env=None, stdin=b"", timeout=TIMEOUT_SECONDS):
        """Runs pitot to its end and checks status and hygiene. env adds to the environment; a
        value of None removes. status None: any."""
        result = self.run_command(
            BUILD / "pitot", *arguments, env=env, stdin=stdin, timeout=timeout
        )
        if status is not None:
            self.assertEqual(result.status, status, result)
        self.assertEqual(output_faults(result.stdout + result.stderr), [], result)
        self.check_no_process()
        return result

    def run_command(self, *command, env=None, stdin=b"", timeout=TIMEOUT_SECONDS):
        """Any command, in the same surroundings, unchecked."""
        return run(command, self.folder, self.environment(env), stdin, timeout)

    def start(self, *arguments, env=None, **options):
        """Starts pitot and gives the Popen object, with pipes; for tests that send signals. The
        test must wait for it."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen(
            [str(BUILD / "pitot"), *map(str, arguments)],
            cwd=self.work,
            env=self.environment(env),
            start_new_session=True,
            **options,
        )
        self.started.append(process)
        return process

    def finish(self, process, timeout=TIMEOUT_SECONDS):
        """Waits for what start() gave, and gives its Run."""
        stdout, stderr = process.communicate(timeout=timeout)
        return Run(
            process.args,
            process.returncode,
            (stdout or b"").decode(errors="replace"),
            (stderr or b"").decode(errors="replace"),
        )

    def environment(self, changes=None):
        environment = test_environment(self.folder)
        for name, value in (changes or {}).items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = str(value)
        return environment

    def sqlite(self):
        """The system's SQLite as --engines takes it."""
        return f"sqlite={system_sqlite()}"

    def read_json(self, path):
        """A JSON file, relative to the working folder, parsed strictly."""
        return strict_json((self.work / path).read_text(encoding="utf-8"))

    def check_schema(self, document, schema):
        """Fails unless the document obeys the JSON schema file (relative to the checkout)."""
        import jsonschema  # not needed by tests that do not ask for it

        rules = strict_json((SOURCE / schema).read_text(encoding="utf-8"))
        validator = jsonschema.validators.validator_for(rules)
        validator.check_schema(rules)
        faults = [
            f"/{'/'.join(map(str, error.absolute_path))}: {error.message}"
            for error in validator(rules).iter_errors(document)
        ]
        self.assertEqual(faults, [])

    def copy_workload(self, name, to="workload"):
        """A copy of a built-in workload in the working folder, to be changed and handed to
        --workload. Gives its path."""
        target = self.work / to
        shutil.copytree(SOURCE / "workloads" / name, target)
        return target

    def change_suite(self, folder, change):
        """Applies change(dict) to a workload's suite.json."""
        path = pathlib.Path(folder) / "suite.json"
        suite = strict_json(path.read_text(encoding="utf-8"))
        change(suite)
        path.write_text(json.dumps(suite, indent=4), encoding="utf-8")
