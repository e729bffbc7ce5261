"""Products of rounded entries through the whole program: stored, scaled and quantised vectors and
narrow sums against NumPy's, the named sets of what kernels do, and what is refused."""

import csv
import unittest

import numpy as np

from attnscale_cli import CommandLineTest
from tensor_makers import from_bfloat16, to_bfloat16

SCALED = "(q / sqrt(d)).k"


def bfloat16(numbers):
    return from_bfloat16(to_bfloat16(numbers.astype(np.float32))).astype(np.float64)


def int8(vectors, axis):
    """Integers times a step, the largest size over 127."""
    step = np.abs(vectors).max(axis=axis, keepdims=True) / 127
    return np.rint(vectors / step) * step


class RoundedEntriesTest(CommandLineTest):
    def run_precisions(self, out, precisions, logit="q.k / sqrt(d)", metrics=("logit_error",),
                       **other):
        """(scaling, metric, d) -> estimate."""
        folder = self.run_config({"name": out, "sampler": "vectors", "experiments": [
            {"d": 64, "keys": 8, "queries": 2000, "metrics": list(metrics), **other,
             "scalings": [{"name": name, "logit": logit, "precision": precision}
                          for name, precision in precisions.items()]}]}, out)
        with open(folder / "summary.csv", newline="", encoding="ascii") as file:
            return {(line["scaling"], line["metric"], int(line["d"])): float(line["estimate"])
                    for line in csv.DictReader(file)}

    def assert_near(self, found, expected, share):
        self.assertLess(abs(found / expected - 1), share, (found, expected))

    # 1 / 8 moves nothing. The published figure is rounded; an estimate of 5,000 queries has a
    # standard error of 0.4 %, and 5 of these are a false alarm in 2 million.
    def test_queries_rounded_again_after_scaling(self):
        found = self.run_precisions("again", {"again": {
            "entries": "bfloat16", "scaled_queries": "bfloat16"}}, SCALED, d=[64, 128],
            queries=5000)
        self.assertEqual(found["again", "logit_error", 64], 0)
        self.assert_near(found["again", "logit_error", 128], 0.00165, 0.025)
        q = bfloat16(np.random.default_rng(1).normal(size=10**6))
        error = (bfloat16(q / np.sqrt(128)) - q / np.sqrt(128)) * np.sqrt(128)
        self.assert_near(found["again", "logit_error", 128], error.std(), 0.02)

    # The errors of logits of independent vectors: 2 % is 5 of the deviations of both.
    def test_quantised_vectors_are_numpys(self):
        random = np.random.default_rng(2)
        q, k = random.normal(size=(5000, 1, 64)), random.normal(size=(5000, 8, 64))
        exact = (q * k).sum(axis=2) / 8
        expected = {"int8_row": (int8(q, 2) * int8(k, 2)).sum(axis=2) / 8,
                    "int8_tensor": (int8(q, 2) * int8(k, (1, 2))).sum(axis=2) / 8,
                    "bfloat16": (bfloat16(q) * bfloat16(k)).sum(axis=2) / 8}
        found = self.run_precisions("quantised", {name: {"quantised": name} for name in expected},
                                    queries=5000)
        for name, logits in expected.items():
            self.assert_near(found[name, "logit_error", 64], np.sqrt(((logits - exact)**2).mean()),
                             0.02)

    def test_a_narrow_sum_is_numpys_entry_by_entry(self):
        random = np.random.default_rng(3)
        q, k = random.normal(size=(20000, 64)), random.normal(size=(20000, 64))
        total = np.zeros(20000)
        for i in range(64):
            total = bfloat16(total + q[:, i] * k[:, i])
        error = np.sqrt(((total - (q * k).sum(axis=1))**2).mean()) / 8
        found = self.run_precisions("sums", {"narrow": {"product_sum": "bfloat16"},
                                             "wide": {"product_sum": "float32"}})
        self.assert_near(found["narrow", "logit_error", 64], error, 0.04)
        self.assertLess(found["wide", "logit_error", 64], 1e-6)
        self.assertGreater(found["wide", "logit_error", 64], 0)

    # What is stored is the truth too, of every law and of aligned keys.
    def test_stored_entries_alone_are_no_error(self):
        found = self.run_precisions(
            "stored", {"stored": {"entries": "float8_e5m2"}, "drawn": "float64"},
            metrics=("logit_error", "weight_error", "logit_sd", "top_weight"), queries=20000,
            entries={"law": "normal", "mean": 0.5, "alignment": 0.3})
        for metric in ("logit_error", "weight_error"):
            self.assertEqual(found["stored", metric, 64], 0)
        for metric in ("logit_sd", "top_weight"):
            self.assert_near(found["stored", metric, 64], found["drawn", metric, 64], 0.02)
            self.assertNotEqual(found["stored", metric, 64], found["drawn", metric, 64])

    # 7 queries and 19 keys fill neither a block nor a panel; what is stored is the truth too.
    def test_given_vectors_are_rounded_as_numpy_does(self):
        random = np.random.default_rng(4)
        q, k = random.normal(size=(7, 12)), random.normal(size=(19, 12))
        np.save(self.folder / "q.npy", q)
        np.save(self.folder / "k.npy", k)
        narrow = np.zeros((7, 19))
        for i in range(12):
            narrow = bfloat16(narrow + np.outer(q[:, i], k[:, i]))
        root = np.sqrt(12)
        stored = bfloat16(q) @ bfloat16(k).T
        expected = {"stored": ({"entries": "bfloat16"}, stored, stored),
                    "scaled": ({"scaled_queries": "bfloat16"}, bfloat16(q / root) @ k.T * root,
                               q @ k.T),
                    "int8": ({"quantised": "int8_row"}, int8(q, 1) @ int8(k, 1).T, q @ k.T),
                    "narrow": ({"product_sum": "bfloat16"}, narrow, q @ k.T)}
        folder = self.run_config({"name": "given", "experiments": [
            {"given": {"queries": "q.npy", "keys": "k.npy", "weights": True},
             "metrics": ["logit_error"],
             "scalings": [{"name": name, "logit": SCALED, "precision": precision}
                          for name, (precision, _, _) in expected.items()]}]}, "given")
        tables = {}
        for name in ("weights", "summary"):
            with open(folder / f"{name}.csv", newline="", encoding="ascii") as file:
                tables[name] = list(csv.DictReader(file))
        for name, (_, scores, exact) in expected.items():
            logits = [float(line["logit"]) for line in tables["weights"]
                      if line["scaling"] == name]
            np.testing.assert_allclose(logits, scores.ravel() / root, rtol=0, atol=1e-13)
            error, = [float(line["estimate"]) for line in tables["summary"]
                      if line["scaling"] == name]
            self.assertAlmostEqual(error, np.sqrt(((scores - exact)**2).mean()) / root, 12)

    def test_named_sets_are_their_steps(self):
        eager = {"entries": "bfloat16", "product_sum": "float32", "product": "bfloat16",
                 "logit": "bfloat16", "exponential": "float32", "sum": "float32",
                 "weight": "bfloat16", "output": "bfloat16"}
        names = ("torch_eager_bf16", "torch_eager_fp16", "flash_attention", "fp8_qk", "int8_qk",
                 "sequential_half")
        metrics = ("logit_error", "weight_error", "output_error")
        found = self.run_precisions("sets", {"steps": eager, **{name: name for name in names}},
                                    metrics=metrics)
        for metric in metrics:
            self.assertEqual(found["steps", metric, 64], found["torch_eager_bf16", metric, 64])
            # 8 digits, 11 digits, and a logit in float32: the coarser, the further off.
            self.assertGreater(found["torch_eager_bf16", metric, 64],
                               4 * found["torch_eager_fp16", metric, 64])
            self.assertGreater(found["fp8_qk", metric, 64], 2 * found["int8_qk", metric, 64])
        self.assertLess(found["flash_attention", "logit_error", 64], 1e-6)
        plan = " ".join(self.succeed("plan", "sets.config.json").stdout.split())
        self.assertIn("torch_eager_bf16 = q.k / sqrt(d); ", plan)
        self.assertIn("entries, product, logit, weight, output in bfloat16", plan)
        self.assertIn("summed in tiles of 128 keys", plan)
        listed = self.succeed("list", "precisions").stdout
        for name in names:
            self.assertIn(name, listed)
        self.assertIn("arXiv:2307.08691", self.succeed("list", "precisions", "flash_attention",
                                                       "--format", "json").stdout)

    def test_what_cannot_be_done_is_refused(self):
        def says(precision, *parts, logit=SCALED, **other):
            config = self.write_config({"name": "x", "experiments": [
                {"d": 4, "scalings": [{"name": "x", "logit": logit, "precision": precision}],
                 **other}]})
            self.refuse("plan", config, says=['the precision of the scaling "x" rounds entries',
                                              *parts])
        for sampler in ("direct", "boost"):
            for step in ("entries", "scaled_queries", "quantised", "product_sum"):
                says({step: "bfloat16"}, f'the sampler "{sampler}"', 'write "sampler": "vectors"',
                     sampler=sampler)
        says("fp8_qk", "without a norm", logit="rms(q).rms(k) / sqrt(d)")
        for logit in ("q.k / sqrt(d)", "(q / sqrt(j + 1)).k", "(q / 2).k + tanh(q.k)"):
            says({"scaled_queries": "float16"}, "one number must stand on q", logit=logit)
        vectors = {"queries": [[1, 2, 3, 4]], "keys": [[1, 2, 3, 4]]}
        for given, logit, precision, says in (
                ({"scores": [[1, 2]]}, "q.k", "int8_qk", "give queries and keys"),
                (vectors, "q.k", {"quantised": "int8_tensor"}, 'write "int8_row"'),
                (vectors, "(q / keys).k", {"scaled_queries": "float16"}, "neither keys nor i"),
                ({**vectors, "baseline": True}, "q.k", "fp8_qk", 'write "baseline": "matched"')):
            config = self.write_config({"name": "x", "experiments": [{"given": given, "scalings": [
                {"name": "x", "logit": logit, "precision": precision}]}]})
            self.refuse("plan", config, says=[says])
        config = self.write_config({"name": "x", "experiments": [
            {"d": 4, "scalings": [{"name": "x", "logit": "q.k",
                                   "precision": {"logit": "int8_row"}}]}]})
        self.refuse("plan", config, says=["int8_row", "/precision/logit"])


if __name__ == "__main__":
    unittest.main()
