"""Screens of 60, 80 and 120 columns: tables, help and lists; and no more than a screenful."""

import os
import subprocess
import unittest

from attnscale_cli import BINARY, TRY_THIS, CommandLineTest, read_csv


class ScreenTest(CommandLineTest):
    """Widths of a terminal, as COLUMNS says them."""

    def at(self, width, *arguments, **more):
        environment = {**os.environ, "COLUMNS": str(width), **more}
        return self.succeed(*arguments, env=environment).stdout

    def setUp(self):
        super().setUp()
        self.run_config(TRY_THIS, "run", "--set", "queries=2000")

    def test_the_lesson_keeps_its_exact_values_at_80_columns(self):
        text = self.at(80, "show", "run")
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertRegex(text, r"(?m)^ +64  0\.\d{4}\(\d\d\) \[0\.87493\]  0\.\d{4}\(\d\d\) "
                               r"\[0\.35999\]  +0\.\d+\(\d\d\) \[0\.14851\]$")
        self.assertIn("(top_weight): estimate(error in the last digits) [exact]", text)
        self.assertRegex(self.at(120, "show", "run"), r"0\.\d{4} \+- 0\.\d{4} \[0\.87493\]")
        narrow = self.at(60, "show", "run")
        self.assertLessEqual(max(map(len, narrow.splitlines())), 60)
        self.assertRegex(narrow, r"(?m)^ +64 +0\.\d{4}\(\d\d\) +0\.\d{4}\(\d\d\) +0\.\d+\(\d\d\)$")

    def test_help_and_lists_wrap_at_words(self):
        commands = [["--help"], ["list", "laws"], ["list", "metrics"], ["list", "samplers"],
                    ["list", "scalings"]]
        for name in ("run", "pool", "compare", "show", "exact", "plot", "audit", "list"):
            commands.append([name, "--help"])
        for command in commands:
            words = self.at(1000, *command).split()
            for width in (60, 80, 120):
                text = self.at(width, *command)
                self.assertEqual(text.split(), words, command)
                for line in text.splitlines():
                    fits = len(line) <= width or " " not in line.strip()
                    self.assertTrue(fits, (command, width, line))

    def test_all_metrics_are_a_screenful_and_the_rest_is_named(self):
        kinds = [{"name": "swept", "d": [4, 16, 64]}, {"name": "one", "d": 80},
                 {"name": "keys", "d": [4, 16], "keys": [2, 4, 8]},
                 {"name": "given", "given": {"scores": [[1, 2], [3, 4]], "d": 4, "baseline": True},
                  "by": ["head", "query"]}]
        runs = [("many", kinds[:1]), ("one", kinds[1:2]), ("given", kinds[3:]), ("mixed", kinds)]
        for out, experiments in runs:
            for one in experiments:
                one["metrics"] = "all"
                one.update({} if "given" in one else {"queries": 50})
            name = self.write_config({"name": out, "experiments": experiments})
            text = self.at(80, "run", name, "--out", out)
            self.assertLessEqual(len(text.splitlines()), 38, text)  # of 40: none is a terminal
            for height in (24, 30, 60):
                shown = self.at(80, "show", out, LINES=str(height))
                self.assertLessEqual(len(shown.splitlines()), height - 2, shown)
                self.assertEqual("attnscale show DIR --format markdown" in shown,
                                 len(self.at(80, "show", out, LINES="1000")) > len(shown), shown)
                self.assertEqual("Answers\n1 " in shown, out != "given", shown)
        for experiment in kinds:
            self.assertIn(f"## {experiment['name']}: ",
                          self.at(80, "show", "mixed", "--format", "markdown"))
        self.assertRegex(self.at(80, "show", "many", LINES="60"),
                         r"\d+ more metrics with attnscale show DIR --metric NAME, or all:")
        # A terminal's own height counts too; the lesson asks for three metrics and is not cut.
        seen = subprocess.run(["script", "-qc", f"stty rows 24 cols 80; '{BINARY}' show many",
                               "/dev/null"], cwd=self.folder, capture_output=True, text=True,
                              check=True).stdout
        self.assertLessEqual(len(seen.splitlines()), 22, seen)
        self.assertEqual(self.at(80, "show", "run", LINES="24"),
                         self.at(80, "show", "run", LINES="1000"))
        text = self.at(80, "show", "many", "--metric", "perplexity", "--metric",
                       "entropy")
        self.assertEqual(text.count("div_sqrt_d"), 2)
        self.assertIn("(perplexity)", text)
        every = self.at(80, "show", "many", "--metric", "all")
        header, lines = read_csv(self.folder / "many" / "summary.csv")
        for metric in {line[header.index("metric")] for line in lines}:
            self.assertIn(f"({metric})", every)
        self.refuse("show", "run", "--metric", "perplexity", says=['unknown metric "perplexity"'])


if __name__ == "__main__":
    unittest.main()
