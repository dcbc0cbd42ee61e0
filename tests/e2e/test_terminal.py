"""Progress and table in windows of every kind: nothing wraps, and a place that is no terminal gets
no escape byte."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import unicodedata
import unittest

import pitot_test
from test_prod import ProdTest

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def columns_of(text):
    """Columns that a terminal needs for a text without escape sequences."""
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Window:
    """A pseudo-terminal of some columns, and what was written to it."""

    def __init__(self, columns, rows=24):
        self.master, self.slave = pty.openpty()
        self.resize(columns, rows)
        self.parts = []
        self.arrived = threading.Condition()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def resize(self, columns, rows=24):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while True:
            try:
                part = os.read(self.master, 65536)
            except OSError:
                part = b""  # the last writer has closed it
            with self.arrived:
                self.parts.append(part)
                self.arrived.notify_all()
            if not part:
                return

    def text(self):
        return b"".join(self.parts).decode(errors="replace")

    def wait_for(self, pattern, seconds=60):
        with self.arrived:
            if not self.arrived.wait_for(lambda: re.search(pattern, self.text()), seconds):
                raise AssertionError(f"{pattern} did not come: {self.text()!r}")

    def close(self):
        os.close(self.slave)
        self.reader.join()
        os.close(self.master)
        return self.text()


class TerminalTest(ProdTest):
    def shown(self, columns, *more, env=None, act=None, stdout=None, **options):
        """Runs pitot with standard error (and output, unless given) in a window; gives what the
        window got, and the status. act(process, window) is called meanwhile."""
        window = Window(columns)
        changes = {"TERM": "xterm-256color", **(env or {})}
        process = self.start(*self.short(*more, **options), env=changes,
                             stdout=window.slave if stdout is None else stdout,
                             stderr=window.slave)
        try:
            if act is not None:
                act(process, window)
            process.wait(timeout=pitot_test.TIMEOUT_SECONDS)
        finally:
            text = window.close()
        self.assertNotIn("\ufffd", text)
        return text, process.returncode

    def check_width(self, text, columns):
        """No line, and no state of a line that is drawn anew, is wider than the window."""
        for line in text.replace("\r\n", "\n").split("\n"):
            for state in line.split("\r"):
                plain = ESCAPE.sub("", state)
                self.assertNotIn("\x1b", plain)
                self.assertLessEqual(columns_of(plain), columns, repr(state))

    def check_cursor(self, text):
        self.assertEqual(text.count(HIDE), text.count(SHOW))
        self.assertGreaterEqual(text.rfind(SHOW), text.rfind(HIDE))

    def test_widths(self):
        for columns in (20, 21, 47, 80, 132):
            with self.subTest(columns=columns):
                text, status = self.shown(columns, duration=1.2)
                self.assertEqual(status, 0, text)
                self.assertIn("\r", text)
                self.check_width(text, columns)
                self.check_cursor(text)

    def test_less_than_pitot_asks_for(self):
        # The table is never narrower than 20 columns; progress is cut to what there is.
        for columns in (1, 2, 5):
            text, status = self.shown(columns, duration=1.2, stdout=subprocess.DEVNULL)
            self.assertEqual(status, 0, text)
            drawn = [line for line in text.split("\r") if "\n" not in line]
            for state in drawn:
                self.assertLessEqual(columns_of(ESCAPE.sub("", state)), columns, repr(state))

    def test_a_window_without_columns(self):
        text, status = self.shown(0, duration=1.2)
        self.assertEqual(status, 0, text)
        self.assertNotIn("\x1b[K", text)
        self.assertNotIn("\r", text.replace("\r\n", "\n"))

    def test_terminals_that_understand_nothing(self):
        for term in ("dumb", "", None):
            with self.subTest(term=term):
                text, status = self.shown(80, env={"TERM": term}, duration=1.2)
                self.assertEqual(status, 0, text)
                self.assertNotIn("\x1b", text)
                self.assertNotIn("\r", text.replace("\r\n", "\n"))

    def test_no_color(self):
        text, _ = self.shown(80, env={"NO_COLOR": "1"})
        self.assertNotRegex(text, r"\x1b\[[0-9;]*m")

    def test_standard_error_to_a_file(self):
        window = Window(80)
        with open(self.work / "log", "wb") as log:
            process = self.start(*self.short("-P", "0.1", duration=1.2), stderr=log,
                                 stdout=window.slave, env={"TERM": "xterm-256color"})
            process.wait(timeout=pitot_test.TIMEOUT_SECONDS)
        window.close()
        text = (self.work / "log").read_text(encoding="utf-8")
        self.assertEqual(process.returncode, 0, text)
        self.assertIn("round 1 of 1", text)
        self.assertEqual(pitot_test.output_faults(text), [])
        self.assertNotIn("\r", text)

    def test_resized_in_mid_run(self):
        def act(_, window):
            window.wait_for("round 1 of 1, run")
            for columns in (20, 0, 200, 40):
                window.resize(columns)

        text, status = self.shown(80, act=act, duration=3, stdout=subprocess.DEVNULL)
        self.assertEqual(status, 0, text)
        after = text[re.search("round 1 of 1, run", text).end():]
        # The line that was on its way may still have the old width; the last has the new.
        states = [ESCAPE.sub("", s) for s in re.split(r"[\r\n]+", after) if s.strip()]
        for state in states[1:]:
            self.assertLessEqual(columns_of(state), 40, repr(state))

    def test_the_cursor_after_ctrl_c(self):
        for number, expected in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(signal=number.name):
                def act(process, window, number=number):
                    window.wait_for("round 1 of 1, run")
                    os.kill(process.pid, number)

                text, status = self.shown(90, act=act, duration=60)
                self.assertEqual(status, expected, text)
                self.check_cursor(text)
                self.check_width(text, 90)
                # Nothing of the progress line is left in front of what follows.
                table = text[text.rfind("round 1 of 1, run"):]
                self.assertIn("\r\x1b[K", table)

    def test_long_names_are_cut_with_an_ellipsis(self):
        folder = self.work / ("Ünïcödé-" * 8) / "工具箱工具箱"
        folder.mkdir(parents=True)
        library = folder / "lib.so"
        library.symlink_to(pitot_test.system_sqlite())
        for columns in (20, 33, 34, 35, 60):
            with self.subTest(columns=columns):
                text, status = self.shown(columns, duration=1.2,
                                          engines=f"sqlite={library},{self.sqlite()}")
                self.assertEqual(status, 0, text)
                self.assertIn("…", text)
                self.check_width(text, columns)


if __name__ == "__main__":
    unittest.main()
