"""Few right runs are called wrong, and intervals hold the exact value: campaign.py with few seeds.
calibration_test.cpp takes more, and results/published/calibration.md says what many gave."""

import unittest

from attnscale_cli import CommandLineTest
from campaign import Campaign

# A slope that about two queries in a run carry: a sample that saw none of them looks precise.
# Before theory had a say, four of five runs alarmed.
RARE = {"name": "rare", "sampler": "direct", "d": 64, "keys": 8, "queries": 1000,
        "entries": {"law": "normal", "sd": 64}, "scalings": ["none"], "metrics": ["slope"]}

# Spreads without a first-order error: of two values of one size. A fifth of the runs alarmed.
TWO_VALUES = {"name": "two", "d": 1, "keys": [1, 2, 4], "queries": 2000, "entries": "rademacher",
              "scalings": ["none"], "metrics": ["logit_sd"]}

KNOWN = {"name": "known", "sampler": "direct", "d": [4, 64], "keys": 2, "queries": 1000,
         "scalings": ["none", "div_sqrt_d"],
         "metrics": ["logit_sd", "top_weight", "slope", "entropy", "saturated"]}


class CampaignTest(CommandLineTest):
    def campaign(self, config, seeds):
        campaign = Campaign()
        campaign.add_seeds(self.folder / self.write_config({"experiments": [config]}),
                           range(1, seeds + 1))
        return campaign

    # A right run alarms with a probability of 1/1000: one of the 32 runs of this file in 3 % of
    # such tests.
    def test_right_runs_do_not_alarm(self):
        rare = self.campaign(RARE, 12)
        self.assertEqual((rare.runs, rare.alarms, rare.pools["all"][1]), (12, 0, 0))
        two_values = self.campaign(TWO_VALUES, 12)
        self.assertEqual((two_values.runs, two_values.alarms), (12, 0))
        self.assertEqual(two_values.pools["all"], [36, 36])

    # What one cell's lines say is much alike: of 16 cells, four miss in 0.7 % of such tests.
    def test_intervals_and_contrasts_hold_exact_values(self):
        known = self.campaign(KNOWN, 8)
        self.assertEqual(known.alarms, 0)
        for pool, given in (("all", 160), ("contrasts", 80), ("metric saturated", 32)):
            self.assertEqual(known.pools[pool][1], given)
            self.assertGreaterEqual(known.pools[pool][0], 0.8 * given)


if __name__ == "__main__":
    unittest.main()
