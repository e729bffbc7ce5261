"""attnscale compare: the same lines of two runs, and how far they are apart."""

import csv
import io
import json
import math
import statistics
import unittest

from attnscale_cli import CommandLineTest
from pool_test import CONFIG, lines_of, name_of, one


class CompareTest(CommandLineTest):
    def table(self, *arguments):
        text = self.succeed("compare", *arguments, "--format", "csv").stdout
        return list(csv.DictReader(io.StringIO(text)))

    def test_other_seeds_differ_by_the_root_of_the_squares(self):
        a = self.run_config(CONFIG, "a", "--seed", "1")
        b = self.run_config(CONFIG, "b", "--seed", "2")
        of_a, of_b = ({name_of(line): line for line in lines_of(run / "summary.csv")}
                      for run in (a, b))
        rows = self.table("a", "b")
        self.assertEqual(len(rows), len(of_a))
        for row in rows:
            one, other = of_a[name_of(row)], of_b[name_of(row)]
            if row["experiment"] == "given":
                self.assertEqual((row["difference"], row["std_error"], row["shared"]),
                                 ("0", "", "numbers"))
                continue
            difference = float(other["estimate"]) - float(one["estimate"])
            self.assertAlmostEqual(float(row["difference"]), difference, places=12)
            self.assertEqual(row["shared"], "none")
            if one["std_error"] and other["std_error"]:
                error = math.hypot(float(one["std_error"]), float(other["std_error"]))
                self.assertAlmostEqual(float(row["std_error"]), error, places=12)
                self.assertAlmostEqual(float(row["z"]), difference / error, places=9)
        sizes = [abs(float(row["z"])) for row in rows if row["z"]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        records = json.loads(self.succeed("compare", "a", "b", "--format", "json").stdout)
        self.assertEqual(len(records), len(rows))
        screen = self.succeed("compare", "a", "b").stdout
        self.assertIn("b (B) less a (A), the furthest lines first", screen)
        self.assertIn("share nothing", screen)
        markdown = self.succeed("compare", "a", "b", "--format", "markdown").stdout
        self.assertRegex(markdown, r"(?m)^\|.* metric \| A \| B \| B - A \| z \| shared \|$")

    def test_the_same_queries_and_logits_leave_no_error(self):
        for name, factor in (("a", 0.5), ("b", 0.6)):
            half = {"name": "half", "logit": f"{factor} q.k"}
            self.run_config(one(name, d=4, metrics=["top_weight"], scalings=["none", half]), name)
        rows = {row["series"]: row for row in self.table("a", "b")}
        self.assertEqual((rows["none"]["shared"], rows["none"]["difference"],
                          rows["none"]["std_error"], rows["none"]["z"]), ("logits", "0", "0", ""))
        other = rows["half"]
        self.assertEqual(other["shared"], "queries")
        self.assertAlmostEqual(float(other["std_error"]),
                               float(other["std_error_a"]) + float(other["std_error_b"]))

    def test_samples_of_the_same_queries_make_pairs(self):
        # All queries are samples: the error is that of the mean of the pairs' differences.
        for name, factor in (("a", 0.5), ("b", 0.6)):
            half = {"name": "half", "logit": f"{factor} q.k"}
            self.run_config(one(name, d=4, queries=400, samples=400, scalings=half,
                                metrics=["top_weight", "output_sd", "logit_sd"]), name)
        rows = {row["metric"]: row for row in self.table("a", "b")}
        self.assertEqual({metric: row["shared"] for metric, row in rows.items()},
                         {"top_weight": "paired", "output_sd": "paired", "logit_sd": "queries"})
        of_a, of_b = ([{metric: float(line[metric]) for metric in ("top_weight", "output_sd")}
                       for line in lines_of(self.folder / run / "samples.csv")] for run in "ab")
        pairs = [b["top_weight"] - a["top_weight"] for a, b in zip(of_a, of_b, strict=True)]
        row = rows["top_weight"]
        self.assertAlmostEqual(float(row["difference"]), statistics.mean(pairs), places=12)
        error = statistics.stdev(pairs) / math.sqrt(400)
        self.assertAlmostEqual(float(row["std_error"]) / error, 1, places=9)
        self.assertAlmostEqual(float(row["z"]), statistics.mean(pairs) / error, places=6)
        self.assertLess(float(row["std_error"]), 0.3 * float(row["std_error_a"]))
        # A root mean square r moves by the mean of the squares over 2 r.
        row = rows["output_sd"]
        moves = [b["output_sd"] ** 2 / 2 / float(row["estimate_b"])
                 - a["output_sd"] ** 2 / 2 / float(row["estimate_a"])
                 for a, b in zip(of_a, of_b, strict=True)]
        self.assertAlmostEqual(float(row["std_error"]) * math.sqrt(400) / statistics.stdev(moves),
                               1, places=9)
        self.assertIn("the error is that of pairs", self.succeed("compare", "a", "b").stdout)

    def test_runs_that_share_some_queries_are_not_taken_for_independent(self):
        config = one("a", d=4, queries=200, metrics="top_weight", scalings="none")
        for seed in (1, 2, 3):
            self.run_config(config, f"s{seed}", "--seed", seed)
        self.run_config(config, "longer", "--seed", "1", "--set", "queries=300")
        for pool, runs in (("first", ["s1", "s2"]), ("other", ["s1", "s3"])):
            self.succeed("pool", pool, *runs, "--quiet")
        for a, b, shared in (("s1", "longer", "queries"), ("s1", "first", "queries"),
                             ("first", "other", "queries"), ("first", "s3", "none"),
                             ("first", "first", "logits"), ("s1", "s1", "logits")):
            row, = self.table(a, b)
            self.assertEqual(row["shared"], shared, (a, b))
            errors = float(row["std_error_a"]), float(row["std_error_b"])
            expected = {"queries": sum(errors), "none": math.hypot(*errors), "logits": 0}[shared]
            self.assertAlmostEqual(float(row["std_error"]), expected, places=12)

    def test_given_numbers_have_no_chance_in_them(self):
        def numbers(file, **more):
            return {"name": "given", "experiments": [
                {"name": "file", "given": {"queries": f"{file}.csv", "keys": f"{file}.csv", **more},
                 "metrics": ["top_weight", "logit_sd"]}]}
        for file in "pq":
            (self.folder / f"{file}.csv").write_text(f"1,2\n{ord(file)},4\n", "ascii")
        self.run_config(numbers("p", baseline=True), "a")
        self.run_config(numbers("p", baseline=True), "seeded", "--seed", "7")
        self.run_config(numbers("p", weights=True), "written")
        self.run_config(numbers("q"), "other")
        self.run_config(numbers("p", causal=True), "causal")
        for run in ("a", "seeded", "written"):
            rows = self.table("a", run)
            self.assertEqual({(row["shared"], row["difference"], row["std_error"], row["z"])
                              for row in rows}, {("numbers", "0", "", "")}, run)
            self.assertIn("6 lines are of the same given numbers: there is no chance in them\n",
                          self.succeed("compare", "a", run).stdout)
        for run in ("other", "causal"):
            self.assertEqual({row["shared"] for row in self.table("a", run)}, {"none"}, run)
            screen = self.succeed("compare", "a", run).stdout
            self.assertIn("6 lines are of given numbers, which have no error\n", screen)
            self.assertNotIn("share", screen.splitlines()[-1])

    def test_few_samples_make_no_pairs(self):
        for name, factor in (("a", 0.5), ("b", 0.6)):
            half = {"name": "half", "logit": f"{factor} q.k"}
            self.run_config(one(name, d=4, queries=99, samples=99, scalings=half,
                                metrics="top_weight"), name)
        self.assertEqual([row["shared"] for row in self.table("a", "b")], ["queries"])

    def test_lines_of_one_run_alone_are_counted_and_strangers_refused(self):
        self.run_config(one("a", d=[4, 8]), "a")
        self.run_config(one("b", d=[8, 16, 32]), "b")
        self.run_config(one("c", d=64), "c")
        screen = self.succeed("compare", "a", "b").stdout
        lines = len(lines_of(self.folder / "a" / "summary.csv")) // 2
        self.assertIn(f"{lines} lines are in A alone", screen)
        self.assertIn(f"{2 * lines} lines are in B alone", screen)
        self.refuse("compare", "a", "c", says=["a and c have no line in common"])
        self.refuse("compare", "a", says=["compares the folders of two runs, not 1"])
        self.refuse("compare", "a", "absent", says=["absent: no such folder"])


if __name__ == "__main__":
    unittest.main()
