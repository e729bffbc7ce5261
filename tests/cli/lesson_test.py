"""The lesson's worked examples, "your turn" and the softmaxes others printed, to their digits."""

import json
import math
import re
import unittest

from attnscale_cli import ROOT, CommandLineTest, read_csv

PUBLIC = json.loads((ROOT / "tests" / "cases" / "public_numbers.json").read_text())
EXAMPLES = ROOT / "configs" / "lesson_examples.json"


def decimals(printed):
    text = repr(float(printed))
    return 0 if text.endswith(".0") else len(text.split(".")[1])


class LessonTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.run_folder = self.run_config(EXAMPLES, "run")
        columns, lines = read_csv(self.run_folder / "weights.csv")
        self.weights = [dict(zip(columns, line)) for line in lines]
        columns, lines = read_csv(self.run_folder / "outputs.csv")
        self.outputs = [dict(zip(columns, line)) for line in lines]

    def assert_prints(self, found, printed):
        """`found` rounds to the number printed; 0.005 away is a tie of either side."""
        self.assertLessEqual(abs(float(found) - printed), 0.5 * 10 ** -decimals(printed) * 1.0001)

    def experiments_of(self, case):
        """The names of the examples that give exactly the case's numbers and have its scaling."""
        config = json.loads(EXAMPLES.read_text())
        scores = case.get("logits", case.get("scores"))
        wanted = case.get("scaling", "none")
        for experiment in config["experiments"]:
            given = experiment["given"]
            same = (given.get("scores") == [scores] if scores else
                    (given.get("queries"), given.get("keys")) == ([case["query"]], case["keys"]))
            if same and wanted in experiment["scalings"]:
                yield experiment["name"], wanted

    def test_every_weight_slope_and_output_comes_out_to_the_digits_printed(self):
        for case in PUBLIC["lesson"]:
            found = list(self.experiments_of(case))
            self.assertEqual(len(found), 1, case)
            experiment, scaling = found[0]
            rows = [row for row in self.weights
                    if (row["experiment"], row["scaling"]) == (experiment, scaling)]
            self.assertEqual([int(row["key"]) for row in rows], [0, 1, 2])
            for row, printed in zip(rows, case["weights"], strict=True):
                self.assert_prints(row["weight"], printed)
            if "slope" in case:
                self.assert_prints(rows[0]["slope"], case["slope"])
            if "output" in case:
                output = [row["output"] for row in self.outputs
                          if (row["experiment"], row["scaling"]) == (experiment, scaling)]
                for number, printed in zip(output, case["output"], strict=True):
                    self.assert_prints(number, printed)

    def test_the_saturated_your_turn_has_the_exact_weights(self):
        rows = [row for row in self.weights if row["experiment"] == "your_turn_large"]
        other = math.exp(-8) / (1 + 2 * math.exp(-8))
        for row, weight in zip(rows, [1 - 2 * other, other, other], strict=True):
            # two roundings of exp and of the division at most
            self.assertAlmostEqual(float(row["weight"]) / weight, 1, delta=1e-15)

    def test_the_screen_shows_them(self):
        text = self.succeed("show", self.run_folder).stdout
        self.assertIn("attention: query 0", text)
        self.assertRegex(text, r"output, div_sqrt_d: \(0\.755\d*, 0\.334\d*\)")
        self.assertRegex(text, r"(?m)^ *none +0 +16 +16 +0\.9997 +0\.000335")

    def test_no_drawn_line_is_made_up(self):
        self.assertEqual(read_csv(self.run_folder / "summary.csv")[1], [])
        self.assertEqual(json.loads((self.run_folder / "summary.json").read_text()), [])


class SoftmaxTest(CommandLineTest):
    def softmax(self, *arguments):
        """One tuple of texts per line: scaling, key, score, logit, weight, slope, bar."""
        text = self.succeed("softmax", *arguments).stdout
        header, *lines = text.splitlines()
        self.assertEqual(re.split(r"\s{2,}", header.strip()),
                         ["scaling", "key", "score", "logit", "weight", "slope p(1-p)",
                          "weight as a bar"])
        return [tuple(line.split()) for line in lines]

    def test_prints_what_others_printed(self):
        for case in PUBLIC["softmax"]:
            lines = self.softmax(",".join(map(str, case["logits"])))
            for line, logit, printed in zip(lines, case["logits"], case["printed"], strict=True):
                self.assertEqual((float(line[2]), float(line[3])), (logit, logit))
                exact = math.exp(logit) / math.fsum(map(math.exp, case["logits"]))
                self.assertAlmostEqual(float(line[4]), exact, delta=1e-6)
                if case.get("verdict") == "wrong":
                    self.assertGreater(abs(exact - printed), 0.03)
                else:
                    # printed to so many digits, of which the source cut or rounded the last
                    self.assertLess(abs(float(line[4]) - printed),
                                    10 ** -min(decimals(printed), 6) * 0.51 + 1e-6)

    def test_resolves_the_slope_of_a_saturated_weight(self):
        # 1 - p has no digits left in double precision there: exp(-40) = 4.248354255e-18
        for line in self.softmax("40,0"):
            self.assertEqual(float(line[5]), 4.24835e-18)

    def test_applies_the_scalings_that_need_d_where_it_is_given(self):
        self.assertEqual({line[0] for line in self.softmax("16,8,0")}, {"none"})
        lines = self.softmax("16,8,0", "--d", "16")
        logits = {(line[0], line[1]): float(line[3]) for line in lines}
        for key, score in enumerate((16, 8, 0)):
            self.assertEqual(logits["none", str(key)], score)
            self.assertEqual(logits["div_sqrt_d", str(key)], score / 4)
            self.assertEqual(logits["div_d", str(key)], score / 16)
        self.assertEqual(lines, self.softmax("--d=16", "16,8,0"))

    def test_reads_negative_numbers_signs_exponents_and_blanks(self):
        for text, scores in (("-1,2", [-1, 2]), ("-.5,2", [-0.5, 2]), (" +1 , 2e0 ", [1, 2]),
                             ("-1e-3,-7", [-1e-3, -7]), ("5", [5])):
            self.assertEqual([float(line[2]) for line in self.softmax(text)], scores)
        self.assertEqual(self.softmax("--", "-1,2"), self.softmax("-1,2"))

    def test_survives_scores_that_overflow_an_exponential(self):
        lines = self.softmax("1e308,-1e308,1e308")
        self.assertEqual([float(line[4]) for line in lines], [0.5, 0, 0.5])


if __name__ == "__main__":
    unittest.main()
