"""What a run says of its progress: how fast it is, and how much is done."""

import re
import time
import unittest

from attnscale_cli import CommandLineTest

QUERIES = 60_000  # a second of one processor: enough for a few bars
LONG = {"name": "long", "d": 64, "keys": 64, "queries": QUERIES, "metrics": ["top_weight"]}
UNITS = {"": 1, "k": 1e3, "M": 1e6}


class Progress(CommandLineTest):
    def last_bar(self, *experiments):
        """Share done and queries a second of the last bar, and the seconds of the whole run."""
        config = {"name": "a", "sampler": "vectors", "experiments": experiments}
        began = time.monotonic()
        answer = self.succeed("run", self.write_config(config), "--out", "out", "--progress", "bar",
                              "--threads", 1, timeout=600)
        seconds = time.monotonic() - began
        bars = re.findall(r"(\d+) %  ([\d.]+)([kM]?) queries/s", answer.stderr)
        self.assertTrue(bars, answer.stderr)
        percent, number, unit = bars[-1]
        return int(percent) / 100, float(number) * UNITS[unit], seconds

    def test_the_speed_is_that_of_queries(self):
        share, speed, seconds = self.last_bar(LONG)
        self.assertGreater(share, 0.5)
        # The clock of the run began later than that of this test.
        self.assertGreater(speed * seconds, 0.9 * share * QUERIES)

    def test_a_cell_that_ends_early_takes_off_what_it_did_not_do(self):
        early = {**LONG, "name": "early", "queries": 1000 * QUERIES, "scalings": ["none"],
                 "stop": {"metric": "top_weight", "absolute_error": 0.1}}
        share, _, _ = self.last_bar(early, LONG)
        self.assertGreater(share, 0.5)


if __name__ == "__main__":
    unittest.main()
