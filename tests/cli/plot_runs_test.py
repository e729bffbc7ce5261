"""scripts/plot.py on runs of configs of all kinds: whatever a run writes is drawn."""

import csv
import json
import random
import shutil
import subprocess
import sys
import unittest

from attnscale_cli import ROOT, CommandLineTest


class EveryRunTest(CommandLineTest):
    def draw(self, config, *options):
        """The folder of a run of `config`, after plot.py drew it without a word of complaint."""
        answer = self.attnscale("run", self.write_config(config), "--out", "run", "--quiet",
                                "--force")
        self.assertIn(answer.returncode, (0, 3), (config, answer.stderr))
        run = self.folder / "run"
        answer = subprocess.run(
            [sys.executable, "-B", ROOT / "scripts" / "plot.py", run, *options],
            capture_output=True, text=True)
        if len((run / "summary.csv").read_text().splitlines()) == 1:
            self.assertEqual(answer.returncode, 2, config)
            self.assertIn("asks for no metrics", answer.stderr, config)
        else:
            self.assertEqual((answer.returncode, answer.stderr), (0, ""), config)
        return run

    def words_of_open_bins(self, run):
        """What the histograms of a run must say, from the counts in its file."""
        totals, open_bins = {}, []
        with open(run / "histogram.csv", newline="", encoding="ascii") as file:
            for row in csv.DictReader(file):
                key = tuple(row[name] for name in ("experiment", "entries", "entries_value", "d",
                                                   "keys", "scaling", "scaling_value", "metric"))
                totals[key] = totals.get(key, 0) + int(row["count"])
                if not row["bin_low"] or not row["bin_high"]:
                    open_bins.append((key, int(row["count"]),
                                      "higher" if row["bin_low"] else "lower"))
        return {f"{count:,} of {totals[key]:,} {side}" for key, count, side in open_bins}

    def test_runs_of_configs_of_every_kind_are_drawn(self):
        lines = (ROOT / "tests" / "config_corpus" / "valid.jsonl").read_text().splitlines()
        told = 0
        for line in random.Random(15).sample(lines, 12):
            config = json.loads(line)
            for experiment in config["experiments"]:
                if "given" not in experiment:
                    experiment["queries"] = min(experiment.get("queries", 2000), 2000)
                    measured = experiment.get("metrics", "all")
                    slopes = ["slope"] if measured == "all" or "slope" in measured else []
                    experiment["histogram"] = ["logit", *slopes]
            with self.subTest(config=config):
                run = self.draw(config)
                if (run / "histogram.csv").exists():
                    pictures = "".join(path.read_text()
                                       for path in (run / "figures").glob("histogram_*.svg"))
                    for words in self.words_of_open_bins(run):
                        self.assertIn(f"<!-- {words} -->", pictures)
                        told += 1
                shutil.rmtree(run)
        self.assertGreater(told, 0)

    def test_what_overflows_or_never_varies_is_drawn(self):
        self.draw({"name": "odd", "experiments": [{
            "d": [4, 16], "keys": 8, "queries": 500,
            "entries": ["normal", {"name": "huge", "sd": 1e5}],
            "scalings": ["none", {"name": "zero", "multiplier": 0},
                         {"name": "half", "precision": "float16", "subtract_max": False}],
            "metrics": ["slope", "margin", "lost_keys", "logit_kurtosis"],
            "histogram": ["slope", "logit", "margin"]}]}, "--metric", "slope", "--metric",
            "logit_kurtosis", "--metric", "lost_keys", "--metric", "margin")


if __name__ == "__main__":
    unittest.main()
