"""Heads whose blocks have laws of their own, such as the rope part of MLA, through the whole
program: exact moments, draws of both samplers, names, and what is refused."""

import json
import unittest

import numpy as np

from entries_case import EntriesCase, lines_of

ROPE = [{"d": 128}, {"d": 64, "sd": 1.2608038}]


class BlocksTest(EntriesCase):
    def run_entries(self, entries, out="run", **other):
        return super().run_entries(entries, out, **{"d": 192, **other})

    # sqrt((128 + 64 * 1.589626^2) / 192): cos and sin inflated on the 64 rope entries of 192.
    def test_a_wider_rope_part_spreads_logits_as_published(self):
        for sampler in ("vectors", "boost"):
            lines = lines_of(self.run_entries(["normal", {"blocks": ROPE}], sampler,
                                              sampler=sampler, queries=10_000))
            plain, _, blocks, kurtosis = lines
            self.assertEqual(blocks["entries_series"], "blocks")
            self.assertAlmostEqual(float(blocks["reference"]) / float(plain["reference"]), 1.22840,
                                   delta=5e-6)
            ratio = float(blocks["estimate"]) / float(plain["estimate"])
            self.assertAlmostEqual(ratio, 1.22840, delta=0.02)  # 5 errors of both
            v = np.array([128, 64 * 1.2608038 ** 4])
            self.assertAlmostEqual(float(kurtosis["reference"]),
                                   3 + (6 / np.array([128, 64]) * v ** 2).sum() / v.sum() ** 2,
                                   delta=1e-12)
            for line in lines:
                self.assertLess(abs(float(line["z"])), 4.5, line)  # 4 in 100,000 seeds

    # Mixed laws with means, sizes that are no multiples of four, one block clipped.
    def test_moments_of_mixed_blocks(self):
        entries = {"blocks": [{"d": 5, "law": "rademacher"}, {"d": 3, "law": "laplace", "sd": 0.5},
                              {"d": 6, "queries": "uniform", "keys": {"clip": 1}}, {"d": 1}]}
        shifted = json.loads(json.dumps({**entries, "name": "shifted"}))
        shifted["blocks"][1]["mean"] = 1
        for sampler in ("vectors", "boost"):
            lines = lines_of(self.run_entries(
                [entries, shifted], sampler, d=15, sampler=sampler, queries=20_000,
                metrics=["logit_mean", "logit_sd", "logit_kurtosis"], scalings=["none"]))
            # Products: variance and excess kurtosis of each.
            v = np.array([1, 0.0625, 0.5160585514, 1])
            excess = np.array([1 - 3, 36 - 3, 1.8 * 1.613168182 - 3, 9 - 3])
            d = np.array([5, 3, 6, 1])
            self.assertAlmostEqual(float(lines[1]["reference"]), (d * v).sum() ** 0.5, delta=1e-8)
            self.assertAlmostEqual(float(lines[2]["reference"]),
                                   3 + (d * v ** 2 * excess).sum() / (d * v).sum() ** 2,
                                   delta=1e-8)
            self.assertAlmostEqual(float(lines[3]["reference"]), 3)
            self.assertAlmostEqual(float(lines[4]["reference"]),
                                   ((d * v).sum() + 3 * 2 * 0.25) ** 0.5, delta=1e-8)
            self.assertEqual(lines[5]["reference"], "")
            for line in lines[:5]:
                self.assertLess(abs(float(line["z"])), 4.5, (sampler, line))  # as above

    # Norms, sums and rounded products of a head in blocks, with NumPy's from draws of its own.
    def test_what_needs_all_of_a_vector_has_all_blocks(self):
        random = np.random.default_rng(1)
        scale = np.repeat([1, 3], [6, 5])
        q = random.normal(size=(40_000, 1, 11)) * scale
        k = random.normal(size=(40_000, 8, 11)) * scale

        def spread(queries, keys):
            return (queries * keys).sum(axis=2).std()

        def unit(x):
            return x / np.sqrt((x ** 2).sum(axis=2, keepdims=True))

        def layer(x):
            return (x - x.mean(axis=2, keepdims=True)) / x.std(axis=2, keepdims=True)

        def int8(x):
            step = np.abs(x).max(axis=2, keepdims=True) / 127
            return np.rint(x / step) * step

        step_error = ((int8(q) * int8(k)).sum(axis=2) - (q * k).sum(axis=2)).std()
        expected = {"unit": spread(unit(q), unit(k)), "layer": spread(layer(q), layer(k))}
        entries = {"blocks": [{"d": 6}, {"d": 5, "sd": 3}]}
        lines = lines_of(self.run_entries(
            entries, d=11, queries=40_000, metrics=["logit_sd"],
            scalings=[{"name": "unit", "logit": "unit(q).unit(k)"},
                      {"name": "layer", "logit": "layer(q).layer(k)"}]))
        for line in lines:
            self.assertAlmostEqual(float(line["estimate"]) / expected[line["scaling"]], 1,
                                   delta=0.02, msg=line)
        line, = lines_of(self.run_entries(
            entries, "int8", d=11, queries=40_000, metrics=["logit_error"],
            scalings=[{"name": "x", "logit": "q.k", "precision": {"quantised": "int8_row"}}]))
        self.assertAlmostEqual(float(line["estimate"]) / step_error, 1, delta=0.02)

    def test_the_resolved_config_gives_the_same_bytes(self):
        entries = [{"name": "swept", "blocks": [{"d": 8}, {"d": 8, "law": "student_t",
                                                           "nu": [3, 5]}]},
                   {"blocks": [{"d": 16, "queries": "laplace", "keys": {"sd": 2, "clip": 3}}]}]
        folder = self.run_entries(entries, d=16)
        resolved = json.loads((folder / "config.json").read_text())["experiments"][0]["entries"]
        self.assertEqual(resolved[0]["blocks"][1]["nu"], [3, 5])
        self.assertEqual(resolved[1]["blocks"][0]["keys"]["clip"], 3)
        self.assert_same_files(folder, self.run_config(folder / "config.json", "again"))
        self.assertIn("swept 5", self.succeed("plan", folder / "config.json").stdout)
        for share in ("1/2", "2/2"):
            self.succeed("run", folder / "config.json", "--shard", share, "--threads", "2",
                         "--quiet", "--out", share.replace("/", "of"))
        self.succeed("merge", "merged", "1of2", "2of2")
        self.assert_same_files(folder, self.folder / "merged")

    def test_one_block_is_the_whole_head(self):
        def estimates(entries, out):
            return [line["estimate"] for line in lines_of(self.run_entries(entries, out))]
        # Other random numbers, as it is another cell, but the same law: 5 errors apart at most.
        one, whole = estimates({"blocks": [{"d": 192}]}, "one"), estimates("normal", "whole")
        self.assertNotEqual(one, whole)
        self.assertAlmostEqual(float(one[0]), float(whole[0]), delta=0.03)

    def test_what_makes_no_sense_is_refused(self):
        def refuse(entries, *says, **other):
            config = {"name": "bad", "experiments": [{"d": 192, "entries": entries, **other}]}
            self.refuse("run", self.write_config(config), says=says)
        refuse({"blocks": ROPE}, "/d", "have 192 numbers in all, but d is 128", 'write "d": 192',
               d=[192, 128])
        refuse({"blocks": ROPE}, '"direct"', "entries in blocks", "vectors, boost",
               sampler="direct")
        refuse({"blocks": ROPE, "sd": 2}, "/entries/sd", "write it inside them")
        refuse({"blocks": ROPE, "alignment": 0.5}, "/alignment", "keys cannot be aligned")
        refuse({"blocks": []}, "/blocks", '[{"d": 128}')
        refuse({"blocks": [{"sd": 2}]}, "/blocks/0", '"d"')
        refuse({"blocks": [{"d": 192, "queries": "normal"}]}, "/blocks/0", '"keys" is missing')
        refuse({"blocks": [{"d": 128, "nam": 1}]}, "/blocks/0/nam", "unknown key")
        refuse([{"blocks": ROPE}, {"blocks": [{"d": 192}]}], "a second law of the name")
        refuse({"blocks": ROPE}, "norms of more than the head", "entries in blocks", scalings=[
            {"name": "wide", "logit": "rms(q, 4 d).rms(k, 4 d)"}])
        self.assertFalse((self.folder / "results").exists())


if __name__ == "__main__":
    unittest.main()
