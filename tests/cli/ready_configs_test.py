"""The configs of configs/ run, agree with their exact values, and gave the README its figures."""

import json
import re
import unittest

from attnscale_cli import CommandLineTest, ROOT, read_csv

CONFIGS = sorted((ROOT / "configs").glob("*.json"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
FEW = 256  # queries; exact values do not depend on their number



def lines_of(config, column, *figures, **which):
    """(config, column, what picks the line of its summary.csv, the number as the README has it)."""
    return [(config, column, {**which, **own}, text) for own, text in figures]


# Exact values stand in the column reference, whatever the number of queries. Estimates are those of
# the whole run, of configs that take a second or two.
FIGURES = [
    *lines_of("exponents", "reference",
              ({"scaling_value": "-0.5", "d": 16}, "0.0688"),
              ({"scaling_value": "-0.5", "d": 4096}, "0.0685"),
              ({"scaling_value": "-0.375", "d": 16}, "0.128"),
              ({"scaling_value": "-0.375", "d": 4096}, "0.392"),
              ({"scaling_value": "-0.625", "d": 16}, "0.0398"),
              ({"scaling_value": "-0.625", "d": 4096}, "0.0186"), metric="top_weight"),
    *(figure for keys, texts in {128: ("0.0203", "0.1099", "0.402", "0.679", "0.122"),
                                 8192: ("0.00033", "0.0057", "0.173", "0.532", "0.158"),
                                 131072: ("0.00002", "0.0004", "0.085", "0.455", "0.200")}.items()
      for figure in lines_of(
          "many_keys", "reference",
          *zip([{"scaling": "spread", "scaling_value": value} for value in (1, 2, 4, 8)]
               + [{"scaling": "ssmax"}], texts),
          experiment="context", keys=keys, metric="sum_p2")),
    *lines_of("model_presets", "reference",
              ({"scaling": "div_sqrt_d"}, "6.433"), ({"scaling": "gemma2_27b"}, "6.489"),
              ({"scaling": "gemma3_27b"}, "6.555"), ({"scaling": "granite3_8b"}, "6.928"),
              ({"scaling": "yarn"}, "5.628"), ({"scaling": "gpt_neo"}, "0.585"),
              ({"scaling": "gemma4"}, "0.612"), metric="entropy"),
    *lines_of("model_presets", "reference", ({"scaling": "gemma2_27b"}, "0.942"),
              ({"scaling": "granite3_8b"}, "0.088"), metric="logit_sd"),
    *lines_of("model_presets", "reference", ({"scaling": "gpt_oss"}, "0.969"),
              ({"scaling": "softmax1"}, "0.9994"), ({"scaling": "sigmoid"}, "1.645"),
              metric="total_weight"),
    *lines_of("heavy_tails", "estimate",
              ({"entries": "normal", "d": 64}, "0.359"),
              ({"entries": "rademacher", "d": 64}, "0.361"),
              ({"entries": "laplace", "d": 64}, "0.359"), ({"entries": "outlier", "d": 64}, "0.354"),
              ({"entries_value": "2.5", "d": 64}, "0.300"), ({"entries": "sparse", "d": 4}, "0.183"),
              ({"entries": "normal", "d": 4}, "0.345"), scaling="div_sqrt_d", metric="top_weight"),
    *lines_of("heavy_tails", "estimate", ({"entries_value": "2.5", "d": 64}, "0.930"),
              scaling="div_sqrt_d", metric="logit_sd"),
    *lines_of("heavy_tails", "estimate", ({}, "34"), entries="outlier", d=4, scaling="none",
              metric="logit_kurtosis"),
    *lines_of("heavy_tails", "std_error", ({}, "8"), entries="outlier", d=4, scaling="none",
              metric="logit_kurtosis"),
    *lines_of("heavy_tails", "reference", ({}, "195.02"), entries="outlier", d=4, scaling="none",
              metric="logit_kurtosis"),
    *lines_of("aligned_keys", "estimate",
              ({"scaling": "div_sqrt_d", "d": 64}, "0.373"),
              ({"scaling": "div_sqrt_d", "d": 1024}, "0.99998"),
              ({"scaling": "div_d", "d": 4096}, "0.0255"), ({"scaling": "mup", "d": 64}, "0.373"),
              ({"scaling": "mup", "d": 256}, "0.440"), ({"scaling": "mup", "d": 4096}, "0.463"),
              metric="aligned_weight"),
    *lines_of("aligned_keys", "median", ({"scaling": "div_sqrt_d", "d": 1024}, "1.2e-05"),
              ({"scaling": "mup", "d": 4096}, "0.249"), metric="slope"),
    *lines_of("half_precision", "estimate", ({}, "0.067"), scaling="float16", entries_value=2,
              metric="lost_keys"),
    *lines_of("half_precision", "estimate", ({}, "0.30"), scaling="float16_unshifted",
              entries_value=2, metric="overflowed"),
    *lines_of("half_precision", "estimate", ({"scaling": "float32"}, "0.03"),
              ({"scaling": "float16"}, "0.23"), ({"scaling": "bfloat16"}, "0.33"),
              entries_value=4, metric="zero_slope"),
    *lines_of("half_precision", "estimate", ({"scaling": "float16"}, "1"),
              ({"scaling": "float16_before"}, "0"), entries_value=64, metric="overflowed"),
    *lines_of("gemma4", "reference", ({"d": 256}, "0.853"), ({"d": 512}, "0.898"),
              scaling="gemma4_gain", scaling_value=1, metric="top_weight"),
    *lines_of("gemma4", "reference", ({"d": 256}, "0.396"), ({"d": 512}, "0.264"),
              scaling="gemma4_gain", scaling_value=1, metric="entropy"),
    *lines_of("gemma4", "reference", ({"d": 256}, "16"), ({"d": 512}, "22.63"),
              scaling="gemma4_gain", scaling_value=1, metric="logit_sd"),
    *lines_of("gemma4", "reference",
              ({"scaling": "gemma4_gain", "scaling_value": "0.25"}, "0.0158"),
              ({"scaling": "qwen3"}, "0.0158"), d=256, metric="top_weight"),
]


def matches(text, number):
    """True where `text` is the number, rounded to the digits that it shows."""
    digits = len(text.partition(".")[2].partition("e")[0])
    return f"{number:.{digits}{'e' if 'e' in text else 'f'}}" == text


def paragraph_of(config):
    """What the README says of a ready config: from its heading to the next."""
    found = re.search(rf"^### .*`{config}\.json`.*?\n(.*?)(?=^##)", README, re.MULTILINE | re.DOTALL)
    return found and found[1]


class ReadyConfigsTest(CommandLineTest):
    def test_every_config_runs_and_agrees_with_its_exact_values(self):
        configs = [path for path in CONFIGS if path.stem != "schema"]
        self.assertGreaterEqual(len(configs), 10)
        for config in configs:
            with self.subTest(config.stem):
                drawn = any("given" not in experiment for experiment
                            in json.loads(config.read_text(encoding="utf-8"))["experiments"])
                few = ["--set", f"queries={FEW}"] if drawn else []
                self.run_config(config, config.stem, *few)
                self.assertIn("no mismatch", self.succeed("verify", config.stem).stdout)

    def test_every_ready_config_has_its_place_in_the_readme(self):
        for config in CONFIGS:
            if config.stem not in ("schema", "try_this", "lesson_examples", "real_matrices"):
                self.assertTrue(paragraph_of(config.stem), config.stem)

    def test_the_figures_of_the_readme_are_those_of_the_runs(self):
        folders = {}
        for name, column, which, text in FIGURES:
            with self.subTest(f"{name}: {text}"):
                few = column == "reference"
                if (name, few) not in folders:
                    folders[name, few] = self.run_config(
                        ROOT / "configs" / f"{name}.json", f"{name}.{few}",
                        *(["--set", f"queries={FEW}"] if few else []))
                header, lines = read_csv(folders[name, few] / "summary.csv")
                found = [line for line in lines if all(
                    line[header.index(key)] == str(value) for key, value in which.items())]
                self.assertEqual(len(found), 1, which)
                number = float(found[0][header.index(column)])
                self.assertTrue(matches(text, number), f"{text} is {number}")
                self.assertRegex(paragraph_of(name), rf"(?<![\d.]){re.escape(text)}(?![\d]|\.\d)")


if __name__ == "__main__":
    unittest.main()
