"""`attnscale audit` names every mistake of a table of public ones: from queries, keys and weights
as models dump them, with entries of spread 1 and with a layer's look; and from a spread, each
that a spread can tell."""

import json
import math
import re
import unittest

import numpy as np

from attnscale_cli import CommandLineTest
from tensor_makers import attend, make_layer, scores_of, write_safetensors

M2 = (0.0707 * math.log(40) + 1) ** 2  # YaRN's m^2 of DeepSeek-V2-Lite
LIKE = ["--like", "deepseek_v2_lite"]

WIDE = ["--d-model", 4096, "--heads", 32, "--kv-heads", 8]
# (d, options that say the sizes, query heads, key heads, factor, words of the first line)
MISTAKES = [
    (128, WIDE, 128**-.5, "as 1/sqrt(d) would give"),
    (128, WIDE, 1, "never scaled"),
    (64, ["--d-model", 768, "--heads", 12], 1 / 64, "scaled twice"),
    (128, WIDE, 1 / 128, "divided by d, as muP"),
    (64, ["--d-model", 768, "--heads", 12], 64**-.25, "d^-1/4 on one side only"),
    (192, ["--d-model", 2048, "--heads", 16, "--value-d", 128, "--latent-d", 576], 192**.5,
     "multiplied instead of divided"),
    (128, WIDE, 4096**-.5,
     "root of the model's width"),
    (64, ["--d-model", 768, "--heads", 12], 1 / 768, "divided by the model's width"),
    (128, WIDE, 32**-.5, "root of the number of heads"),
    (80, ["--d-model", 1280, "--heads", 16, "--padded-d", 128], 128**-.5,
     "root of the padded head size"),
    (192, ["--d-model", 2048, "--heads", 16, "--value-d", 128], 128**-.5,
     "root of the values' head size"),
    (64, ["--d-model", 768, "--heads", 12, "--layers", 12], 1 / 96, "divided by the layer too"),
    (64, ["--d-model", 768, "--heads", 12, "--layers", 12, "--layer", 3], 1 / 32,
     "divided by the layer too"),
    (128, ["--d-model", 1024, "--heads", 16, "--kv-heads", 8], 64**-.5,
     "root of width over heads"),
    (128, ["--d-model", 5120, "--heads", 32, "--kv-heads", 8], 160**-.5,
     "root of width over heads"),
    (192, [*LIKE, "--heads", 16], 192**-.5, "m^2 missing"),
    (192, [*LIKE, "--heads", 16], M2**.5 * 192**-.5, "m in place of m^2"),
    (192, [*LIKE, "--heads", 16], M2**2 * 192**-.5, "m^2 twice"),
    (192, ["--latent-d", 576, "--heads", 16], 576**-.5, "root of the latent size"),
    (192, ["--rope-d", 64, "--heads", 16], 64**-.5, "root of the rope part"),
    (128, WIDE, 8**-.5,
     "root of the number of key heads"),
    (128, WIDE, 1024**-.5, "root of the keys' width"),
    (128, WIDE, math.log(2) * 128**-.5,
     "exp2 without log2 e"),
    (128, [*WIDE, "--tokens", 512], 512**-.5,
     "root of the number of tokens"),
    (64, ["--d-model", 2560, "--heads", 40], 1 / 128, "made for another head size, 128"),
]
LOOKS = {"unit": True, "layer": False}
FILE = "layer.safetensors"
NAMES = ["--queries", f"{FILE}:q", "--keys", f"{FILE}:k", "--weights", f"{FILE}:w"]


def heads_of(options):
    """Query heads and key heads, a quarter of the model's so that the test is quick."""
    heads = options[options.index("--heads") + 1]
    key_heads = options[options.index("--kv-heads") + 1] if "--kv-heads" in options else heads
    return heads, key_heads


