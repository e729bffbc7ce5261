"""Narrower precisions through the whole program: what a format loses is written as it is, what it
cannot hold is counted, and the order of the product and the factor decides which of both."""

import csv
import math
import unittest

from attnscale_cli import FEW_OVERFLOW, CommandLineTest, read_csv

# Scores round to infinity from here on: half a step of 32 beyond float16's largest number.
FLOAT16_OVERFLOWS_AT = 65520
HALF = {"preset": "div_sqrt_d", "precision": "float16"}


def two_sided(x):
    """P(|z| >= x) of a standard normal z."""
    return math.erfc(x / math.sqrt(2))


def share_beyond(level, d, spread):
    """P(|q.k| >= level) of d normal entries of that spread on both sides: given q the score is
    normal with spread |q| spread, and |q| / spread is chi. By the midpoint rule over +-9 spreads of
    chi, which is 1/sqrt(2) wide."""
    steps, centre = 20000, math.sqrt(d - 0.5)
    total = weight = 0.0
    for i in range(steps):
        norm = centre + (2 * (i + 0.5) / steps - 1) * 9 / math.sqrt(2)
        density = math.exp((d - 1) * math.log(norm / centre) - (norm**2 - centre**2) / 2)
        weight += density
        total += density * two_sided(level / (norm * spread**2))
    return total / weight


