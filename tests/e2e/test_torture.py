"""A dozen kills and a few signals at random moments of a run; `make torture` does hundreds."""

import contextlib
import io
import sys
import unittest

import pitot_test

sys.path.insert(0, str(pitot_test.SOURCE / "tests" / "torture"))

import torture  # noqa: E402 (its folder had to be added first)


class Torture(unittest.TestCase):
    def test_nothing_is_left_behind(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = torture.main(["--kills", "12", "--signals", "4", "--verbose"])
        self.assertEqual(status, 0, output.getvalue())


if __name__ == "__main__":
    unittest.main()
