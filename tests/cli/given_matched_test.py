"""Baselines of given numbers: random entries that are standard, or as wide as the files' own."""

import csv
import json
import os
import unittest

import numpy as np

from attnscale_cli import CommandLineTest

HEADS, TOKENS, D = 3, 40, 16
MEANS = {"q": [0.5, 0, -0.3], "k": [0.4, 0, 0.2]}
SPREADS = {"q": [1, 3, 0.5], "k": [1, 1, 2]}
METRICS = ["logit_sd", "top_weight", "entropy"]
CAUSAL = np.tril(np.ones((TOKENS, TOKENS), bool))


def metrics_of(q, k):
    """Of all heads together, divided by sqrt(d), causal."""
    logits = q @ np.swapaxes(k, 1, 2) / D**0.5
    seen = np.where(CAUSAL, logits, -np.inf)
    weights = np.exp(seen - seen.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    logs = np.log(np.where(weights > 0, weights, 1))
    return [logits[:, CAUSAL].std(ddof=1), weights.max(axis=-1).mean(),
            -(weights * logs).sum(axis=-1).mean()]


class GivenMatchedTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(11)
        self.arrays = {name: np.reshape(MEANS[name], (HEADS, 1, 1)) +
                       np.reshape(SPREADS[name], (HEADS, 1, 1)) *
                       random.normal(size=(HEADS, TOKENS, D)) for name in "qk"}
        for name, array in self.arrays.items():
            np.save(self.folder / f"{name}.npy", array)

    def config(self, baseline, **more):
        return {"name": "beside", "seed": 4, "experiments": [
            {"name": "layer", "given": {"queries": "q.npy", "keys": "k.npy", "causal": True,
                                        "baseline": baseline},
             "scalings": "div_sqrt_d", "metrics": METRICS, **more}]}

    def lines_of(self, baseline, out):
        run = self.run_config(self.config(baseline), out)
        with open(run / "baselines.csv", newline="", encoding="ascii") as file:
            return {line["metric"]: line for line in csv.DictReader(file)}

    def copies(self, count=400):
        """The metrics of as many layers of entries with each head's own mean and spread."""
        random = np.random.default_rng(12)
        shapes = {name: (array.mean(axis=(1, 2), keepdims=True),
                         array.std(axis=(1, 2), keepdims=True))
                  for name, array in self.arrays.items()}
        drawn = [metrics_of(*(mean + sd * random.normal(size=(HEADS, TOKENS, D))
                              for mean, sd in (shapes["q"], shapes["k"]))) for _ in range(count)]
        return np.mean(drawn, axis=0), np.std(drawn, axis=0, ddof=1)

    def test_matched_entries_have_the_means_and_spreads_of_each_head(self):
        lines = self.lines_of("matched", "matched")
        exact, spread = self.copies()
        # 32 copies here against 400 there: 6 standard errors of the difference, about which
        # Student's t of 31 degrees is exceeded once in a million seeds; the seed is fixed.
        for metric, mean, sd in zip(METRICS, exact, spread):
            line = lines[metric]
            self.assertEqual(line["matched_queries"], str(32 * HEADS * TOKENS))
            self.assertLess(abs(float(line["matched"]) - mean), 6 * sd * (1 / 32 + 1 / 400)**0.5)
            error = float(line["matched_std_error"])
            self.assertTrue(0.5 < error / (sd / 32**0.5) < 2, (metric, error))
            ratio = float(line["estimate"]) / float(line["matched"])
            self.assertAlmostEqual(float(line["matched_ratio"]), ratio, delta=1e-12)
            self.assertEqual([line["baseline_queries"], line["baseline"], line["ratio"]],
                             ["0", "", ""])

    def test_width_is_in_the_normal_ratio_alone(self):
        both = self.lines_of(True, "both")
        normal = self.lines_of("normal", "normal")
        matched = self.lines_of("matched", "matched")
        for metric in METRICS:
            for name, value in both[metric].items():
                kind = matched if name.startswith("matched") else normal
                self.assertEqual(value, kind[metric][name], (metric, name))
        self.assertGreater(float(both["logit_sd"]["ratio"]), 1.8)
        # The layer is one more copy.
        self.assertAlmostEqual(float(both["logit_sd"]["matched_ratio"]), 1, delta=0.15)
        wide = {**os.environ, "COLUMNS": "160"}
        shown = " ".join(self.succeed("show", "both", env=wide).stdout.split())
        self.assertIn("metric scaling given random given / random matched given / matched", shown)
        self.assertIn("and 3,840 matched ones (normal entries of each head's own mean and spread)",
                      shown)
        self.succeed("verify", "both")

    def test_is_a_function_of_the_config_and_seed(self):
        one = self.run_config(self.config(True), "one", "--threads", "1")
        self.assert_same_files(one, self.run_config(self.config(True), "three", "--threads", "3"))
        self.assert_same_files(one, self.run_config(one / "config.json", "again"))
        other = self.run_config(self.config(True), "other", "--seed", "5")
        self.assertNotEqual((one / "baselines.csv").read_bytes().split(b"\n")[1].split(b",")[4:],
                            (other / "baselines.csv").read_bytes().split(b"\n")[1].split(b",")[4:])

    def test_says_back_what_was_asked(self):
        for i, baseline in enumerate([True, False, "normal", "matched"]):
            run = self.run_config(self.config(baseline), f"run{i}")
            written = json.loads((run / "config.json").read_text())
            self.assertEqual(written["experiments"][0]["given"]["baseline"], baseline)

    def test_scores_have_no_entries_to_match(self):
        given = {"scores": [[1, 2], [3, 4]], "d": 4, "baseline": True}
        run = self.run_config(self.config(True, given=given), "run")
        with open(run / "baselines.csv", newline="", encoding="ascii") as file:
            self.assertEqual({line["matched"] for line in csv.DictReader(file)}, {""})
        for baseline, says in [("matched", ["scores do not show the entries", '"normal"']),
                               ("match", ['did you mean "matched"?']),
                               (1, ['true, false, "normal" or "matched"'])]:
            config = self.config(True, given={**given, "baseline": baseline})
            self.refuse("run", self.write_config(config), "--out", "no", says=["baseline", *says])
            self.assertFalse((self.folder / "no").exists())


if __name__ == "__main__":
    unittest.main()
