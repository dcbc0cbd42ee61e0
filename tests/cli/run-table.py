#!/usr/bin/env python3
"""Runs tables of command-line tests, one line of output a test.

    run-table.py TABLE… [--only TEXT]      TEXT: part of the names of the tests to run

A table is a text file of blocks, divided by empty lines; # starts a comment line. A block:

    test    NAME                    what must hold, in words
    file    NAME TEXT               makes work/NAME first; \\n, \\t, \\\\ and \\xNN in TEXT are understood
    env     NAME=VALUE              adds to the environment; NAME alone takes it out
    args    WORDS                   pitot's arguments, quoted as for a shell
    stdin   TEXT                    what it reads; nothing otherwise
    status  NUMBER                  exit status; must be there
    stdout  PATTERN                 must be found (Python's re, multi-line, . is not a line end)
    stderr  PATTERN
    without PATTERN                 must be found in neither

`file`, `env`, `stdout`, `stderr`, `without` may be repeated. A block that begins with `common`
instead of `test` runs nothing: its lines stand before those of every block behind it. Before anything else ${FOLDER} (the
test's own folder), ${WORK} (its working folder), ${SOURCE} (the checkout), ${BUILD} and ${SQLITE}
(the system's libsqlite3.so.0) are replaced, in patterns too (escaped there).

What holds for every test without being written: a command that fails, unless the block has a
stdout line, writes nothing on stdout and something on stderr; no hygiene fault (pitot_test.py):
stray processes, leftover files, escape bytes, sanitizer reports.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import pitot_test  # noqa: E402

ONCE = ("test", "common", "args", "stdin", "status")
REPEATED = ("file", "env", "stdout", "stderr", "without")
ESCAPE = re.compile(r"\\(n|r|t|\\|x[0-9a-fA-F]{2})")


class TableError(Exception):
    """A mistake in a table."""


def unescape(text):
    """Bytes of a text in which \\n, \\r, \\t, \\\\ and \\xNN are understood."""
    plain = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"\\": b"\\"}
    return re.sub(
        ESCAPE.pattern.encode(),
        lambda match: plain.get(match[1]) or bytes([int(match[1][1:], 16)]),
        text.encode(),
    )


def parse(path):
    """The blocks of a table as dicts: ONCE keys to text, REPEATED keys to lists."""
    blocks = []
    block = None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            block = None
            continue
        if line.startswith("#"):
            continue
        key, _, value = line.partition(" ")
        value = value.strip()
        if block is None:
            block = {name: [] for name in REPEATED}
            block["place"] = f"{path.name}:{number}"
            blocks.append(block)
        if key in REPEATED:
            block[key].append(value)
        elif key in ONCE and key not in block:
            block[key] = value
        else:
            raise TableError(f"{path}:{number}: {key}: unknown, or twice in one test")
    return with_common(blocks)


def with_common(blocks):
    """The tests among the blocks, with the lines of the common blocks before them."""
    common = {name: [] for name in REPEATED}
    tests = []
    for block in blocks:
        if "common" in block:
            common = {name: common[name] + block[name] for name in REPEATED}
            continue
        for key in ("test", "status"):
            if key not in block:
                raise TableError(f"{block['place']}: a test without {key}")
        tests.append(block | {name: common[name] + block[name] for name in REPEATED})
    return tests


def replacer(folder):
    values = {
        "FOLDER": str(folder),
        "WORK": str(folder / "work"),
        "SOURCE": str(pitot_test.SOURCE),
        "BUILD": str(pitot_test.BUILD),
        "SQLITE": pitot_test.system_sqlite(),
    }

    def replace(text, quote=lambda value: value):
        return re.sub(r"\$\{(\w+)\}", lambda match: quote(values[match[1]]), text)

    return replace


def prepare(block, folder, replace):
    """Writes the files, and gives the environment."""
    for entry in block["file"]:
        name, _, text = replace(entry).partition(" ")
        path = folder / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(unescape(text))
    environment = pitot_test.test_environment(folder)
    for entry in block["env"]:
        name, equals, value = replace(entry).partition("=")
        if equals:
            environment[name] = value
        else:
            environment.pop(name, None)
    return environment


def judge(block, run, replace):
    """What is wrong with how the command ended, as texts."""
    faults = []
    if run.status != int(block["status"]):
        faults.append(f"status {run.status}, not {block['status']}")
    for stream, text in (("stdout", run.stdout), ("stderr", run.stderr)):
        for pattern in block[stream]:
            if not re.search(replace(pattern, re.escape), text, re.MULTILINE):
                faults.append(f"{stream} has nothing like {pattern!r}")
    for pattern in block["without"]:
        found = re.search(replace(pattern, re.escape), run.stdout + "\n" + run.stderr, re.MULTILINE)
        if found:
            faults.append(f"output holds {found.group()!r}")
    if run.status != 0 and run.stdout and not block["stdout"]:
        faults.append("a failed command wrote on stdout")
    if run.status != 0 and not run.stderr and not block["stdout"]:
        faults.append("a failed command wrote nothing on stderr")
    faults += [f"output holds {fault}" for fault in pitot_test.output_faults(run.stdout + run.stderr)]
    return faults


def run_test(block):
    """Runs one test; gives its faults and the Run, if there is one."""
    folder = pitot_test.make_folder()
    try:
        replace = replacer(folder)
        environment = prepare(block, folder, replace)
        words = shlex.split(replace(block.get("args", "")))
        stdin = unescape(replace(block.get("stdin", "")))
        try:
            run = pitot_test.run(
                [pitot_test.BUILD / "pitot", *words], folder, environment, stdin
            )
        except subprocess.TimeoutExpired as error:
            return [f"did not end within {error.timeout:g} s"], None
        faults = judge(block, run, replace)
        faults += [f"left process {pid} ({name})" for pid, name in pitot_test.end_strays().items()]
        faults += [f"left file {name}" for name in pitot_test.leftover_files(folder)]
        return faults, run
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    options = argparse.ArgumentParser(description="Runs tables of command-line tests.")
    options.add_argument("tables", nargs="+", type=pathlib.Path, metavar="TABLE")
    options.add_argument("--only", default="", metavar="TEXT")
    chosen = options.parse_args()

    pitot_test.become_subreaper()
    count = passed = mistakes = 0
    for table in chosen.tables:
        try:
            blocks = parse(table)
        except (OSError, TableError) as error:
            print(f"not ok - {error}")
            mistakes += 1
            continue
        for block in blocks:
            if chosen.only not in block["test"]:
                continue
            count += 1
            faults, run = run_test(block)
            print(f"{'not ok' if faults else 'ok'} {count} - {block['place']} {block['test']}")
            for fault in faults:
                print(f"    {fault}")
            if faults and run:
                print("    " + str(run).strip().replace("\n", "\n    "))
            passed += not faults
            sys.stdout.flush()
    print(f"{passed} of {count} passed")
    return 0 if passed == count > 0 and not mistakes else 1


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
