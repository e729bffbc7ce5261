"""Exact values and their solutions at the command line, without a run."""

import csv
import io
import json
import math
import unittest

from attnscale_cli import SLOWDOWN, CommandLineTest, children_seconds


class ExactTest(CommandLineTest):
    def lines(self, *arguments):
        text = self.succeed("exact", *arguments, "--format", "csv").stdout
        return list(csv.DictReader(io.StringIO(text)))

    def value(self, d, keys, scaling="none", metric="top_weight"):
        line, = self.lines("--d", d, "--keys", keys, "--scaling", scaling, "--metric", metric)
        return float(line["exact"])

    def test_the_table_holds_what_theory_says(self):
        # The top weights are from an independent quadrature, as in tests/reference_values.
        text = self.succeed("exact", "--d", "80", "--keys", "64").stdout
        rows = [line.split() for line in text.splitlines() if line.startswith("  80")]
        self.assertEqual([float(cell) for cell in rows[0][2:]],
                         [8.94427, 1, 0.111803])  # sqrt(80), 1, 1 / sqrt(80)
        self.assertEqual([round(float(cell), 4) for cell in rows[1][2:]], [0.8136, 0.1072, 0.0202])

    def test_levels_are_reached_where_the_issue_of_a_learner_says(self):
        # d at which NumPy's quadrature gives the level: see tests/theory/exact_crossing_test.cpp.
        for keys, level, d in ((128, 0.9, 332.806), (8, 0.9, 99.5814), (2, 0.9, 15.411),
                               (8, 0.5, 3.4402)):
            line, = self.lines("--keys", keys, "--reach", level, "--scaling", "none")
            self.assertEqual(line["status"], "from")
            self.assertAlmostEqual(float(line["d"]) / d, 1, delta=2e-5)

    def test_what_is_solved_for_gives_the_level(self):
        d, = self.lines("--keys", "16", "--reach", "0.8", "--scaling", "none")
        below, above = math.floor(float(d["d"])), math.ceil(float(d["d"]))
        self.assertLess(self.value(below, 16), 0.8)
        self.assertGreater(self.value(above, 16), 0.8)
        keys, = self.lines("--d", "100", "--reach", "0.8", "--scaling", "none")
        self.assertEqual(keys["status"], "up_to")
        self.assertGreaterEqual(self.value(100, keys["keys"]), 0.8)
        self.assertLess(self.value(100, int(keys["keys"]) + 1), 0.8)
        entropy, = self.lines("--d", "100", "--reach", "2", "--scaling", "div_sqrt_d",
                              "--metric", "entropy")
        self.assertEqual(entropy["status"], "from")
        at = [self.value(100, int(entropy["keys"]) + step, "div_sqrt_d", "entropy")
              for step in (-1, 0)]
        self.assertLess(at[0], 2)
        self.assertGreaterEqual(at[1], 2)

    def test_the_factor_of_a_scaling_is_found_from_its_top_weight(self):
        level = self.value(64, 32, "div_sqrt_d")
        line, = self.lines("--d", "64", "--keys", "32", "--reach", level)
        self.assertAlmostEqual(float(line["factor"]), 1 / 8, delta=1e-6)
        self.assertEqual(line["scaling"], "none")
        text = self.succeed("exact", "--d", "64", "--keys", "32", "--reach", str(level)).stdout
        self.assertIn("0.125 = 1/sqrt(d)", text)

    def test_a_spread_is_solved_for_too(self):
        line, = self.lines("--keys", "8", "--reach", "16", "--scaling", "none", "--metric",
                           "logit_sd")
        self.assertAlmostEqual(float(line["d"]), 256, delta=1e-3)

    def test_says_where_a_level_is_never_or_always_reached(self):
        statuses = {line["scaling"]: line["status"] for line in
                    self.lines("--keys", "8", "--reach", "0.3", "--scaling", "div_sqrt_d,none",
                               "--scaling", "div_d")}
        self.assertEqual(statuses, {"div_sqrt_d": "always", "none": "always", "div_d": "up_to"})
        line, = self.lines("--keys", "8", "--reach", "0.9", "--scaling", "div_sqrt_d")
        self.assertEqual((line["status"], line["d"]), ("never", ""))
        line, = self.lines("--d", "1000", "--reach", "1e-6", "--scaling", "none")
        self.assertEqual(line["status"], "too_far")
        text = self.succeed("exact", "--keys", "8", "--reach", "0.9", "--metric",
                            "jacobian_norm").stdout
        self.assertEqual(text, "no exact value is known of jacobian_norm\n")

    def test_lists_and_ranges_make_a_line_each(self):
        lines = self.lines("--d", "4..64x4", "--keys", "2..6+2", "--metric", "top_weight",
                           "--scaling", "none")
        self.assertEqual([(line["d"], line["keys"]) for line in lines],
                         [(d, keys) for d in ("4", "16", "64") for keys in ("2", "4", "6")])
        lines = self.lines("--d", "4,8", "--metric", "entropy,slope", "--scaling", '["div_d"]')
        self.assertEqual(len(lines), 4)
        self.assertEqual({line["keys"] for line in lines}, {"8"})  # the default
        self.assertEqual(len(self.lines("--keys", "8", "--reach", "0.5,0.9")), 6)

    def test_formats_hold_the_same_numbers(self):
        arguments = ("exact", "--d", "16", "--metric", "top_weight")
        rows = json.loads(self.succeed(*arguments, "--format", "json").stdout)
        lines = self.lines(*arguments[1:])
        self.assertEqual([row["exact"] for row in rows], [float(line["exact"]) for line in lines])
        self.assertEqual([row["series"] for row in rows], ["none", "div_sqrt_d", "div_d"])
        markdown = self.succeed(*arguments, "--format", "markdown").stdout
        self.assertIn("| 16 | 8 | 0.74822 | 0.356448 | 0.174069 |", markdown)

    def test_refuses_what_it_cannot_answer(self):
        self.refuse("exact", says=["needs --d N, or --reach"])
        self.refuse("exact", "--reach", "0.9", says=["needs --keys N to solve for d"])
        self.refuse("exact", "--d", "zero", says=["--d zero", 'found "zero"', "an integer"])
        self.refuse("exact", "--d", "4", "--scaling", "sqrt_d",
                    says=["--scaling sqrt_d", 'did you mean "div_sqrt_d"?'])
        self.refuse("exact", "--d", "4", "--metric", "top", says=['did you mean "top_weight"?'])
        self.refuse("exact", "--keys", "8", "--reach", "much", says=["levels", "much"])
        self.refuse("exact", "4", says=['takes no "4"'])

    def test_takes_formulas_as_check_does(self):
        answer = self.succeed("exact", "--d", "16", "--metric", "logit_sd", "--format", "csv",
                              "--scaling", "none,0.5 q.k,(q / sqrt(d)).k", "--scaling", "q.k")
        rows = list(csv.DictReader(io.StringIO(answer.stdout)))
        self.assertEqual([(row["series"], float(row["exact"])) for row in rows],
                         [("none", 4), ("0.5_q.k", 2), ("q_sqrt_d_.k", 1), ("q.k", 4)])
        self.refuse("exact", "--d", "4", "--scaling", "0.5 q.kk", says=["logit", "q.k"])

    def test_refuses_a_level_that_a_metric_cannot_have(self):
        for asked, found, allowed in (
                (["--keys", "8", "--reach", "0.5,2"], "top_weight of 2", "from 0 to 1"),
                (["--d", "8", "--keys", "8", "--reach=-1"], "top_weight of -1", "from 0 to 1"),
                (["--keys", "8", "--metric", "slope", "--reach", "0.3"], "slope of 0.3",
                 "from 0 to 0.25"),
                (["--keys", "2,8", "--metric", "entropy", "--reach", "2.1"], "entropy of 2.1",
                 "from 0 to 2.07944"),  # ln 8
                (["--keys", "8", "--metric", "logit_kurtosis", "--reach", "0.9"],
                 "logit_kurtosis of 0.9", "of 1 or more")):
            self.refuse("exact", *asked, says=[found, allowed])
        # What only some of the keys can have, or no size ever reaches, is answered.
        self.assertIn("never", self.succeed("exact", "--keys", "2,8", "--metric", "entropy",
                                            "--reach", "1").stdout)
        self.assertIn("never", self.succeed("exact", "--keys", "8", "--reach", "1").stdout)
        self.succeed("exact", "--keys", "8", "--metric", "entropy", "--reach", "2.1", "--scaling",
                     '{"name": "s", "logit": "q.k", "normaliser": {"sigmoid": 0}}')

    def test_answers_at_once(self):
        durations = []
        for _ in range(5):
            start = children_seconds()
            self.succeed("exact", "--keys", "128", "--reach", "0.9")
            durations.append(children_seconds() - start)
        print(f"attnscale exact --keys 128 --reach 0.9: {1000 * min(durations):.0f} ms at best")
        self.assertLess(min(durations), 0.1 * SLOWDOWN)


class SoftmaxBarsTest(CommandLineTest):
    def test_bars_are_as_long_as_the_weights(self):
        # softmax(ln 3, ln 1) = 3/4, 1/4, of 20 marks.
        text = self.succeed("softmax", "1.0986122886681098,0").stdout
        self.assertEqual([line.count("#") for line in text.splitlines()[1:]], [15, 5])


if __name__ == "__main__":
    unittest.main()
