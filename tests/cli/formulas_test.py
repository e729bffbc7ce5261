"""Formulas of logits through the whole program: norms that need more than squared lengths, biases
by the places of query and key, and the numbers of published models."""

import math
import unittest

from attnscale_cli import CommandLineTest, children_seconds, read_csv

# Spread of the estimate of a spread, in its standard errors: a false alarm in 15,000 runs each.
ERRORS = 4


def experiment(d, scalings, sampler="vectors", **more):
    return {"name": "formulas", "seed": 5, "sampler": sampler, "experiments": [
        {"d": d, "keys": 4, "queries": 40_000, "metrics": ["logit_sd", "logit_kurtosis"],
         "scalings": scalings, **more}]}


class FormulasTest(CommandLineTest):
    def summary(self, config, out="out"):
        """(scaling, metric) -> line of summary.csv, as a dict."""
        header, lines = read_csv(self.run_config(config, out) / "summary.csv")
        named = [dict(zip(header, line)) for line in lines]
        return {(line["scaling"], line["metric"]): line for line in named}

    def expect(self, line, exact):
        error = float(line["std_error"])
        self.assertLess(abs(float(line["estimate"]) - exact), ERRORS * error, line)
        self.assertLess(error, 0.03 * exact)

    def test_depth_takes_no_time(self):
        for name, logit in (("signs", "q.k " + 90 * "-" + "(i - j)"),
                            ("functions", 90 * "abs(" + "q.k" + 90 * ")")):
            with self.subTest(deep=name):
                config = self.write_config(experiment(8, [{"name": "deep", "logit": logit}]))
                before = children_seconds()
                self.succeed("plan", config)
                self.assertLess(children_seconds() - before, 5)

    def test_layer_norm_leaves_d_less_1_free_entries(self):
        for sampler in ("vectors", "boost"):
            for d in (3, 16):
                for spread in (1, 3):
                    lines = self.summary(experiment(
                        d, [{"name": "layer", "logit": "layer(q).layer(k) / sqrt(d)"}],
                        sampler=sampler, entries={"law": "normal", "sd": spread}),
                        f"{sampler}{d}{spread}")
                    exact = {"logit_sd": math.sqrt(d / (d - 1)),
                             "logit_kurtosis": 3 * (d - 1) / (d + 1)}
                    for metric, value in exact.items():
                        line = lines["layer", metric]
                        self.expect(line, value)
                        self.assertAlmostEqual(float(line["reference"]), value, places=9)

    def test_layer_norm_is_blind_to_a_mean(self):
        scalings = [{"name": "layer", "logit": "layer(q).layer(k)"}]
        lines = self.summary(experiment(8, scalings, entries={"law": "normal", "mean": 5}))
        self.expect(lines["layer", "logit_sd"], 8 / math.sqrt(7))
        self.expect(lines["layer", "logit_kurtosis"], 3 * 7 / 9)

    def test_layer_norm_of_given_rows_is_what_one_would_compute(self):
        q, k = [1, 2, 4], [[0, 1, 0], [3, 1, 1]]
        folder = self.run_config({"name": "given", "experiments": [{
            "given": {"queries": [q], "keys": k},
            "scalings": [{"name": "layer", "logit": "layer(q).layer(k)"}]}]}, "given")
        header, lines = read_csv(folder / "weights.csv")
        logits = [float(line[header.index("logit")]) for line in lines]

        def layer(v):
            mean = sum(v) / 3
            return [(x - mean) / math.sqrt(sum((y - mean)**2 for y in v) / 3) for x in v]
        for logit, key in zip(logits, k):
            self.assertAlmostEqual(logit, sum(a * b for a, b in zip(layer(q), layer(key))),
                                   places=12)

    def test_a_head_of_a_wider_norm(self):
        d, wide = 16, 64
        exact = {"logit_sd": math.sqrt(d),
                 "logit_kurtosis": 3 * (d + 2) / d * (wide / (wide + 2))**2}
        for sampler in ("vectors", "boost", "direct"):
            lines = self.summary(experiment(
                d, [{"name": "wide", "logit": "rms(q, 64).rms(k, 64)"}, "div_sqrt_d",
                    {"name": "own", "logit": "rms(q, 16).rms(k, d)"}, "gemma4"],
                sampler=sampler, entries={"law": "normal", "sd": 2}), sampler)
            for metric, value in exact.items():
                self.expect(lines["wide", metric], value)
                # A projection of one head is the head.
                self.assertEqual(lines["own", metric]["estimate"],
                                 lines["gemma4", metric]["estimate"])

    def test_a_wider_norm_moves_no_other_number(self):
        for sampler in ("vectors", "boost", "direct"):
            alone = ["div_sqrt_d", "gemma4"]
            more = [{"name": "wide", "logit": "rms(q, 99).rms(k, 64)"}, *alone]
            first = self.summary(experiment(8, alone, sampler, queries=3000), f"{sampler}1")
            second = self.summary(experiment(8, more, sampler, queries=3000), f"{sampler}2")
            for key, line in first.items():
                self.assertEqual(line, second[key])

    def test_a_bias_by_distance(self):
        alibi = {"name": "biased", "logit": "q.k - slope (i - j)", "slope": 0.5}
        folder = self.run_config({"name": "given", "experiments": [{
            "given": {"scores": [[3, 3, 3, 3]]}, "scalings": [alibi],
            "metrics": ["top_distance", "mean_distance"]}]}, "given")
        header, lines = read_csv(folder / "weights.csv")
        weights = [float(line[header.index("weight")]) for line in lines]
        for weight, exact in zip(weights, (.101536, .167405, .276004, .455054)):
            self.assertAlmostEqual(weight, exact, places=6)
        header, lines = read_csv(folder / "summary.csv")
        found = {line[header.index("metric")]: float(line[header.index("estimate")])
                 for line in lines}
        self.assertEqual(found["top_distance"], 0)
        self.assertAlmostEqual(found["mean_distance"], 3 * .101536 + 2 * .167405 + .276004,
                               places=5)

    def test_rows_of_a_mask_keep_the_places_of_their_keys(self):
        # Query 0 of 2 stands at place 2 of 0 to 3; it sees keys 0 and 2.
        (self.folder / "scores.csv").write_text("1,-inf,1,-inf\n-inf,5,0,0\n", encoding="ascii")
        folder = self.run_config({"name": "given", "experiments": [{
            "given": {"scores": {"file": "scores.csv"}, "weights": True},
            "scalings": [{"name": "biased", "logit": "q.k - (i - j)"}],
            "metrics": ["top_distance", "mean_distance"]}]}, "given")
        header, lines = read_csv(folder / "weights.csv")
        logits = {(line[header.index("query")], line[header.index("key")]):
                  float(line[header.index("logit")]) for line in lines}
        self.assertEqual(logits, {("0", "0"): -1, ("0", "2"): 1,
                                  ("1", "1"): 3, ("1", "2"): -1, ("1", "3"): 0})
        # Hidden keys are at no distance: 0 and 2 of query 0, then 2, 1 and 0 of query 1.
        near, far = math.exp(1), math.exp(-1)
        header, lines = read_csv(folder / "summary.csv")
        found = {line[header.index("metric")]: float(line[header.index("estimate")])
                 for line in lines}
        self.assertEqual(found["top_distance"], (0 + 2) / 2)
        self.assertAlmostEqual(found["mean_distance"], (
            2 * far / (near + far)
            + (2 * math.exp(3) + far) / (math.exp(3) + far + 1)) / 2, places=12)

    def test_one_key_of_128_gets_5_more(self):
        lines = self.summary(experiment(
            64, [{"name": "first", "logit": "q.k / sqrt(d) + 5 max(0, 1 - j)"}, "div_sqrt_d"],
            keys=128, queries=20_000, metrics=["aligned_weight", "top_distance", "mean_distance"],
            entries={"law": "normal", "aligned_keys": 1}))
        self.assertAlmostEqual(float(lines["first", "aligned_weight"]["estimate"]), 0.433,
                               delta=0.004)
        # Keys are no longer alike.
        self.assertEqual(lines["first", "aligned_weight"]["reference"], "")
        self.assertEqual(float(lines["div_sqrt_d", "aligned_weight"]["reference"]), 1 / 128)
        self.expect(lines["div_sqrt_d", "mean_distance"], 127 / 2)
        self.expect(lines["div_sqrt_d", "top_distance"], 127 / 2)

    def test_what_a_norm_cannot_have_is_refused(self):
        wide = [{"name": "wide", "logit": "rms(q, 64).rms(k, 64)"}]
        layer = [{"name": "layer", "logit": "layer(q).layer(k)"}]
        for config, says in (
                (experiment(8, layer, sampler="direct"), "samplers that can: vectors, boost"),
                (experiment(128, wide), "d = 128"),
                (experiment(8, [{"name": "wide", "logit": "rms(q, 64.5).rms(k, 64)"}]), "integer"),
                (experiment(8, [{"name": "wide", "logit": "rms(q, 1e300).rms(k, 64)"}]), "integer"),
                (experiment(8, wide, entries="laplace"), "laplace"),
                (experiment(8, wide, entries={"law": "normal", "mean": 1}), "mean 0"),
                ({"name": "given", "experiments": [{
                    "given": {"queries": [[1, 2]], "keys": [[1, 2]]}, "scalings": wide}]},
                 "rms(q).rms(k)"),
                ({"name": "given", "experiments": [{
                    "given": {"scores": [[1, 2]], "d": 2}, "scalings": layer}]}, '"queries"')):
            self.refuse("run", self.write_config(config), says=[says, "config.json"])


if __name__ == "__main__":
    unittest.main()