class PrecisionTest(CommandLineTest):
    def lines(self, config, out, name="summary.csv"):
        with open(self.run_config(config, out) / name, newline="", encoding="ascii") as file:
            return list(csv.DictReader(file))

    def test_float32_keeps_the_subnormal_weight_of_a_key_100_logits_below(self):
        lines = self.lines({"name": "far", "experiments": [
            {"given": {"scores": [[0, -100]]}, "scalings": [
                {"name": "single", "logit": "q.k", "precision": "float32"}, "none",
                {"name": "brain", "logit": "q.k", "precision": "bfloat16"}]}]},
            "far", "weights.csv")
        weight = {(line["scaling"], line["key"]): float(line["weight"]) for line in lines}
        self.assertEqual(weight["single", "0"], 1)
        self.assertEqual(weight["single", "1"], 27 * 2.0**-149)
        self.assertEqual(f"{weight['single', '1']:.6e}", "3.783506e-44")
        # exp(-100) has all its digits in double precision and none left in bfloat16, below 2^-133.
        self.assertLess(abs(weight["none", "1"] / math.exp(-100) - 1), 1e-14)
        self.assertEqual(weight["brain", "1"], 0)

    def overflowing(self, spread, **more):
        return {"name": "half", "seed": 2, "sampler": "direct", "experiments": [
            {"name": "half", "d": 1024, "keys": 1, "queries": 200_000,
             "entries": {"law": "normal", "sd": spread}, "metrics": ["overflowed", "logit_sd"],
             "scalings": [{"name": "after", **HALF},
                          {"name": "before", "logit": "(q / sqrt(d)).k",
                           "precision": "float16"},
                          {"name": "quarter", **HALF, "preset": "quarter_powers"}], **more}]}

    def test_float16_counts_scores_beyond_its_range(self):
        for spread, gaussian_error in ((24, 0.1), (30, 0.02)):
            lines = {(line["scaling"], line["metric"]): line
                     for line in self.lines(self.overflowing(spread), f"sd{spread}")}
            count = lines["after", "overflowed"]
            queries, share = int(count["queries"]), float(count["estimate"])
            exact = share_beyond(FLOAT16_OVERFLOWS_AT, 1024, spread)
            # A binomial count of 78 and of 4,600: 4 standard deviations, 6e-5 each.
            error = math.sqrt(exact * (1 - exact) / queries)
            self.assertLess(abs(share - exact), 4 * error, spread)
            # The usual estimate takes the score for normal and the range for 65504.
            usual = two_sided(65504 / (spread**2 * math.sqrt(1024)))
            self.assertLess(abs(usual / exact - 1), gaussian_error, spread)
            after = lines["after", "logit_sd"]
            self.assertEqual((count["status"], after["status"]), ("ok", "some_nonfinite"))
            self.assertEqual(int(after["left_out"]), round(share * queries))
            self.assertEqual(int(after["queries"]) + int(after["left_out"]), queries)
            # Without the widest scores.
            self.assertLess(float(after["estimate"]), spread**2)
            for order in ("before", "quarter"):
                self.assertEqual(float(lines[order, "overflowed"]["estimate"]), 0)
                spread_line = lines[order, "logit_sd"]
                self.assertEqual(spread_line["status"], "ok")
                # The spread is spread^2; steps of 2^-11 of a number move it far less than chance.
                distance = float(spread_line["estimate"]) - spread**2
                self.assertLess(abs(distance), 4 * float(spread_line["std_error"]))

    def read(self, path):
        header, lines = read_csv(self.folder / path)
        return [dict(zip(header, line)) for line in lines]

    def test_queries_that_are_not_finite_are_left_out_and_no_column_is_lost(self):
        name = self.write_config({"name": "few", "experiments": [FEW_OVERFLOW]})
        run = self.succeed("run", name, "--out", "few")
        self.assertIn("lines of summary.csv leave out queries that are not finite (column "
                      "left_out), at most 4 of 10000 in", run.stderr)
        lines = {line["metric"]: line for line in self.read("few/summary.csv")
                 if line["scaling"] == "half"}
        self.assertEqual(float(lines.pop("overflowed")["estimate"]), 4e-4)
        of_all_logits = {"logit_mean", "logit_sd", "logit_kurtosis"}
        for metric, line in lines.items():
            self.assertEqual((line["queries"], line["left_out"], line["status"]),
                             ("9996", "4", "some_nonfinite"), metric)
            self.assertEqual(
                {column for column, cell in line.items() if cell == ""} -
                {"entries_value", "scaling_value", "reference", "z"},
                {"sd", "min", "q05", "median", "q95", "max"} if metric in of_all_logits else set(),
                metric)
        self.assertEqual({(line["scaling"], line["queries"], line["left_out"])
                          for line in self.read("few/wide.csv")},
                         {("div_sqrt_d", "10000", "0"), ("half", "9996", "4")})
        contrasts = self.read("few/contrasts.csv")
        self.assertEqual({(line["queries"], line["left_out"]) for line in contrasts
                          if line["metric"] != "overflowed"}, {("9996", "4")})
        self.assertNotIn("", [line["estimate"] for line in contrasts])
        self.succeed("verify", "few")

    def test_threads_shards_and_an_interruption_leave_out_the_same_queries(self):
        name = self.write_config({"name": "few", "experiments": [FEW_OVERFLOW]})
        run = ("run", name, "--quiet", "--out")
        self.succeed(*run, "whole", "--threads", "1")
        self.succeed(*run, "threads", "--threads", "3")
        for i in (1, 2, 3):
            self.succeed(*run, f"shard{i}", "--shard", f"{i}/3")
        self.succeed("merge", "merged", "shard1", "shard2", "shard3")
        for other in ("threads", "merged"):
            self.assert_same_files(self.folder / "whole", self.folder / other)
        long = ("--threads", "1", "--set", "queries=4e5")
        stopped = self.attnscale(*run, "resumed", *long, "--time-limit", "0.3")
        self.assertEqual(stopped.returncode, 4, stopped.stderr)
        self.succeed(*run, "resumed", *long)
        self.succeed(*run, "once", *long)
        self.assert_same_files(self.folder / "once", self.folder / "resumed")

    def test_a_query_overflows_where_one_of_its_scores_does(self):
        config = self.overflowing(24, keys=8, queries=100_000, metrics=["overflowed", "top_weight"])
        lines = {(line["scaling"], line["metric"]): line for line in self.lines(config, "keys")}
        one = share_beyond(FLOAT16_OVERFLOWS_AT, 1024, 24)
        share = float(lines["after", "overflowed"]["estimate"])
        # Below 8 times that of one score, as a long query has several; few have, so by at most 5 %.
        error = math.sqrt(8 * one / 100_000)
        self.assertLess(share, 8 * one + 4 * error)
        self.assertGreater(share, 0.95 * 8 * one - 4 * error)
        self.assertEqual(lines["after", "top_weight"]["status"], "some_nonfinite")
        self.assertEqual(lines["before", "top_weight"]["status"], "ok")

    def test_given_scores_that_overflow_are_written_counted_and_shown_again(self):
        config = self.write_config({"name": "nf", "experiments": [
            {"given": {"queries": [[1e200], [2]], "keys": [[1e200], [-1e200], [1]],
                       "values": [[1], [2], [3]]},
             "scalings": ["none"], "metrics": ["top_weight"]}]})
        first = self.succeed("run", config, "--out", "nf")
        self.assertIn("warning: a number is not finite in 3 lines of weights.csv, 1 line of "
                      "outputs.csv", first.stderr)
        self.assertIn("warning: 1 line of summary.csv leaves out queries that are not finite "
                      "(column left_out), 1 of 2 in top_weight of experiment_1", first.stderr)
        header, lines = read_csv(self.folder / "nf" / "weights.csv")
        self.assertEqual([dict(zip(header, line))["status"] for line in lines],
                         ["score=inf logit=inf weight=nan slope=nan",
                          "score=-inf logit=-inf weight=nan slope=nan",
                          "weight=nan slope=nan", "ok", "ok", "ok"])
        for again in (self.succeed("run", config, "--out", "nf"), self.succeed("show", "nf")):
            self.assertEqual(again.stdout, first.stdout)
        self.assertRegex(first.stdout, r"none +0 +inf +inf +nan +nan")
        self.assertRegex(first.stdout, r"none +1 +-inf +-inf +nan +nan")
        self.succeed("verify", "nf")


if __name__ == "__main__":
    unittest.main()
