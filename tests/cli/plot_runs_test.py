"""scripts/plot.py on runs of configs of all kinds: whatever a run writes is drawn."""

import csv
import json
import random
import shutil
import subprocess
import sys
import unittest
from xml.etree import ElementTree

from attnscale_cli import ROOT, CommandLineTest

# What shows each file; the lines of wide.csv are those of summary.csv, and crossings and contrasts
# are drawn by the report.
PICTURES = {"histogram.csv": "histogram_*.svg", "weights.csv": "weights*.svg",
            "outputs.csv": "outputs*.svg", "baselines.csv": "baseline-*.svg"}
FEW = 8


def read_lines(path):
    if not path.exists():
        return []
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


class EveryRunTest(CommandLineTest):
    def draw(self, run, *options):
        """Draws a run, and holds that every file with lines of its own has its picture."""
        answer = subprocess.run(
            [sys.executable, "-B", ROOT / "scripts" / "plot.py", run, *options],
            capture_output=True, text=True)
        config = (run / "config.json").read_text()
        summary = read_lines(run / "summary.csv")
        if not summary and not (run / "weights.csv").exists():
            self.assertEqual(answer.returncode, 2, config)
            self.assertIn("asks for no metrics", answer.stderr, config)
            return
        self.assertEqual(answer.returncode, 0, (config, answer.stderr))
        for line in answer.stderr.splitlines():
            self.assertRegex(line, "^plot.py: [a-z_0-9]+ has no finite estimate to draw$")
        figures = run / "figures"
        for name, pattern in PICTURES.items():
            if not options and read_lines(run / name):
                self.assertTrue(list(figures.glob(pattern)), (name, config))
        for metric in {row["metric"] for row in summary if row["estimate"]}:
            self.assertTrue(options or list(figures.glob(f"{metric}*.svg")), (metric, config))

    def run_and_draw(self, config, *options):
        """The folder of a run of `config`, drawn."""
        answer = self.attnscale("run", self.write_config(config), "--out", "run", "--quiet",
                                "--force")
        self.assertIn(answer.returncode, (0, 3), (config, answer.stderr))
        self.draw(self.folder / "run", *options)
        return self.folder / "run"

    def words_of_open_bins(self, run):
        """What the histograms of a run must say, from the counts in its file."""
        totals, open_bins = {}, []
        for row in read_lines(run / "histogram.csv"):
            key = tuple(row[name] for name in ("experiment", "entries", "entries_value", "d",
                                               "keys", "scaling", "scaling_value", "metric"))
            totals[key] = totals.get(key, 0) + int(row["count"])
            if not row["bin_low"] or not row["bin_high"]:
                open_bins.append((key, int(row["count"]), "higher" if row["bin_low"] else "lower"))
        sizes = {}  # at most five of them are drawn
        for key in totals:
            sizes.setdefault((key[0], key[7]), {})[key[3]] = None
        return {f"{count:,} of {totals[key]:,} {side}" for key, count, side in open_bins
                if len(sizes[key[0], key[7]]) <= 5}

    def draw_corpus(self, places):
        """How many open bins the pictures of these configs of the corpus tell of."""
        lines = (ROOT / "tests" / "config_corpus" / "valid.jsonl").read_text().splitlines()
        self.assertGreaterEqual(len(lines), 50)
        told = 0
        for line in places(lines):
            config = json.loads(line)
            for experiment in config["experiments"]:
                if "given" not in experiment:
                    experiment["queries"] = min(experiment.get("queries", 2000), 2000)
                    measured = experiment.get("metrics", "all")
                    slopes = ["slope"] if measured == "all" or "slope" in measured else []
                    experiment["histogram"] = ["logit", *slopes]
                    fewest = experiment.get("stop", {}).get("min_queries", 5)
                    experiment["samples"] = min(5, experiment["queries"], fewest)
            with self.subTest(config=config):
                run = self.run_and_draw(config)
                words = self.words_of_open_bins(run)
                said = {"".join(each.itertext()).strip()
                        for path in (run / "figures").glob("histogram_*.svg")
                        for each in ElementTree.parse(path).iter(
                            "{http://www.w3.org/2000/svg}text")}
                self.assertLessEqual(words, said)
                told += len(words)
                shutil.rmtree(run)
        return told

    def test_what_overflows_or_never_varies_is_drawn(self):
        self.run_and_draw({"name": "odd", "experiments": [{
            "d": [4, 16], "keys": 8, "queries": 500,
            "entries": ["normal", {"name": "huge", "sd": 1e5}],
            "scalings": ["none", {"name": "zero", "logit": "0 q.k"},
                         {"name": "half", "logit": "q.k", "precision": "float16",
                          "subtract_max": False}],
            "metrics": ["slope", "margin", "lost_keys", "logit_kurtosis"],
            "histogram": ["slope", "logit", "margin"]}]})


class SomeRunsTest(EveryRunTest):
    def test_runs_of_configs_of_every_kind_are_drawn(self):
        self.assertGreater(self.draw_corpus(lambda lines: random.Random(15).sample(lines, FEW)), 0)


class SlowTest(EveryRunTest):
    def test_all_configs_of_the_corpus_are_drawn(self):
        self.assertGreater(self.draw_corpus(list), 0)

    def test_all_ready_configs_are_drawn_along_every_axis(self):
        for config in sorted((ROOT / "configs").glob("*.json")):
            if config.name == "schema.json":
                continue
            run = self.run_config(config, config.stem)
            self.draw(run)
            for x in ("d", "keys", "scaling_value", "entries_value", "scaling", "entries",
                      "logit_sd"):
                answer = subprocess.run(
                    [sys.executable, "-B", ROOT / "scripts" / "plot.py", run, "--x", x, "--out",
                     self.folder / "figures"], capture_output=True, text=True)
                self.assertIn(answer.returncode, (0, 2), (config, x, answer.stderr))
                self.assertNotIn("Traceback", answer.stderr, (config, x))


if __name__ == "__main__":
    chosen = SlowTest if sys.argv[1:] == ["slow"] else SomeRunsTest
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(chosen)
    sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
