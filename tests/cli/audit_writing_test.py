"""What an audit makes of how weights and scores are written: decimals of a table, digits of a CSV
file, 16 bits, padding; and that rounding hides no mistake that can be seen in spite of it."""

import unittest

import numpy as np

from attnscale_cli import CommandLineTest
from tensor_makers import attend, from_bfloat16, make_layer, scores_of, to_bfloat16

MISMATCH = 5


class AuditWritingTest(CommandLineTest):
    def layer(self, seed, heads, queries, spread=1.0, keys=None):
        """Queries and keys of 64 numbers whose scores / 8 have that spread."""
        q, k = make_layer(seed, heads, heads, max(queries, keys or queries), 64, True)
        width = np.sqrt(spread)
        return q[:, -queries:] * width, k[:, :keys or queries] * width

    def save(self, name, array, way):
        """Writes an array as "<f8", "bf16", rounded to so many decimals, or by a format of text."""
        if way == "bf16":
            np.save(self.folder / f"{name}.npy", to_bfloat16(array))
        elif isinstance(way, int):
            np.save(self.folder / f"{name}.npy", np.round(array, way))
        elif way.startswith("%"):
            np.savetxt(self.folder / f"{name}.csv", array[0], delimiter=",", fmt=way)
            return f"{name}.csv"
        else:
            np.save(self.folder / f"{name}.npy", array.astype(way))
        return f"{name}.npy"

    def audit(self, layer, answers, *options, way="<f8", kind="weights", code=0):
        """The first line and all of the screen."""
        files = [self.save(name, array, how) for name, array, how in
                 (("q", layer[0], "<f8"), ("k", layer[1], "<f8"), ("w", answers, way))]
        if way == "bf16":
            options += ("--dtype", "bfloat16")
        answer = self.attnscale("audit", "--queries", files[0], "--keys", files[1], f"--{kind}",
                                files[2], *options)
        self.assertEqual(answer.returncode, code, answer.stdout + answer.stderr)
        self.assertNotRegex(answer.stdout, "nan|[^a-z]inf[^a-z]")
        return answer.stdout.partition("\n")[0], answer.stdout

    def assert_right(self, *arguments, **options):
        said, screen = self.audit(*arguments, **options)
        self.assertEqual(said, "As 1/sqrt(d) would give")
        return screen

    def test_digits_of_tables_are_known(self):
        layer = self.layer(1, 1, 48, 2.25)
        scores = scores_of(*layer) / 8
        for way in ("%.3e", "%.4g", "%.6g"):
            with self.subTest(way=way):
                screen = self.assert_right(layer, attend(scores), way=way)
                if way != "%.6g":  # as exact as float32
                    self.assertIn("as writing 4 digits rounds weights", screen)
                self.assert_right(layer, scores, way=way, kind="scores")
        layer = self.layer(0, 4, 64, 3)
        for decimals in (7, 8):
            weights = np.round(attend(scores_of(*layer) / 8), decimals)
            self.assert_right(layer, weights, way="<f4")

    def test_decimals_hide_no_factor_after_the_softmax(self):
        layer = self.layer(1, 4, 128, 4)
        weights = attend(scores_of(*layer) / 8)
        for factor, words in ((0.5, "1/2"), (0.7, "1/1.429"), (1.5, "1.5")):
            said, _ = self.audit(layer, factor * weights, "--like", "div_sqrt_d", way=2,
                                 code=MISMATCH)
            self.assertIn(f"Scaled after the softmax: rows of weights sum to {words}", said)

    def test_a_sink_is_held_against_each_row(self):
        layer = self.layer(3, 1, 64)
        plain = attend(scores_of(*layer) / 8)
        for way in ("bf16", "<f2", 3):
            said, _ = self.audit(layer, plain, "--like", "softmax1", way=way, code=MISMATCH)
            self.assertIn("No sink with the logit 0", said)
        for seed in range(3):
            layer = self.layer(seed, 2, 16, 3)
            weights = attend(scores_of(*layer) / 8, causal=False, sink=0.0)
            self.audit(layer, weights, "--like", "softmax1", way="bf16")
        layer = self.layer(64, 2, 64)
        for causal in (False, True):
            weights = attend(scores_of(*layer) / 8, causal=causal, sink=2.0)
            said, _ = self.audit(layer, weights, way=3)
            self.assertIn("A sink keeps weight back, with the logit 2;", said)
        layer = self.layer(256, 2, 256, 0.5)
        weights = attend(scores_of(*layer) / 8, causal=False, sink=2.0)
        said, _ = self.audit(layer, weights, way="bf16")
        self.assertIn("or a sink with the logit 2", said)

    def test_one_head_that_leaves_more_than_the_others(self):
        layer = self.layer(9, 8, 64, 3)
        logits = scores_of(*layer) / 8
        logits[3] += 0.03 * np.random.default_rng(0).normal(size=(64, 64))
        said, _ = self.audit(layer, attend(logits), way="bf16", code=MISMATCH)
        self.assertIn("Head 3 leaves 0.0", said)
        logits = scores_of(*layer) / 8
        place = np.arange(64)
        logits[3] -= 0.01 * (place[:, None] - place)
        said, _ = self.audit(layer, attend(logits), way="bf16")
        self.assertRegex(said, r"by 0\.(01|009\d*) for each place in 1 of 8 heads")

    def test_weights_that_are_alike_as_they_are_written(self):
        layer = self.layer(1, 4, 64, 1e-4)
        scores = scores_of(*layer)
        self.assertIn("Scaled twice", self.audit(layer, scores / 64, way="<f4", kind="scores")[0])
        self.assert_right(layer, attend(scores / 8))
        alike = "weights are alike as far as they are written"
        layer = self.layer(0, 4, 64, 4e-4)
        weights = attend(scores_of(*layer) / 8, causal=False)
        self.assertIn(alike, self.audit(layer, weights, way="bf16", code=MISMATCH)[0])
        layer = self.layer(0, 4, 8, 0.04, keys=96)
        weights = attend(scores_of(*layer) / 8, causal=False)
        self.assertIn(alike, self.audit(layer, weights, way=2, code=MISMATCH)[0])
        layer = self.layer(0, 4, 64, 0.0025)
        weights = attend(scores_of(*layer) / 8, causal=False)
        self.assertIn("Nothing can be told: the factor is 0.1",
                      self.audit(layer, weights, way="bf16", code=MISMATCH)[0])

    def test_padding_is_left_out(self):
        layer = self.layer(1, 1, 64)
        place = np.arange(64)
        seen = (place <= place[:, None]) & (place >= 10)
        weights = attend(np.where(seen, scores_of(*layer) / 8, -1e30), causal=False)
        self.assertIn("10 queries weigh all keys alike", self.assert_right(layer, weights))
        weights[:, :10] = 0
        self.assertIn("10 queries see nothing", self.assert_right(layer, weights))

    def test_few_sharp_queries_have_the_mask_that_can_be_seen(self):
        for seed in range(3):
            layer = self.layer(seed, 2, 3, 8, keys=256)
            self.assert_right(layer, attend(scores_of(*layer) / 8, causal=False), way=4)

    def test_bfloat16_inside_a_model(self):
        def rounded(array):
            return from_bfloat16(to_bfloat16(array))
        random = np.random.default_rng(0)
        q, k = random.normal(size=(2, 1, 64, 64))
        logits = rounded(rounded(rounded(q) @ rounded(k).swapaxes(1, 2)) / 8)
        self.assert_right((q.astype("f4"), k.astype("f4")), attend(logits), way="<f4")

    def test_a_meant_soft_cap_within_its_error(self):
        for cap in (20, 50):
            for decimals in (3, 4):
                layer = self.layer(0, 4, 64)
                weights = attend(cap * np.tanh(scores_of(*layer) / 8 / cap))
                self.audit(layer, weights, "--like", f"{cap} tanh(q.k / sqrt(d) / {cap})",
                           way=decimals)
                self.audit(layer, weights, "--like", f"{cap // 5} tanh(q.k / sqrt(d) / {cap // 5})",
                           way=decimals, code=MISMATCH)


if __name__ == "__main__":
    unittest.main()
