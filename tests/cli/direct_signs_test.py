"""The sampler `direct` for random signs: scores of the binomial law, one key as independent of the
next as the law says, and the answers of drawing every entry."""

import csv
import math
import unittest

import numpy as np

from attnscale_cli import CommandLineTest

QUERIES = 4000
KEYS = 5


def lines_of(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


class DirectSignsTest(CommandLineTest):
    def experiment(self, **other):
        return {"d": 6, "keys": KEYS, "entries": "rademacher", "sampler": "direct",
                "queries": QUERIES, "scalings": ["div_sqrt_d"], **other}

    def run_it(self, out, *arguments, **other):
        return self.run_config({"name": out, "experiments": [self.experiment(**other)]}, out,
                               *arguments)

    def expect_cells(self, counts, expected):
        """Of k cells chi-squared is below k + 6 sqrt(2 k) + 18 but for once in 10 million."""
        few = expected < 10
        cells = [*zip(counts[~few], expected[~few]), (counts[few].sum(), expected[few].sum())]
        statistic = sum((count - mean)**2 / max(mean, 1) for count, mean in cells)
        self.assertLess(statistic, len(cells) + 6 * math.sqrt(2 * len(cells)) + 18)

    # Of one key logsumexp is the score; d lies on both sides of a word's 64 bits. Two keys' scores
    # are the largest and that less the margin, each pair of its probability.
    def test_scores_are_binomial_and_independent(self):
        for d in (1, 2, 63, 64, 65, 129, 300):
            law = np.array([math.comb(d, n) / 2**d for n in range(d + 1)])
            folder = self.run_it(f"d{d}", d=d, keys=1, samples=QUERIES, scalings=["none"],
                                 metrics=["logsumexp"])
            rows = lines_of(folder / "samples.csv")
            ones = (np.array([float(row["logsumexp"]) for row in rows]) + d) / 2
            self.assertTrue(((ones == np.rint(ones)) & (ones >= 0) & (ones <= d)).all())
            self.expect_cells(np.bincount(ones.astype(int), minlength=d + 1), law * QUERIES)
            self.assertLess(abs(np.corrcoef(ones[:-1], ones[1:])[0, 1]), 5 / math.sqrt(QUERIES))
            if d > 65:
                continue
            folder = self.run_it(f"pairs{d}", d=d, keys=2, samples=QUERIES, scalings=["none"],
                                 metrics=["logsumexp", "margin"])
            rows = lines_of(folder / "samples.csv")
            margin = np.array([float(row["margin"]) for row in rows])
            top = np.array([float(row["logsumexp"]) for row in rows]) - np.log1p(np.exp(-margin))
            places = np.rint(np.array([(top + d) / 2, (top - margin + d) / 2])).astype(int)
            counts = np.zeros((d + 1, d + 1))
            np.add.at(counts, (places[0], places[1]), 1)
            self.expect_cells(counts, np.tril(np.outer(law, law), -1) * 2 * QUERIES
                              + np.diag(law**2) * QUERIES)

    # 5 standard errors of the difference: a false alarm of each in 2 million. Norms are the same
    # for all, so that a formula of norms is the plain one.
    def test_answers_are_those_of_every_entry_drawn(self):
        metrics = ["top_weight", "entropy", "logit_sd", "logit_kurtosis"]
        lines = {}
        for sampler in ("direct", "vectors"):
            folder = self.run_it(sampler, d=[3, 64], queries=40000, metrics=metrics,
                                 sampler=sampler, entries={"law": "rademacher", "sd": 1.5})
            lines[sampler] = lines_of(folder / "summary.csv")
        self.assertEqual(len(lines["direct"]), 2 * len(metrics))
        for direct, drawn in zip(*lines.values()):
            error = math.hypot(float(direct["std_error"]), float(drawn["std_error"]))
            off = float(direct["estimate"]) - float(drawn["estimate"])
            self.assertLess(abs(off), 5 * error, direct)
        rms = {"name": "rms", "logit": "rms(q).rms(k) * 2.25 / sqrt(d)"}
        folder = self.run_it("norms", scalings=["div_sqrt_d", rms], metrics=["top_weight"],
                             entries={"law": "rademacher", "sd": 1.5})
        plain, normed = [float(line["estimate"]) for line in lines_of(folder / "summary.csv")]
        self.assertAlmostEqual(plain, normed, 12)

    def test_bytes_do_not_depend_on_threads(self):
        config = {"name": "x", "experiments": [self.experiment(d=100, keys=700)]}
        self.assert_same_files(self.run_config(config, "one", "--threads", "1"),
                               self.run_config(config, "two", "--threads", "2"))

    def test_other_signs_are_refused(self):
        for entries in ({"law": "rademacher", "mean": 1}, {"law": "rademacher", "alignment": 0.5},
                        {"queries": "rademacher", "keys": "normal"}):
            config = self.write_config({"name": "x", "experiments": [
                self.experiment(entries={"name": "x", **entries})]})
            self.refuse("plan", config, says=['the sampler "direct" has no rule for'])


if __name__ == "__main__":
    unittest.main()
