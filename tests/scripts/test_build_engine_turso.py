"""scripts/build-engine-turso with a stand-in for cargo: what is built when, and what is left."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PINNED = ("turso_sdk_kit", "turso_core", "turso_ext", "turso_macros", "turso_parser",
          "turso_sdk_kit_macros")

# What the script itself is made of: taken from the real system.
REAL = ("bash", "sh", "env", "sed", "grep", "sha256sum", "cut", "readlink", "dirname", "mkdir",
        "flock", "mktemp", "cp", "ln", "mv", "rm", "tail", "cat", "chmod", "sort", "sync", "sleep",
        "setsid", "touch", "id")

# Writes what it is called with into CALLS. HOLD makes the build wait until that file is there;
# BUILD is run in its place. Its children are asked for, too: each writes its process id.
CARGO = """#!/bin/sh
[ "$1" = --version ] && { echo "cargo ${CARGO_VERSION:-1.95.0} (0123456 2026-01-01)"; exit; }
echo "cargo $*" >>"$CALLS"
echo "RUSTFLAGS=$RUSTFLAGS target=${CARGO_BUILD_TARGET-none}" >>"$CALLS"
case "$1" in
generate-lockfile)
    if [ -n "$NO_VERSION" ]; then
        echo 'error: failed to select a version for the requirement `turso_core = "=9.9.9"`' >&2
        echo 'candidate versions found which did not match: 0.8.3' >&2
        exit 101
    fi
    echo "# made for $(sed -n 's/^turso_sdk_kit = //p' Cargo.toml) $(cat "$CALLS" | sha256sum)" >Cargo.lock
    echo 'source = "registry+somewhere&else"' >>Cargo.lock ;;
fetch)
    [ -z "$NO_NETWORK" ] || { echo 'error: failed to download from the registry' >&2; exit 101; }
    [ -f Cargo.lock ] ;;
tree) for n in 1 2 3 4 5 6 7 8 9 10; do echo "crate$n v1"; done ;;
build)
    while [ "$1" != --target-dir ]; do shift; done
    for n in 1 2 3 4 5; do echo "   Compiling crate$n v1" >&2; done
    if [ -n "$HOLD" ]; then
        sleep 600 &
        echo "$! $$" >"$HOLD.pids"
        # The folder of a test that failed is gone, and `sleep` with it.
        while [ ! -f "$HOLD" ] && [ -f "$CALLS" ]; do sleep 0.05; done
        kill $!
    fi
    for n in 6 7 8 9; do echo "   Compiling crate$n v1" >&2; done
    echo "   Compiling turso v0.0.0 (/somewhere)" >&2
    [ -z "$BROKEN" ] || { echo "error: could not compile crate7" >&2; exit 101; }
    mkdir -p "$2/release"
    [ -n "$NOTHING" ] || cp Cargo.toml "$2/release/libturso.so" ;;
