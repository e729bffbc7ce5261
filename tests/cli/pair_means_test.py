"""Exact means of effective_keys and weight_margin, beside what a run draws."""

import unittest

from attnscale_cli import CommandLineTest, read_csv

SCALINGS = ["none", "div_sqrt_d", {"preset": "gpt_oss", "sink": 2}, "gemma2_27b",
            {"preset": "sigmoid", "bias": -2}]
METRICS = ["effective_keys", "weight_margin", "jacobian_norm"]


class PairMeans(CommandLineTest):
    # 2 metrics of 5 scalings at 2 d and 2 numbers of keys: 40 numbers, not all independent. One of
    # them is further than 4.5 standard errors off in 3,700 seeds (40 * 6.8e-6).
    def test_a_run_agrees(self):
        out = self.run_config({"name": "pairs", "sampler": "direct", "seed": 7, "experiments": [
            {"name": "pairs", "d": [4, 64], "keys": [2, 128], "queries": 40_000,
             "scalings": SCALINGS, "metrics": METRICS}]}, "run")
        seen = 0
        header, lines = read_csv(out / "summary.csv")
        for cells in lines:
            line = dict(zip(header, cells))
            if line["metric"] == "jacobian_norm":
                self.assertEqual(line["reference"], "", line)
                continue
            self.assertNotEqual(line["reference"], "", line)
            self.assertLess(abs(float(line["z"])), 4.5, line)
            seen += 1
        self.assertEqual(seen, 40)
        self.succeed("verify", out)


if __name__ == "__main__":
    unittest.main()
