"""pgbench's TPC-B-like script, brought by someone who knows it from there: each mistake that pitot
names is mended as its message says, until it runs."""

import re
import unittest

from pitot_test import PitotTest

SCHEMA = """
CREATE TABLE pgbench_branches(bid INTEGER PRIMARY KEY, bbalance INTEGER, filler TEXT);
CREATE TABLE pgbench_tellers(tid INTEGER PRIMARY KEY, bid INTEGER, tbalance INTEGER, filler TEXT);
CREATE TABLE pgbench_accounts(aid INTEGER PRIMARY KEY, bid INTEGER, abalance INTEGER, filler TEXT);
CREATE TABLE pgbench_history(tid INTEGER, bid INTEGER, aid INTEGER, delta INTEGER, mtime TEXT, filler TEXT);
"""

LOAD = r"""\rows pgbench_branches :branches
INSERT INTO pgbench_branches VALUES (:row, 0, '');
\end
\rows pgbench_tellers :branches * 10
\set bid (:row - 1) / 10 + 1
INSERT INTO pgbench_tellers VALUES (:row, :bid, 0, '');
\end
\rows pgbench_accounts :branches * 1000 CHUNK 500
\set bid (:row - 1) / 1000 + 1
INSERT INTO pgbench_accounts VALUES (:row, :bid, 0, '');
\end
"""

# As pgbench's documentation describes its built-in transaction.
SCRIPT = r"""\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""

SUITE = """{
  "name": "tpcb", "summary": "pgbench's TPC-B-like transaction",
  "scales": {"one": {"branches": 1}},
  "scripts": [{"name": "tpcb", "kind": "write", "compare": "ordered", "ignore": ["pgbench_history.mtime"]}],
  "scenarios": [{"name": "tpcb", "roles": [{"name": "client", "connections": "N"}]}]
}"""

# (what the message must say, what a user then does)
MENDS = [
    (r"tpcb\.sql:1:\d+: .*scale",
     lambda s: s.replace("100000 * :scale", "1000 * :branches").replace(":scale", ":branches")),
    (r"tpcb\.sql:5:1: .*BEGIN.*\\begin", lambda s: s.replace("BEGIN;", r"\begin write")),
    (r"tpcb\.sql:11:1: .*END.*\\commit", lambda s: s.replace("END;", r"\commit")),
]


class Pgbench(PitotTest):
    def test_tpcb_like(self):
        folder = self.work / "tpcb"
        folder.mkdir()
        (folder / "schema.sql").write_text(SCHEMA)
        (folder / "load.sql").write_text(LOAD)
        (folder / "suite.json").write_text(SUITE)
        command = ["prod", "--workload", folder, "--engines", self.sqlite(), "--rounds", "1",
                   "--duration", "0.5", "--warmup", "20", "--json", "x.json"]
        script = SCRIPT
        for message, mend in MENDS:
            (folder / "tpcb.sql").write_text(script)
            done = self.pitot(*command, status=2)
            self.assertRegex(done.stderr, message)
            self.assertEqual(len(re.findall(r"\.sql:", done.stderr)), 1, done)
            self.assertFalse((self.work / "data").exists(), "nothing is built before it is right")
            script = mend(script)
        (folder / "tpcb.sql").write_text(script)
        self.pitot(*command)
        result = self.read_json("x.json")
        self.check_schema(result, "docs/result.schema.json")
        run = result["engines"][0]["runs"][0]["scripts"][0]
        self.assertGreater(run["ok"], 0)
        self.assertEqual(run["failed"], 0, run["errors"])
        self.assertEqual(run["rows_read"], run["ok"])
        self.assertEqual(run["rows_changed"], 4 * run["ok"])
        # The column that takes the time of day is left out of comparisons, so nothing is amiss.
        self.assertFalse([w for w in result["warnings"] if "CURRENT_TIMESTAMP" in w["text"]])
        (folder / "suite.json").write_text(SUITE.replace(', "ignore": ["pgbench_history.mtime"]', ""))
        self.pitot(*command)
        warned = [w for w in self.read_json("x.json")["warnings"] if "CURRENT_TIMESTAMP" in w["text"]]
        self.assertEqual(len(warned), 1)
        self.assertIn("tpcb.sql:10:", warned[0]["text"])


if __name__ == "__main__":
    unittest.main()