esac
"""
RUSTC = """#!/bin/sh
case "$1" in
--version) echo "rustc ${RUSTC_VERSION:-1.95.0} (0123456 2026-01-01)" ;;
-vV) echo "host: x86_64-unknown-linux-gnu" ;;
esac
"""
NM = """#!/bin/sh
[ -n "$NO_FUNCTIONS" ] || printf '0001 T turso_setup\\n0002 T turso_version\\n'
printf '0003 T other\\n'
"""


class BuildEngineTurso(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.standins = self.folder / "bin"
        self.tree = self.folder / "tree"
        (self.tree / "scripts").mkdir(parents=True)
        shutil.copy(ROOT / "scripts" / "build-engine-turso", self.tree / "scripts")
        shutil.copytree(ROOT / "engines" / "turso", self.tree / "engines" / "turso")
        shutil.copy(ROOT / "engines" / "turso.json", self.tree / "engines")
        self.standins.mkdir()
        for name in REAL:
            (self.standins / name).symlink_to(shutil.which(name))
        for name, text in (("cargo", CARGO), ("rustc", RUSTC), ("nm", NM), ("cc", "#!/bin/sh\n")):
            self.stand_in(name, text)
        self.engines = self.folder / "cache" / "pitot" / "engines"
        self.calls = self.folder / "calls"
        self.version = json.loads((ROOT / "engines" / "turso.json").read_text())["version"]

    def stand_in(self, name, text):
        (self.standins / name).write_text(text)
        (self.standins / name).chmod(0o755)

    def start(self, *arguments, **changes):
        environment = {"PATH": str(self.standins), "XDG_CACHE_HOME": str(self.folder / "cache"),
                       "CALLS": str(self.calls), **changes}
        return subprocess.Popen(
            [self.tree / "scripts" / "build-engine-turso", *arguments], env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self, started, status=0):
        stdout, stderr = started.communicate(timeout=60)
        self.assertEqual(started.returncode, status, stderr)
        return subprocess.CompletedProcess((), started.returncode, stdout, stderr)

    def build(self, *arguments, status=0, **changes):
        done = self.end(self.start(*arguments, **changes), status)
        self.nothing_left()
        return done

    def nothing_left(self):
        left = [name for name in os.listdir(self.engines)
                if name.startswith(".build")] if self.engines.is_dir() else []
        self.assertEqual(left, [], "left behind")

    def cargo_calls(self, word):
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line for line in lines if line.startswith(f"cargo {word}")]

    def now(self, version=None):
        return os.readlink(self.engines / f"turso@{version or self.version}")

    def facts(self, version=None):
        path = self.engines / f"turso@{version or self.version}" / "build.json"
        return json.loads(path.read_text())

    def await_file(self, path):
        for _ in range(600):
            if path.exists() and path.read_text().endswith("\n"):
                return
            time.sleep(0.05)
        self.fail(f"{path} does not come")

    # ---- what is built ----

    def test_it_is_built_and_found_again(self):
        done = self.build()
        library = self.engines / f"turso@{self.version}" / "libturso.so"
        self.assertEqual(done.stdout, f"{library}\n")
        before = self.now()
        self.assertEqual(self.build().stdout, done.stdout)
        self.assertEqual((len(self.cargo_calls("build")), self.now()), (1, before))
        # The stand-in's library is the crate's description.
        text = library.read_text()
        for crate in PINNED:
            self.assertRegex(text, rf'(?m)^{crate} = .*"={self.version}"')
        for setting in ("lto = true", "codegen-units = 1", 'panic = "abort"'):
            self.assertIn(setting, text)

    def test_it_says_what_it_takes_and_shows_progress(self):
        said = self.build().stderr.splitlines()
        beforehand = next(i for i, line in enumerate(said) if "8 minutes" in line)
        self.assertIn("PITOT_SKIP_TURSO=1", said[beforehand])
        self.assertIn("10 crates", said[beforehand])
        tenths = [line for line in said if "crates begun" in line]
        self.assertEqual([line.split()[1] for line in tenths], [str(n) for n in range(1, 11)])
        self.assertLess(beforehand, said.index(tenths[0]))

    def test_the_committed_lock_decides_and_its_hash_is_kept(self):
        self.build("0.7.1")
        lock = (ROOT / "engines" / "turso" / "lock" / "0.7.1.lock").read_bytes()
        kept = self.engines / "turso@0.7.1" / "Cargo.lock"
        self.assertNotIn(b"://", lock)
        self.assertEqual(kept.read_bytes(), lock.replace(
            b'source = "registry"', b'source = "registry+somewhere&else"'))
        facts = self.facts("0.7.1")
        self.assertEqual(facts["lock"], hashlib.sha256(lock).hexdigest())
        self.assertEqual(facts["lock_from"], "engines/turso/lock/0.7.1.lock")
        self.assertEqual(facts["turso"], "0.7.1")
        self.assertEqual(facts["profile"], "lto=true codegen-units=1 panic=abort")
        self.assertIn("1.95.0", facts["compiler"])
        # Only to learn how this cargo calls its registry.
        self.assertEqual(len(self.cargo_calls("generate-lockfile")), 1)
        for word in ("fetch", "build"):
            self.assertIn("--locked", self.cargo_calls(word)[0])

    def test_committed_locks_fix_every_crate_of_turso(self):
        locks = sorted((ROOT / "engines" / "turso" / "lock").glob("*.lock"))
        self.assertIn(f"{self.version}.lock", [lock.name for lock in locks])
        for lock in locks:
            text = lock.read_text()
            for crate in PINNED:
                with self.subTest(lock=lock.name, crate=crate):
                    self.assertIn(f'name = "{crate}"\nversion = "{lock.stem}"\n', text)

    def test_a_version_without_a_lock_file_keeps_the_one_made(self):
        self.build("0.8.1")
        lock = (self.engines / "turso@0.8.1" / "Cargo.lock").read_bytes()
        self.assertEqual(self.facts("0.8.1")["lock"], hashlib.sha256(lock).hexdigest())
        self.assertEqual(self.facts("0.8.1")["lock_from"], "made at build")
        before = self.now("0.8.1")
        self.build("0.8.1")
        self.assertEqual(self.now("0.8.1"), before)
        # Another compiler builds anew by the same lock.
        self.build("0.8.1", RUSTC_VERSION="1.96.0")
        self.assertNotEqual(self.now("0.8.1"), before)
        self.assertEqual((self.engines / "turso@0.8.1" / "Cargo.lock").read_bytes(), lock)
        self.assertEqual(len(self.cargo_calls("generate-lockfile")), 1)
        self.assertEqual(len(self.cargo_calls("build")), 2)

    def test_versions_lie_side_by_side(self):
        self.build()
        self.build("0.7.1")
        self.assertEqual(self.facts()["turso"], self.version)
        self.assertEqual(self.facts("0.7.1")["turso"], "0.7.1")

    def test_what_changes_the_build_changes_the_folder(self):
        self.build()
        seen = {self.now()}
        for changes in ({"RUSTC_VERSION": "1.96.0"}, {"RUSTFLAGS": "-C target-cpu=native"}):
            self.build(**changes)
            seen.add(self.now())
        with open(self.tree / "engines" / "turso" / "Cargo.toml.in", "a") as file:
            file.write("debug = 1\n")
        self.build()
        seen.add(self.now())
        self.assertEqual(len(seen), 4)
        self.assertEqual(len(self.cargo_calls("build")), 4)

    def test_only_rustflags_come_from_outside(self):
        self.build(RUSTFLAGS="-C target-cpu=native", CARGO_BUILD_TARGET="other-machine",
                   CARGO_PROFILE_RELEASE_LTO="off", CARGO_TARGET_DIR="/nowhere")
        self.assertEqual(self.facts()["flags"], "-C target-cpu=native")
        self.assertEqual(set(line for line in self.calls.read_text().splitlines()
                             if line.startswith("RUSTFLAGS")),
                         {"RUSTFLAGS=-C target-cpu=native target=none"})

    # ---- two at once, and builds that end early ----

    def test_two_at_once_build_once(self):
        hold = self.folder / "go"
        first = self.start(HOLD=str(hold))
        self.await_file(self.folder / "go.pids")
        second = self.start()
        said = second.stderr.readline()
        self.assertIn("waiting", said)
        # Another version need not wait.
        self.build_beside("0.7.1")
        hold.touch()
        library = self.end(first).stdout
        self.assertEqual(self.end(second).stdout, library)
        self.nothing_left()
        self.assertEqual(len(self.cargo_calls("build")), 2)

    def build_beside(self, version):
        self.end(self.start(version))
        self.assertEqual(self.facts(version)["turso"], version)

    def interrupted(self, number):
        hold = self.folder / f"go{number}"
        started = self.start(HOLD=str(hold))
        pids = self.folder / f"go{number}.pids"
        self.await_file(pids)
        started.send_signal(number)
        stdout, _ = started.communicate(timeout=60)
        return started.returncode, stdout, [int(pid) for pid in pids.read_text().split()]

    def test_an_interrupted_build_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                status, stdout, pids = self.interrupted(number)
                self.assertEqual((status, stdout), (1, ""))
                self.nothing_left()
                self.assertFalse((self.engines / f"turso@{self.version}").exists())
                for pid in pids:
                    self.assertFalse(alive(pid), "a process of the build goes on")

    def test_a_killed_build_is_cleared_away_by_the_next(self):
        status, _, pids = self.interrupted(signal.SIGKILL)
        self.assertEqual(status, -signal.SIGKILL)
        for pid in pids:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        self.assertNotEqual(list(self.engines.glob(".build*")), [])
        self.assertFalse((self.engines / f"turso@{self.version}").exists())
        self.build()
        self.assertEqual(self.facts()["turso"], self.version)

    # ---- what can be wrong ----

    def test_no_rust(self):
        for name in ("cargo", "rustc", "cc", "nm"):
            with self.subTest(missing=name):
                kept = (self.standins / name).read_text()
                (self.standins / name).unlink()
                done = self.build(status=3)
                self.assertEqual(len(done.stderr.splitlines()), 1)
                self.assertIn(f"needs {name}", done.stderr)
                self.stand_in(name, kept)
        self.assertEqual(self.cargo_calls(""), [])

    def test_rust_that_is_too_old(self):
        for changes in ({"CARGO_VERSION": "1.63.0"}, {"RUSTC_VERSION": "1.87.1"}):
            done = self.build(status=3, **changes)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertRegex(done.stderr, r"1\.88 or newer.*found 1\.(63|87)")
        self.build(CARGO_VERSION="1.88.0", RUSTC_VERSION="2.0.0")

    def test_cargo_that_does_not_run(self):
        self.stand_in("cargo", "#!/bin/sh\necho 'error: rustup has no toolchain' >&2\nexit 1\n")
        self.stand_in("rustup", "#!/bin/sh\n")
        done = self.build(status=3)
        self.assertIn("rustup has no toolchain", done.stderr)
        self.assertIn("rustup update stable", done.stderr)

    def test_without_rust_what_is_there_is_found(self):
        library = self.build().stdout
        (self.standins / "cargo").unlink()
        self.assertEqual(self.build().stdout, library)
        self.build("0.7.1", status=3)

    def test_a_version_that_the_registry_lacks(self):
        done = self.build("9.9.9", status=1, NO_VERSION="1")
        self.assertIn("does not hold Turso 9.9.9", done.stderr)
        self.assertIn("candidate versions", done.stderr)
        self.assertFalse((self.engines / "turso@9.9.9").exists())

    def test_no_network(self):
        done = self.build(status=1, NO_NETWORK="1")
        self.assertIn("is there a network?", done.stderr)
        self.assertIn("failed to download", done.stderr)
        self.assertEqual(self.cargo_calls("build"), [])

    def test_a_build_that_fails_keeps_the_old_one(self):
        self.build()
        before = self.now()
        for changes, words in (({"BROKEN": "1"}, "could not compile crate7"),
                               ({"NOTHING": "1"}, "no libturso.so"),
                               ({"NO_FUNCTIONS": "1"}, "no function turso_")):
            with self.subTest(words=words):
                done = self.build(status=1, RUSTC_VERSION="1.96.0", **changes)
                self.assertIn(words, done.stderr)
                self.assertEqual((done.stdout, self.now()), ("", before))

    def test_it_can_be_left_out(self):
        done = self.build(status=3, PITOT_SKIP_TURSO="1")
        self.assertIn("PITOT_SKIP_TURSO", done.stderr)
        self.assertEqual((done.stdout, self.cargo_calls("")), ("", []))
        self.build(PITOT_SKIP_TURSO="0")

    def test_what_is_no_version(self):
        for text in ("", "latest", "0.8", "../0.8.3", "0.8.3-", "=0.8.3"):
            self.assertIn("is no version", self.build(text, status=2).stderr)
        self.assertIn("one version at most", self.build("0.8.3", "0.7.1", status=2).stderr)
        self.assertFalse(self.engines.exists())


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    unittest.main()
