"""In which phase a running `pitot prod` is, told from outside: by /proc, the files of its data
folder and its progress lines."""

import os
import pathlib
import re
import threading

import pitot_test

# In the order in which a run goes through them. `settle` begins when the copy is whole; the copy
# for the preflight counts as preflight.
PHASES = ("start", "identify", "load", "preflight", "copy", "settle", "open", "warm-up", "run",
          "close", "after-run")

# What only pitot itself does: no worker is there to be killed.
WITHOUT_WORKER = ("start", "copy", "settle")

COPY = re.compile(r"pitot-run-\d+-(.+)\.db$")
RUN_LABEL = re.compile(r"-\d+(-[0-9a-f]{8})?$|-[0-9a-f]{8}$")


def children_of(pid):
    """PIDs of the children that have not ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
        found = [int(word) for word in text.split()]
    except FileNotFoundError:
        found = [child for child, entry in pitot_test.processes().items() if entry[0] == pid]
    return [child for child in found if command_of(child) is not None]


def command_of(pid):
    """The command's name; None when the process has ended."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    command, rest = stat[stat.index("(") + 1:].rsplit(")", 1)
    return None if rest.split()[0] in "ZX" else command


def open_files(pid, path):
    """How many descriptors of a process are open on path."""
    count = 0
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            try:
                count += os.readlink(entry.path) == path
            except (FileNotFoundError, ProcessLookupError):
                pass
    except (FileNotFoundError, ProcessLookupError):
        pass
    return count


class Watched:
    """A started pitot, perhaps inside a PID namespace (then `process` is unshare)."""

    def __init__(self, process, data, engine):
        self.process = process
        self.data = pathlib.Path(data)
        self.engine = engine  # whose runs count; another engine's are phase "other"
        self.pid = None
        self.lines = []
        self.output = b""
        self.measuring = False  # a progress line told of the measured part
        self.seen_copy = False
        self.run_worker = None
        self.most_open = 0
        self.threads = [threading.Thread(target=self.read_errors),
                        threading.Thread(target=self.read_output)]
        for thread in self.threads:
            thread.start()

    def read_errors(self):
        for line in self.process.stderr:
            text = line.decode(errors="replace").rstrip("\n")
            self.lines.append(text)
            if text.startswith(self.engine) and ", run " in text:
                self.measuring = True

    def read_output(self):
        self.output = self.process.stdout.read()

    def finish(self, timeout):
        """Waits for the end and the whole output; gives the exit status."""
        try:
            return self.process.wait(timeout)
        finally:
            if self.process.poll() is not None:
                for thread in self.threads:
                    thread.join(timeout)
                self.process.stdout.close()
                self.process.stderr.close()

    def find_pitot(self):
        if self.pid is None:
            level = [self.process.pid]
            while level and self.pid is None:
                self.pid = next((p for p in level if command_of(p) == "pitot"), None)
                level = [child for p in level for child in children_of(p)]
        return self.pid

    def look(self):
        """(phase, PID of pitot, PID of its worker or None); the phase is None when pitot is not
        there, not yet or no more."""
        pid = self.find_pitot()
        if pid is None or command_of(pid) is None:
            return None, pid, None
        names = []
        if self.data.exists():
            names = os.listdir(self.data)
        worker = next((c for c in children_of(pid) if command_of(c) == "pitot-worker"), None)
        return self.tell(names, worker), pid, worker

    def tell(self, names, worker):
        if any(name.startswith("pitot-build-") for name in names):
            return "load"
        copy = next((name for name in names if COPY.match(name)), None)
        if copy is None:
            if self.seen_copy and worker is not None:
                return "other"
            if self.run_worker is not None:
                return "after-run"
            if self.seen_copy:
                return "copy"  # between the preflight's copy and the first run's
            locked = open_files(self.pid, str(self.data / "template.lock"))
            return "identify" if locked else "start"
        self.seen_copy = True
        label = COPY.match(copy).group(1)
        is_run = RUN_LABEL.search(label) is not None
        if not is_run:
            return "preflight"
        if self.run_worker is not None and worker != self.run_worker:
            return "after-run"
        if worker is None:
            return "settle" if self.whole(copy) else "copy"
        self.run_worker = worker
        return self.tell_run(copy, worker)

    def whole(self, copy):
        try:
            template = next(self.data.glob("template-*.db")).stat().st_size
            return (self.data / copy).stat().st_size >= template
        except (FileNotFoundError, StopIteration):
            return False

    def tell_run(self, copy, worker):
        opened = open_files(worker, str(self.data / copy))
        self.most_open = max(self.most_open, opened)
        if self.measuring:
            return "close" if opened < self.most_open else "run"
        try:
            written = (self.data / (copy + "-wal")).stat().st_size > 0
        except FileNotFoundError:
            written = False
        return "warm-up" if written else "open"