class AuditTensorsTest(CommandLineTest):
    def audit(self, q, k, weights, *options, code=0):
        write_safetensors(self.folder / FILE, q=q, k=k, w=weights)
        answer = self.attnscale("audit", *NAMES, *options)
        self.assertEqual(answer.returncode, code, answer.stdout + answer.stderr)
        self.assertLessEqual(len(answer.stdout.splitlines()), 12)
        return answer.stdout

    def layer(self, look, heads=8, key_heads=4, rows=64, d=64):
        q, k = make_layer(7, heads, key_heads, rows, d, LOOKS[look])
        return q, k, scores_of(q, k)

    def test_names_each_mistake_from_files(self):
        for look, unit in LOOKS.items():
            for d, options, factor, name in MISTAKES:
                heads, key_heads = heads_of(options)
                rows = 512 if "--tokens" in options else 48
                share = heads // key_heads
                # A few heads of the model; the sizes are the model's.
                few = (2 * share, 2) if share > 1 else (3, 3)
                q, k = make_layer(1, *few, rows, d, unit)
                weights = attend(factor * scores_of(q, k))
                with self.subTest(look=look, d=d, name=name):
                    wrong = "--like" in options
                    text = self.audit(q, k, weights, *options, code=5 if wrong else 0)
                    first = text.splitlines()[0].lower()
                    self.assertIn(name.lower(), first, text)
                    if name != "as 1/sqrt(d) would give":
                        self.assertNotIn("would give", first)
                    found = json.loads(self.attnscale("audit", *NAMES, *options, "--format",
                                                      "json").stdout)
                    self.assertAlmostEqual(found["factor"] / factor, 1, delta=5e-4)

    def test_names_each_mistake_from_a_spread(self):
        for d, options, factor, name in MISTAKES:
            for query_sd, key_sd in ((1, 1), (0.8, 1.7)):
                spread = factor * math.sqrt(d) * query_sd * key_sd
                sds = [] if query_sd == 1 else ["--query-sd", query_sd, "--key-sd", key_sd]
                answer = self.attnscale("audit", "--d", d, "--measured-sd", repr(spread), *sds,
                                        *options)
                with self.subTest(name=name, sds=sds):
                    self.assertIn(name.lower(), answer.stdout.splitlines()[0].lower())
                    self.assertEqual(answer.returncode, 5 if "--like" in options else 0)

    def test_finds_a_factor_after_the_softmax(self):
        for look in LOOKS:
            q, k, scores = self.layer(look)
            first = self.audit(q, k, attend(scores) / 8).splitlines()[0]
            self.assertIn("Scaled after the softmax: rows of weights sum to 1/8", first)
            self.assertIn("never scaled", first)

    def test_finds_a_soft_cap(self):
        for look in LOOKS:
            q, k, scores = self.layer(look, rows=128)
            for cap in (20, 30, 50):
                logits = cap * np.tanh(scores / 8 / cap)
                text = self.audit(q, k, attend(logits))
                found = re.match(r"A soft-cap of ([0-9.]+) ", text)
                self.assertAlmostEqual(float(found[1]), cap, delta=0.01 * cap)
                self.assertIn("as 1/sqrt(d) would give", text)

    def test_finds_a_sink(self):
        for look in LOOKS:
            q, k, scores = self.layer(look)
            text = self.audit(q, k, attend(scores / 8, sink=0))
            self.assertIn("softmax1", text.splitlines()[0])
            text = self.audit(q, k, attend(scores / 8, sink=1.5))
            self.assertIn("with the logit 1.5", text.splitlines()[0])

    def test_finds_a_slope_of_the_distance_by_head(self):
        for look in LOOKS:
            q, k, scores = self.layer(look)
            distance = np.subtract.outer(np.arange(64), np.arange(64))
            slopes = 2.0 ** -np.arange(1, 9)
            text = self.audit(q, k, attend(scores / 8 - slopes[:, None, None] * distance))
            self.assertIn("bias that falls with the distance i - j, by 0.003", text)
            self.assertIn("as 1/sqrt(d) would give", text)

    def test_finds_shared_heads_in_the_wrong_order(self):
        for look in LOOKS:
            q, k, _ = self.layer(look)
            text = self.audit(q, k, attend(scores_of(q, k, tiled=True) / 8))
            self.assertIn("tiled", text.splitlines()[0])

    def test_finds_the_one_head_with_another_factor(self):
        for look in LOOKS:
            q, k, scores = self.layer(look)
            factors = np.full(8, 1 / 8)
            factors[5] = 1 / 16
            text = self.audit(q, k, attend(factors[:, None, None] * scores))
            self.assertIn("Head 5 has another factor", text.splitlines()[0])

    def test_a_constant_of_a_row_is_nothing(self):
        for look in LOOKS:
            q, k, scores = self.layer(look)
            rows = np.random.default_rng(3).normal(size=(8, 64, 1))
            text = self.audit(q, k, attend(scores / 8 + rows), "--like", "div_sqrt_d")
            self.assertTrue(text.startswith("As div_sqrt_d would give\n"), text)

    def test_takes_scores_with_hidden_keys_with_and_without_causal(self):
        q, k, scores = self.layer("layer")
        logits = np.where(np.tri(64) == 1, scores / 8, -np.inf)
        for name, array in (("q", q), ("k", k), ("s", logits)):
            np.save(self.folder / f"{name}.npy", array)
        files = ["--queries", "q.npy", "--keys", "k.npy", "--scores", "s.npy"]
        for causal in ([], ["--causal"]):
            text = self.succeed("audit", *files, *causal).stdout
            self.assertTrue(text.startswith("As 1/sqrt(d) would give"), text)
            self.assertIn("mask       causal", text)

    def test_refuses_files_that_do_not_fit(self):
        q, k, scores = self.layer("unit")
        write_safetensors(self.folder / FILE, q=q, k=k, w=scores, short=k[:3])
        self.refuse("audit", *NAMES, says=["found the weight -", "--scores"])
        self.refuse("audit", *NAMES[:4], says=["one of --weights FILE and --scores FILE"])
        self.refuse("audit", "--queries", f"{FILE}:q", "--keys", f"{FILE}:short", "--weights",
                    f"{FILE}:w", says=["3 of keys, which do not divide them"])
        self.refuse("audit", *NAMES[:5], f"{FILE}:k", says=["expected 8 heads of 64 x 64"])

    def test_large_finite_masks_are_told_and_can_be_named(self):
        q, k, scores = self.layer("layer")
        logits = np.where(np.tri(64) == 1, scores / 8, -1e9)
        for name, array in (("q", q), ("k", k), ("s", logits)):
            np.save(self.folder / f"{name}.npy", array)
        files = ["--queries", "q.npy", "--keys", "k.npy", "--scores", "s.npy"]
        answer = self.attnscale("audit", *files)
        self.assertEqual(answer.returncode, 5)
        self.assertIn("look like masks: say --masked-below", answer.stdout.splitlines()[0])
        text = self.succeed("audit", *files, "--masked-below=-1e4").stdout
        self.assertTrue(text.startswith("As 1/sqrt(d) would give"), text)

    def test_finds_norms_biases_and_orders_that_are_no_factor(self):
        for look in LOOKS:
            q, k, scores = self.layer(look)
            norms = [np.linalg.norm(array, axis=-1) for array in (q, np.repeat(k, 2, axis=0))]
            cosines = scores / norms[0][:, :, None] / norms[1][:, None, :]
            self.assertIn("normalised", self.audit(q, k, attend(10 * cosines), code=5))
            bias = np.random.default_rng(4).normal(size=(8, 1, 64))
            self.assertIn("depends on the key alone", self.audit(q, k, attend(scores / 8 + bias)))
            order = np.roll(k, 1, axis=0)
            self.assertIn("heads in another order",
                          self.audit(q, k, attend(scores_of(q, order) / 8)).lower())
            turned = np.swapaxes(attend(np.swapaxes(scores, -1, -2) / 8, causal=False), -1, -2)
            self.assertIn("softmax over queries", self.audit(q, k, turned, code=5))

    def test_bits_alone_are_named_by_an_option(self):
        for name, array in (("b", np.ones((4, 4), "<u2")), ("f", np.ones((4, 4)))):
            np.save(self.folder / f"{name}.npy", array)
        files = ("--queries", "b.npy", "--keys", "b.npy", "--weights", "f.npy")
        self.refuse("audit", *files, says=["say it with --dtype bfloat16"])
        self.refuse("audit", *files, "--dtype", "float8_e5m2", says=["--dtype says float8_e5m2"])

    def test_what_is_meant_decides_the_exit_code(self):
        q, k, scores = self.layer("layer")
        self.audit(q, k, attend(scores / 8), "--like", "q.k / sqrt(d)")
        self.audit(q, k, attend(scores / 64), "--like", "q.k / sqrt(d)", code=5)
        self.audit(q, k, attend(30 * np.tanh(scores / 240)), "--like", "div_sqrt_d", code=5)
        self.audit(q, k, attend(scores / 8.9), code=5)


if __name__ == "__main__":
    unittest.main()
