"""What an audit of tensors must not call explained, or not by a wrong name: weights that fit
anything, a part of what is meant that is missing, masks from the wrong corner."""

import json
import re
import unittest

import numpy as np

from attnscale_cli import CommandLineTest
from tensor_makers import attend, to_bfloat16

HEADS, QUERIES, D = 4, 128, 64
MISMATCH = 5


def softmax(logits):
    return attend(logits, causal=False)


class AuditLimitsTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(3)
        self.q = random.normal(size=(HEADS, QUERIES, D))
        self.k = random.normal(size=(HEADS, QUERIES, D))
        self.scores = self.q @ np.swapaxes(self.k, 1, 2)
        self.noise = random.normal(size=self.scores.shape)

    def audit(self, answers, *options, q=None, k=None, kind="weights", dtype="<f4", code=0):
        """The first line and all of the screen."""
        bits = to_bfloat16(answers) if dtype == "bfloat16" else np.asarray(answers, dtype)
        for name, array in (("q", self.q if q is None else q), ("k", self.k if k is None else k),
                            ("w", bits)):
            np.save(self.folder / f"{name}.npy", array)
        if dtype == "bfloat16":
            options += ("--dtype", dtype)
        answer = self.attnscale("audit", "--queries", "q.npy", "--keys", "k.npy", f"--{kind}",
                                "w.npy", *options)
        self.assertEqual(answer.returncode, code, answer.stdout + answer.stderr)
        self.assertNotIn("nan", answer.stdout + answer.stderr)
        return answer.stdout.partition("\n")[0], answer.stdout

    def test_few_keys_are_no_excuse(self):
        few, k = (slice(None), slice(None), slice(8)), self.k[:, :8]
        said, _ = self.audit(softmax(self.noise[few]), k=k, code=MISMATCH)
        self.assertNotIn("ln(keys)", said)
        said, _ = self.audit(softmax(self.scores[few] / 8 + 0.1 * self.noise[few]), k=k,
                             code=MISMATCH)
        self.assertIn("Not explained", said)
        self.audit(softmax(self.scores[few] / 8), k=k)

    def test_weights_that_say_nothing_are_told(self):
        weights = softmax(self.scores / 8)
        for name, answers in (("zeros", 0 * weights), ("one", weights * 0 + np.eye(QUERIES))):
            with self.subTest(weights=name):
                said, _ = self.audit(answers, code=MISMATCH)
                self.assertIn("Nothing can be told", said)
        one_head = weights.copy()
        one_head[2] = np.eye(QUERIES)
        said, _ = self.audit(one_head, "--like", "div_sqrt_d", code=MISMATCH)
        self.assertIn("Head 2 shows too few weights", said)
        said, _ = self.audit(softmax(self.noise[:, :2, :2]), q=self.q[:, :2], k=self.k[:, :2],
                             code=MISMATCH)
        self.assertIn("too few weights", said)

    def test_equal_weights_and_scores_have_a_factor_of_0(self):
        causal = attend(0 * self.scores)
        for answers, options in ((softmax(0 * self.scores), {}),
                                 (1 + 0 * self.scores, {"kind": "scores"}),
                                 (causal, {"dtype": "bfloat16"}), (causal, {"dtype": "<f2"})):
            with self.subTest(**options):
                said, screen = self.audit(answers, **options)
                self.assertEqual(said, "A factor of 0: weights do not depend on q.k")
                self.audit(answers, "--format", "json", **options)
        said, _ = self.audit(softmax(self.scores / 8), q=self.q * 1e15, k=self.k * 1e15,
                             code=MISMATCH)
        self.assertNotIn("do not depend", said)

    def test_json_is_json(self):
        _, text = self.audit(1 + 0 * self.scores, "--format", "json", kind="scores")
        self.assertEqual(json.loads(text)["factor"], 0)
        message = self.refuse("audit", "--d", 64, "--measured-sd", "1e308", "--query-sd", "1e-300",
                              "--format", "json")
        self.assertIn("no float64 holds", message)

    def test_products_beyond_float64_are_refused(self):
        self.audit(softmax(self.scores / 8), q=self.q * 1e200, k=self.k * 1e200, code=2)

    def test_what_is_meant_and_missing_is_told(self):
        plain = softmax(self.scores / 8)
        for like, missing in (("5 tanh(q.k / sqrt(d) / 5)", "No soft-cap of 5"),
                              ("softmax1", "No sink with the logit 0"),
                              ("rms(q).rms(k) / sqrt(d)", "Queries and keys are not normalised")):
            with self.subTest(like=like):
                q = self.q * np.linspace(0.5, 2, QUERIES)[:, None]
                answers = plain if "rms" not in like else softmax(q @ np.swapaxes(self.k, 1, 2) / 8)
                said, _ = self.audit(answers, "--like", like, q=q if "rms" in like else None,
                                     code=MISMATCH)
                self.assertIn(missing, said)

    def test_what_is_meant_and_done_is_right(self):
        def unit(x):
            return x / np.sqrt((x**2).mean(axis=-1, keepdims=True))
        q = self.q * np.linspace(0.5, 2, QUERIES)[:, None]
        normed = unit(q) @ np.swapaxes(unit(self.k), 1, 2) / 8
        said, _ = self.audit(softmax(normed), "--like", "rms(q).rms(k) / sqrt(d)", q=q)
        self.assertIn("as rms(q).rms(k) / sqrt(d) would give", said)
        self.audit(softmax(normed), "--like", "rms(q).rms(k)", q=q, code=MISMATCH)
        self.audit(softmax(5 * np.tanh(self.scores / 8 / 5)), "--like", "5 tanh(q.k / sqrt(d) / 5)")
        self.audit(attend(self.scores / 8, causal=False, sink=0.0), "--like", "softmax1")
        message = self.refuse("audit", "--d", 64, "--factor", 1, "--like", "qwen3")
        self.assertIn("give the files", message)

    def test_sinks_are_found_as_small_as_the_format_shows(self):
        for sink in (-2.0, 1.0):
            said, _ = self.audit(attend(self.scores / 8, causal=False, sink=sink))
            self.assertIn(f"A sink keeps weight back, with the logit {sink:g}", said)
        by_head = np.array([-1.0, 0, 1, 2])[:, None, None]
        said, _ = self.audit(attend(self.scores / 8, causal=False, sink=by_head))
        self.assertIn("with a logit of -1 to 2 by head", said)
        some = attend(self.scores / 8, causal=False, sink=1.0)
        some[3] = softmax(self.scores[3] / 8)
        said, _ = self.audit(some)
        self.assertIn("in 3 of 4 heads, with the logit 1", said)

    def test_soft_caps_differ_by_head_or_are_in_some(self):
        caps = np.array([5.0, 10, 20, 40])[:, None, None]
        said, _ = self.audit(softmax(caps * np.tanh(self.scores / 8 / caps)))
        self.assertIn("Soft-caps of 5 to 40", said)
        one = self.scores / 8
        one[2] = 5 * np.tanh(one[2] / 5)
        said, screen = self.audit(softmax(one), "--format", "json")
        found = json.loads(screen)
        self.assertIn("a soft-cap of 5 in 1 of 4 heads", found["findings"][0])
        self.assertIsNone(found["softcap"])

    def test_a_mask_from_the_wrong_corner_is_none_that_is_meant(self):
        place = np.arange(QUERIES)
        wrong = np.where(place <= place[:8, None], self.scores[:, :8] / 8, -np.inf)
        said, _ = self.audit(softmax(wrong), "--causal", q=self.q[:, :8], code=MISMATCH)
        self.assertIn("A causal mask from the wrong corner", said)
        strict = np.where((place < place[:, None]) | (place + place[:, None] == 0),
                          self.scores / 8, -np.inf)
        said, _ = self.audit(softmax(strict), "--causal", code=MISMATCH)
        self.assertIn("no query sees its own key", said.lower())

    def test_a_mask_one_off_is_not_causal(self):
        place = np.arange(QUERIES)
        seen = place <= place[:, None] + 1
        said, screen = self.audit(softmax(np.where(seen, self.scores / 8, -np.inf)), "--causal",
                                  code=MISMATCH)
        self.assertIn("No causal mask, though --causal says so", said)
        later = HEADS * QUERIES * (QUERIES - 1) // 2
        self.assertIn(f"not causal: {HEADS * (QUERIES - 1)} of {later} later keys are seen", screen)

    def test_a_window_is_a_band(self):
        place = np.arange(QUERIES)
        distance = place[:, None] - place
        windowed = np.where((distance >= 0) & (distance < 16), self.scores / 8, -np.inf)
        self.assertIn("window of 16 keys", self.audit(softmax(windowed))[1])
        padded = np.where((distance >= 0) & (place >= 30), self.scores / 8, -np.inf)[:, 30:]
        self.assertNotIn("window", self.audit(softmax(padded), q=self.q[:, 30:])[1])

    def test_scores_are_rounded_with_what_is_added_to_a_row(self):
        added = 30 * self.noise[..., :1]
        said, screen = self.audit(self.scores / 8 + added, kind="scores", dtype="bfloat16")
        self.assertIn("as bfloat16 rounds scores", screen)

    def test_large_masks_are_told_under_a_causal_mask_too(self):
        masked = np.where(np.tri(QUERIES) == 1, self.scores / 8, -1e4)
        for options in ((), ("--causal",)):
            said, _ = self.audit(masked, *options, kind="scores", code=MISMATCH)
            self.assertTrue(said.startswith("Scores down to -1e+04 look like masks"), said)
            self.assertNotIn("bias", said)

    def test_options_that_the_files_answer_are_refused(self):
        weights = softmax(self.scores / 8)
        for options in (("--factor", 77), ("--measured-sd", 77), ("--query-sd", 9), ("--d", 128),
                        ("--masked-below", -5), ("--layers", 2, "--layer", 9)):
            with self.subTest(options=options):
                self.audit(weights, *options, code=2)
        for options in (("--causal",), ("--layout", "rows_first"), ("--masked-below", -5)):
            self.refuse("audit", "--d", 64, "--measured-sd", 1, *options)

    def test_heads_of_weights_in_another_order_are_named(self):
        weights = softmax(self.scores / 8)[[2, 0, 1, 3]]
        said, _ = self.audit(weights)
        self.assertIn("query heads have their weights in the heads 0: 1, 1: 2, 2: 0, 3: 3", said)
        self.assertIn("as 1/sqrt(d) would give", said)
        self.audit(weights, "--like", "div_sqrt_d", code=MISMATCH)

    def test_weights_of_few_decimals_are_told(self):
        weights = softmax(self.scores / 8)
        for decimals in (3, 4, 6):
            with self.subTest(decimals=decimals):
                said, screen = self.audit(np.round(weights, decimals), dtype="<f8")
                self.assertEqual(said, "As 1/sqrt(d) would give")
                self.assertIn(f"as writing {decimals} decimals rounds weights", screen)
                self.assertIn("each row sums to 1", screen)
                self.assertNotIn("hidden", screen)
        said, _ = self.audit(np.round(softmax(self.scores / 8 + 0.2 * self.noise), 4),
                             dtype="<f8", code=MISMATCH)
        self.assertIn("Not explained", said)
        said, screen = self.audit(np.round(self.scores / 64, 2), kind="scores", dtype="<f8")
        self.assertIn("Scaled twice", said)
        self.assertIn("as writing 2 decimals rounds scores", screen)

    def test_a_bias_by_distance_beside_a_cap_or_a_sink(self):
        place = np.arange(QUERIES)
        bias = 0.05 * (place - place[:, None])
        capped = 5 * np.tanh(self.scores / 8 / 5) + bias
        said, _ = self.audit(attend(capped))
        self.assertIn("A bias that falls with the distance i - j, by 0.05 for each place", said)
        self.assertRegex(said, r"a soft-cap of (5\.00|4\.99) ")
        self.assertIn("as 1/sqrt(d) would give", said)
        said, _ = self.audit(attend(self.scores / 8 + bias, sink=1.0))
        self.assertIn("a bias that falls with the distance i - j, by 0.05", said.lower())
        self.assertIn("a sink keeps weight back, with the logit 1", said)

    def test_the_error_of_a_soft_cap_holds_it(self):
        said, _ = self.audit(softmax(20 * np.tanh(self.scores / 8 / 20)), dtype="bfloat16")
        found = re.search(r"A soft-cap of ([0-9.]+) \+- ([0-9.e-]+) ", said)
        cap, error = float(found[1]), float(found[2])
        self.assertLess(abs(cap - 20), 4 * error + 0.005)  # 0.005: of two decimals
        self.assertLess(error, 0.5)

    def test_one_head_with_another_mask_is_told(self):
        place = np.arange(QUERIES)
        distance = place[:, None] - place
        causal = np.where(distance >= 0, self.scores / 8, -np.inf)
        for mask, words in ((distance < 0, "not causal where they are causal"),
                            (distance >= 16, "causal, window of 16 keys where they are causal")):
            with self.subTest(words=words):
                one = causal.copy()
                one[2] = np.where(mask if "window" in words else distance < -QUERIES, -np.inf,
                                  causal[2] if "window" in words else self.scores[2] / 8)
                said, _ = self.audit(softmax(one))
                self.assertIn(f"Head 2 has another mask than most: {words}", said)
                self.audit(softmax(one), "--like", "div_sqrt_d", code=MISMATCH)
        self.assertNotIn("another mask", self.audit(softmax(causal))[0])

    def test_multipliers_that_nobody_gave(self):
        m = 0.1 * np.log(40) + 1
        q, k = (np.concatenate([x, x, x], axis=2) / np.sqrt(3) for x in (self.q, self.k))
        said, _ = self.audit(softmax(m * self.scores / 192**.5), q=q, k=k)
        self.assertIn("which the preset deepseek_v3 has", said)
        said, _ = self.audit(softmax(self.scores / 8), "--like", "0.3 q.k", code=MISMATCH)
        self.assertIn("the multiplier of what is meant missing (q.k / sqrt(d))", said.lower())
        self.assertNotIn("m^2", said)


if __name__ == "__main__":
    unittest.main()
