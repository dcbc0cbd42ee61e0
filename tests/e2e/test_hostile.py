"""Files that are not what they ought to be: templates, folders' names, manifests, results."""

import json
import os
import sqlite3
import unittest

import pitot_test
from test_prod import ProdTest

# Reading a result of a few MB takes seconds on no machine.
REPORT_SECONDS = 30


class Templates(ProdTest):
    """A template that is not whole is built anew, and the result is as if it had never been."""

    def setUp(self):
        super().setUp()
        self.measure()
        self.path = self.template()
        self.description = self.path.with_suffix(".json")
        self.good = self.path.read_bytes()

    def check_built_anew(self, *words):
        done = self.pitot(*self.short())
        self.assertIn("built anew", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(self.path.read_bytes(), self.good)
        self.check_only_the_template_is_left()

    def test_truncated(self):
        for length in (0, 1, 4095, len(self.good) // 2, len(self.good) - 1):
            with self.subTest(length=length):
                self.path.write_bytes(self.good[:length])
                self.check_built_anew(self.path.name)

    def test_one_page_is_corrupt(self):
        pages = len(self.good) // 4096
        for page in (0, 1, pages // 2, pages - 1):
            with self.subTest(page=page):
                changed = bytearray(self.good)
                changed[page * 4096 + 7 : page * 4096 + 200] = b"\xa5" * 193
                self.path.write_bytes(changed)
                self.check_built_anew()

    def test_no_database(self):
        for content in (b"not a database\n" * 400, bytes(len(self.good))):
            self.path.write_bytes(content)
            self.check_built_anew()

    def test_of_another_scale(self):
        def double(suite):
            users = 2 * suite["scales"]["tiny"]["users"]
            suite["scales"]["tiny"] = {"users": users, "orders_per_user": 4, "orders": 4 * users}

        other = self.copy_workload("prod", "other")
        self.change_suite(other, self.add_tiny)
        self.change_suite(other, double)
        self.pitot("prod", "--workload", other, "--engines", self.sqlite(), "--rounds", "1",
                   "--duration", "0.1", "--warmup", "10", "--dir", "elsewhere")
        found = next((self.work / "elsewhere").glob("template-*.db"))
        self.path.write_bytes(found.read_bytes())
        self.check_built_anew()
        # With its description renamed as well: the key in it tells.
        self.path.write_bytes(found.read_bytes())
        self.description.write_bytes(found.with_suffix(".json").read_bytes())
        self.check_built_anew("something else")

    def test_a_broken_description(self):
        text = self.description.read_text()
        for broken in ("", "{", text[: len(text) // 2], "[]", "null", "{}", '{"key": 1e999}',
                       text.replace('"bytes"', '"Bytes"'), "\xff\xfe", "[" * 100_000):
            with self.subTest(broken=broken[:20]):
                self.description.write_text(broken, encoding="latin-1")
                self.check_built_anew()

    def test_only_one_of_the_two(self):
        self.description.unlink()
        self.check_built_anew()
        self.path.unlink()
        self.check_built_anew()

    def test_no_regular_file(self):
        self.path.unlink()
        self.path.mkdir()
        done = self.pitot(*self.short(), status=3)
        self.assertIn(self.path.name, done.stderr)
        self.path.rmdir()
        self.path.symlink_to("/dev/zero")
        done = self.pitot(*self.short(), status=None)
        self.assertIn(done.status, (0, 3))
        self.assertIn(self.path.name, done.stderr)


class Names(ProdTest):
    check_leftover_files = False

    def test_4000_characters(self):
        deep = "/".join(["d" * 200] * 20)
        done = self.pitot(*self.short("--dir", deep), status=2)
        self.assertRegex(done.stderr, "too long|at most")
        self.assertEqual([n for n in os.listdir(self.work) if n.startswith("d")], [])

    def test_4000_characters_that_exist(self):
        here = os.open(self.work, os.O_RDONLY)
        self.addCleanup(os.close, here)
        for _ in range(20):  # deeper than a path may be: step by step
            os.mkdir("d" * 200, dir_fd=here)
            there = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
            self.addCleanup(os.close, there)
            here = there
        done = self.pitot(*self.short("--dir", "/".join(["d" * 200] * 19)), status=2)
        self.assertRegex(done.stderr, "too long|at most")

    def test_one_name_of_4000_characters(self):
        done = self.pitot(*self.short("--dir", "n" * 4000), status=2)
        self.assertIn("too long", done.stderr)
        done = self.pitot(*self.short("--json", "n" * 4000), status=None)
        self.assertIn(done.status, (2, 3), done)
        self.assertIn("--json", done.stderr)

    def test_the_longest_that_is_taken(self):
        room = 392 - len(os.path.realpath(self.work)) - 1
        name = "/".join(["e" * 99] * 3)[: room]
        self.pitot(*self.short("--dir", name))


class Manifests(ProdTest):
    def setUp(self):
        super().setUp()
        self.manifests = self.folder / "config" / "pitot" / "engines"
        self.manifests.mkdir(parents=True)

    def add(self, file, text):
        (self.manifests / file).write_bytes(text if isinstance(text, bytes) else text.encode())

    def test_bad_ones_spoil_nothing_else(self):
        bad = {
            "empty.json": "", "half.json": '{"name": "half", "summary": ', "list.json": "[]",
            "bytes.json": b"\xff\xfe\x00", "deep.json": "[" * 200_000,
            "number.json": '{"name": 7, "summary": "x", "driver": "sqlite"}',
            "huge.json": '{"name": "huge", "summary": "' + "x" * (2 << 20) + '"}',
            "other.json": '{"name": "another", "summary": "x", "driver": "sqlite"}',
        }
        for file, text in bad.items():
            self.add(file, text)
        (self.manifests / "folder.json").mkdir()
        os.mkfifo(self.manifests / "pipe.json")
        (self.manifests / "lost.json").symlink_to("nowhere")
        result = self.measure()
        self.assertEqual(result["engines"][0]["status"], "ok")
        listed = self.pitot("engines", status=2)
        self.assertIn("sqlite", listed.stdout)
        for file in bad:
            self.assertIn(file, listed.stdout + listed.stderr)

    def test_one_that_was_named_is_an_error(self):
        self.add("mine.json", "{")
        done = self.pitot(*self.short(engines="mine"), status=None)
        self.assertIn(done.status, (2, 3), done)
        self.assertIn("mine.json", done.stderr)

    def test_one_that_cannot_be_read(self):
        self.add("secret.json", '{"name": "secret", "summary": "x", "driver": "null"}')
        (self.manifests / "secret.json").chmod(0)
        self.measure()
        if os.geteuid() != 0:
            done = self.pitot(*self.short(engines="secret"), status=None)
            self.assertIn(done.status, (2, 3), done)
            self.assertIn("secret.json", done.stderr)

    def test_twice_the_same_name(self):
        text = '{"name": "%s", "summary": "x", "driver": "null"}'
        self.add("sqlite.json", text % "sqlite")  # the built-in one's name
        done = self.pitot("engines", status=2)
        self.assertIn("sqlite.json", done.stderr)


class Results(ProdTest):
    """What is given to `pitot report` may be anybody's."""

    def report(self, content, status=(2,)):
        path = self.work / "hostile.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self.report_file("hostile.json", status)

    def report_file(self, path, status=(2,)):
        done = None
        for form in ("table", "csv", "json"):
            done = self.pitot("report", path, "--format", form, status=None,
                              timeout=REPORT_SECONDS)
            self.assertIn(done.status, status, done)
            if done.status != 0:
                self.assertIn(str(path), done.stderr)
                self.assertLess(len(done.stderr), 2000)
                self.assertEqual(done.stdout, "")
        return done

    def test_deep_nesting(self):
        for text in ("[" * 1_000_000, '{"a":' * 300_000, "[" * 2000 + "]" * 2000):
            self.report(text)

    def test_numbers_beyond_all_bounds(self):
        self.measure(engines="null")
        text = (self.work / "x.json").read_text()
        for key in ("seed", "threads", "duration_ns", "rounds", "window_ns", "ok", "attempted",
                    "time_ns", "median", "cores", "elapsed_s"):
            for value in ("1e999", "-1e999", "1" * 400, "-1", "18446744073709551616",
                          '"18446744073709551615"', '"-9223372036854775808"', "1e308", "NaN"):
                with self.subTest(key=key, value=value[:24]):
                    at = text.find(f'"{key}":')
                    self.assertGreater(at, 0)
                    end = min(text.find(c, at + len(key) + 3) for c in ",}]"
                              if text.find(c, at + len(key) + 3) > 0)
                    self.report(f'{text[:at]}"{key}":{value}{text[end:]}', status=(0, 2))

    def test_a_gigabyte(self):
        path = self.work / "sparse.json"
        with open(path, "wb") as file:
            file.truncate(1 << 30)
        done = self.report_file("sparse.json")
        self.assertIn("larger", done.stderr)

    def test_truncated(self):
        self.measure(engines="null")
        whole = (self.work / "x.json").read_bytes().rstrip()
        for part in range(50):
            with self.subTest(part=part):
                self.report(whole[: len(whole) * part // 50])

    def test_types_changed_everywhere(self):
        """Each value in turn, on the way down, becomes one of another kind."""
        self.measure(engines="null")
        result = self.read_json("x.json")
        path = self.work / "hostile.json"
        places = list(self.places(result, 6))
        self.assertGreater(len(places), 100)
        for owner, key in places[:: max(1, len(places) // 150)]:
            saved = owner[key]
            owner[key] = [] if isinstance(saved, (dict, str, int, float)) else {"no": "such"}
            path.write_text(json.dumps(result))
            owner[key] = saved
            done = self.pitot("report", "hostile.json", status=None, timeout=REPORT_SECONDS)
            self.assertIn(done.status, (0, 2), (key, done))

    def places(self, value, depth):
        if depth == 0:
            return
        items = value.items() if isinstance(value, dict) else \
            enumerate(value[:2]) if isinstance(value, list) else ()
        for key, inner in list(items):
            yield value, key
            yield from self.places(inner, depth - 1)

    def test_no_file(self):
        for name in ("missing.json", ".", "/dev/null"):
            done = self.pitot("report", name, status=2)
            self.assertIn(name, done.stderr)
        os.mkfifo(self.work / "pipe")
        done = self.pitot("report", "pipe", status=2, timeout=REPORT_SECONDS)
        self.assertIn("pipe", done.stderr)

    def test_a_database(self):
        database = sqlite3.connect(self.work / "hostile.json")
        database.execute("CREATE TABLE t (x)")
        database.close()
        self.report_file("hostile.json")

    def test_text_that_would_steer_a_terminal(self):
        self.measure(engines="null")
        result = self.read_json("x.json")
        result["engines"][0]["name"] = "e\x1b]0;title\x07\u202e\r\n"
        (self.work / "hostile.json").write_text(json.dumps(result))
        done = self.pitot("report", "hostile.json")
        for byte in ("\x1b", "\x07", "\r", "\u202e"):
            self.assertNotIn(byte, done.stdout)


if __name__ == "__main__":
    unittest.main()
