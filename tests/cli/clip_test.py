"""Entries that are clipped, through the whole program: what is left of their spread and kurtosis,
the names they have, and what is refused."""

import json
import math
import unittest

import numpy as np

from entries_case import EntriesCase, lines_of

LAWS = [{"law": "normal"}, {"law": "uniform"}, {"law": "rademacher", "sd": 0.75},
        {"law": "laplace"}, {"law": "logistic"}, {"law": "student_t", "nu": 2.5},
        {"law": "truncated_normal", "at": 2}, {"law": "sparse", "p": 0.25},
        {"law": "outlier", "p": 0.1, "outlier_sd": 3}, {"law": "ternary", "p": 0.25}]


class ClipTest(EntriesCase):
    # Variances of clipped normal entries and their kurtoses, to the digits that users reported.
    def test_the_spread_of_clipped_normal_entries_is_the_published_one(self):
        published = {0.1: (0.009469, 1.0443), 1: (0.516059, 1.6132), 2: (0.920537, 2.4543),
                     8: (1.000000, 3)}
        for line in lines_of(self.run_entries({"clip": list(published)})):
            spread, kurtosis = published[float(line["entries_value"])]
            reference = float(line["reference"])
            if line["metric"] == "logit_sd":
                self.assertAlmostEqual(reference, spread, delta=5e-7)
            else:
                self.assertAlmostEqual(reference, 3 + (kurtosis ** 2 - 3) / 128, delta=1e-5)
        wide, _ = lines_of(self.run_entries({"sd": 4, "clip": 8}, "wide"))
        self.assertAlmostEqual(float(wide["reference"]), 14.7286, delta=5e-5)

    # 5 of 44 z beyond 4.5 standard errors happen once in 3,000 seeds; this seed has none.
    def test_every_law_has_what_theory_says_with_both_samplers(self):
        entries = [{**law, "name": f"{law['law']}_{mean}", "mean": mean, "clip": 0.8}
                   for law in LAWS for mean in (0, 0.3)]
        for sampler in ("vectors", "boost"):
            folder = self.run_entries(entries, sampler, d=16, queries=8000, sampler=sampler,
                                      metrics=["logit_mean", "logit_sd", "logit_kurtosis"])
            for line in lines_of(folder):
                if line["metric"] == "logit_kurtosis" and line["entries"].endswith("0.3"):
                    self.assertEqual(line["reference"], "")  # not of entries with a mean
                elif line["std_error"] and float(line["std_error"]) > 0:
                    self.assertLess(abs(float(line["z"])), 4.5, (sampler, line))

    def test_no_drawn_entry_is_beyond_the_clip(self):
        # Products of d = 1 are at most the square of the clip, which some reach.
        for sampler in ("vectors", "boost"):
            folder = self.run_entries({"law": "laplace", "mean": 0.5, "clip": 0.75}, sampler, d=1,
                                      scalings=["none"], metrics=["max_logit"], sampler=sampler)
            line, = lines_of(folder)
            self.assertEqual(float(line["max"]), 0.75 ** 2)

    # Independent draws of NumPy, of which 100,000 queries have an error of 0.1 %.
    def test_softmax_of_clipped_entries_is_numpys(self):
        random = np.random.default_rng(1)
        q = np.clip(random.normal(size=(50_000, 1, 16)) * 2, -1.5, 1.5)
        k = np.clip(random.normal(size=(50_000, 8, 16)) * 2, -1.5, 1.5)
        logits = (q * k).sum(axis=2) / 4
        weights = np.exp(logits)
        top = (weights.max(axis=1) / weights.sum(axis=1)).mean()
        line, = lines_of(self.run_entries({"sd": 2, "clip": 1.5}, d=16, queries=50_000,
                                          metrics=["top_weight"]))
        self.assertAlmostEqual(float(line["estimate"]), top, delta=0.005)
        self.assertEqual(line["reference"], "")  # theory rests on normal entries

    def test_names_tell_clipped_entries_apart(self):
        entries = ["normal", {"clip": [1, 2]}, {"queries": {"clip": 1}, "keys": "uniform"}]
        folder = self.run_entries(entries)
        names = [line["entries_series"] for line in lines_of(folder)[::2]]
        self.assertEqual(names, ["normal", "clipped_normal 1", "clipped_normal 2",
                                 "clipped_normal_uniform"])
        resolved = json.loads((folder / "config.json").read_text())
        written = resolved["experiments"][0]["entries"]
        self.assertNotIn("clip", written[0])
        self.assertEqual(written[1]["clip"], [1, 2])
        self.assertEqual(written[2]["queries"]["clip"], 1)
        self.assert_same_files(folder, self.run_config(folder / "config.json", "again"))
        plan = self.succeed("plan", folder / "config.json").stdout
        self.assertIn("clipped_normal 2", plan)

    def test_shares_and_threads_give_the_same_bytes(self):
        whole = self.run_entries({"law": "student_t", "nu": 3, "clip": 2}, queries=5000)
        config = "run.config.json"
        for share in ("1/2", "2/2"):
            self.succeed("run", config, "--shard", share, "--threads", "2", "--quiet",
                         "--out", share.replace("/", "of"))
        self.succeed("merge", "merged", "1of2", "2of2")
        self.assert_same_files(whole, self.folder / "merged")

    def test_what_makes_no_sense_is_refused(self):
        def refuse(entries, *says, **other):
            config = {"name": "bad", "experiments": [{"d": 4, "entries": entries, **other}]}
            self.refuse("run", self.write_config(config), says=says)
        refuse({"clip": 0}, "/entries/clip", "found 0")
        refuse({"clip": "1"}, "/entries/clip")
        refuse({"clip": 1, "alignment": 0.5}, "keys cannot be aligned where entries are clipped")
        refuse({"mean": 9, "sd": 0.1, "clip": 1}, "are all but the same", 'a larger "clip"')
        refuse({"clip": 1, "queries": "normal", "keys": "normal"}, "write it inside them")
        refuse({"clip": 1}, '"direct"', "clipped at 1", "vectors, boost", sampler="direct")
        self.assertFalse((self.folder / "results").exists())

    def test_a_spread_that_nothing_reaches_is_left_alone(self):
        line, _ = lines_of(self.run_entries({"law": "uniform", "clip": 2}))
        self.assertAlmostEqual(float(line["reference"]), 1, delta=1e-12)
        self.assertLess(abs(float(line["estimate"]) - 1), 0.02)
        self.assertTrue(math.isfinite(float(line["z"])))


if __name__ == "__main__":
    unittest.main()
