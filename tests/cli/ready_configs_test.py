"""The configs of configs/ run, agree with their exact values, and gave their README its figures."""

import json
import re
import unittest

from attnscale_cli import CommandLineTest, ROOT, read_csv

CONFIGS = sorted((ROOT / "configs").glob("*.json"))
README = (ROOT / "configs" / "README.md").read_text(encoding="utf-8")
FEW = 256  # queries; exact values do not depend on their number
# Column -> its file, of columns that summary.csv lacks.
FILE_OF = {"baseline": "baselines.csv", "ratio": "baselines.csv", "weight": "weights.csv",
           "slope": "weights.csv"}


def lines_of(config, column, *figures, **which):
    """(config, column, what picks the line of its summary.csv, the number as the README has it)."""
    return [(config, column, {**which, **own}, text) for own, text in figures]


# Exact values are in the column reference, whatever the number of queries. Estimates are those of
# the whole run, of configs that take a second or two.
FIGURES = [
    *lines_of("try_this", "estimate", ({"scaling": "none"}, "0.971"),
              ({"scaling": "div_sqrt_d"}, "0.364"), experiment="softmax", d=1024,
              metric="top_weight"),
    *lines_of("try_this", "median", ({"scaling": "none"}, "5.6e-07"),
              ({"scaling": "div_sqrt_d"}, "0.222"), d=1024, metric="slope"),
    *(figure for power, texts in {0: ("0.531", "0.886", "0.972"),
                                  -0.25: ("0.233", "0.546", "0.770"),
                                  -0.375: ("0.128", "0.239", "0.392"),
                                  -0.5: ("0.0688", "0.0686", "0.0685"),
                                  -0.625: ("0.0398", "0.0258", "0.0186"),
                                  -1: ("0.0145", "0.0092", "0.0081")}.items()
      for figure in lines_of("exponents", "reference",
                             *zip([{"d": 16}, {"d": 256}, {"d": 4096}], texts),
                             scaling_value=power, metric="top_weight")),
    *(figure for keys, texts in {128: ("0.0203", "0.1099", "0.402", "0.679", "0.122"),
                                 8192: ("0.00033", "0.0057", "0.173", "0.532", "0.158"),
                                 131072: ("0.00002", "0.0004", "0.085", "0.455", "0.200")}.items()
      for figure in lines_of(
          "many_keys", "reference",
          *zip([{"scaling": "spread", "scaling_value": value} for value in (1, 2, 4, 8)]
               + [{"scaling": "ssmax"}], texts),
          experiment="context", keys=keys, metric="sum_p2")),
    *(figure for scaling, texts in {"div_sqrt_d": ("1.000", "6.433"),
                                    "gemma2_27b": ("0.942", "6.489"),
                                    "gemma3_27b": ("0.873", "6.555"),
                                    "granite3_8b": ("0.088", "6.928"), "yarn": ("1.631", "5.628"),
                                    "gpt_neo": ("11.314", "0.585"), "gemma4": ("11.314", "0.612"),
                                    "gpt_oss": ("1.000", "6.262"), "softmax1": ("1.000", "6.430"),
                                    "sigmoid": ("1.000", "9.757")}.items()
      for figure in lines_of("model_presets", "reference",
                             *zip([{"metric": "logit_sd"}, {"metric": "entropy"}], texts),
                             scaling=scaling)),
    *lines_of("model_presets", "reference", ({"scaling": "gpt_oss"}, "0.969"),
              ({"scaling": "softmax1"}, "0.9994"), ({"scaling": "sigmoid"}, "1.645"),
              metric="total_weight"),
    *(figure for law, texts in {"normal": ("0.345", "0.359"), "rademacher": ("0.342", "0.360"),
                                "laplace": ("0.331", "0.360"), "sparse": ("0.182", "0.343"),
                                "outlier": ("0.326", "0.355")}.items()
      for figure in lines_of("heavy_tails", "estimate", *zip([{"d": 4}, {"d": 64}], texts),
                             entries=law, scaling="div_sqrt_d", metric="top_weight")),
    *lines_of("heavy_tails", "estimate", ({"d": 4}, "0.253"), ({"d": 64}, "0.302"),
              entries_value=2.5, scaling="div_sqrt_d", metric="top_weight"),
    *lines_of("heavy_tails", "estimate", ({"entries_value": "2.5", "d": 64}, "0.950"),
              scaling="div_sqrt_d", metric="logit_sd"),
    *lines_of("heavy_tails", "estimate", ({}, "18"), entries="outlier", d=4, scaling="none",
              metric="logit_kurtosis"),
    *lines_of("heavy_tails", "std_error", ({}, "3"), entries="outlier", d=4, scaling="none",
              metric="logit_kurtosis"),
    *lines_of("heavy_tails", "reference", ({}, "195.02"), entries="outlier", d=4, scaling="none",
              metric="logit_kurtosis"),
    *(figure for d, texts in {16: ("0.097", "0.0256", "0.221"), 64: ("0.373", "0.0256", "0.373"),
                              256: ("0.948", "0.0255", "0.440"),
                              1024: ("0.99998", "0.0255", "0.457"),
                              4096: ("1.00000", "0.0255", "0.463")}.items()
      for figure in lines_of("aligned_keys", "estimate",
                             *zip([{"scaling": "div_sqrt_d"}, {"scaling": "div_d"},
                                   {"scaling": "mup"}], texts), d=d, metric="aligned_weight")),
    *lines_of("aligned_keys", "estimate", ({"d": 16}, "0.367"), ({"d": 64}, "0.941"),
              ({"d": 256}, "1.000"), scaling="mup", metric="aligned_top"),
    *lines_of("aligned_keys", "median", ({"scaling": "div_sqrt_d", "d": 1024}, "1.2e-05"),
              ({"scaling": "mup", "d": 4096}, "0.249"), metric="slope"),
    *(figure for (scaling, metric), texts in {
          ("float16", "lost_keys"): ("0.000", "0.067", "0.919", "0.991"),
          ("float32", "zero_slope"): ("0.000", "0.000", "0.033", "0.840", "0.991"),
          ("float16", "zero_slope"): ("0.000", "0.000", "0.228", "0.925"),
          ("bfloat16", "zero_slope"): ("0.000", "0.001", "0.332", "0.948", "0.982"),
          ("float16", "overflowed"): ("0.000", "0.000", "0.000", "0.000", "1.000"),
          ("float16_unshifted", "overflowed"): ("0.000", "0.304", "1.000", "1.000", "1.000"),
      }.items()
      for figure in lines_of("half_precision", "estimate",
                             *zip([{"entries_value": sd} for sd in (1, 2, 4, 16, 64)], texts),
                             scaling=scaling, metric=metric)),
    *(figure for (gain, d), texts in {(0.25, 256): ("1.00", "0.0158"),
                                      (0.25, 512): ("1.41", "0.0392"),
                                      (0.5, 256): ("4.00", "0.415"), (0.5, 512): ("5.66", "0.583"),
                                      (1, 256): ("16.00", "0.853"),
                                      (1, 512): ("22.63", "0.898")}.items()
      for figure in lines_of("gemma4", "reference",
                             *zip([{"metric": "logit_sd"}, {"metric": "top_weight"}], texts),
                             scaling="gemma4_gain", scaling_value=gain, d=d)),
    *lines_of("gemma4", "reference", ({}, "0.0158"), scaling="qwen3", d=256, metric="top_weight"),
    *lines_of("real_matrices", "estimate", ({"metric": "logit_sd"}, "3.123"),
              ({"metric": "top_weight"}, "0.577"), ({"metric": "entropy"}, "1.067"),
              scaling="div_sqrt_d"),
    *lines_of("real_matrices", "baseline", ({"metric": "logit_sd"}, "0.9998"),
              ({"metric": "top_weight"}, "0.351"), ({"metric": "entropy"}, "1.930"),
              scaling="div_sqrt_d"),
    *lines_of("real_matrices", "ratio", ({"metric": "logit_sd"}, "3.124"),
              ({"metric": "top_weight"}, "1.641"), ({"metric": "entropy"}, "0.553"),
              scaling="div_sqrt_d"),
    *(figure for (example, scaling), texts in {
          ("softmax_small", "none"): ("0.665", "0.245", "0.090"),
          ("softmax_large", "none"): ("0.9997", "0.0003", "0.0000"),
          ("your_turn_small", "none"): ("0.576", "0.212", "0.212"),
          ("your_turn_large", "none"): ("0.9993", "0.0003", "0.0003"),
          ("your_turn_scaled", "div_sqrt_d"): ("0.665", "0.245", "0.090"),
      }.items()
      for figure in lines_of("lesson_examples", "weight",
                             *zip([{"key": 0}, {"key": 1}, {"key": 2}], texts),
                             experiment=example, scaling=scaling)),
    *lines_of("lesson_examples", "slope", ({"experiment": "softmax_small"}, "0.223"),
              ({"experiment": "softmax_large"}, "0.0003"),
              ({"experiment": "your_turn_small"}, "0.244"),
              ({"experiment": "your_turn_large"}, "0.0007"), key=0),
]


def matches(text, number):
    """True where `text` is the number, rounded to the digits that it shows."""
    digits = len(text.partition(".")[2].partition("e")[0])
    return f"{number:.{digits}{'e' if 'e' in text else 'f'}}" == text


def paragraph_of(config):
    """What the README says of a ready config: from its heading to the next."""
    found = re.search(rf"^### .*`{config}\.json`.*?\n(.*?)(?=^##|\Z)", README,
                      re.MULTILINE | re.DOTALL)
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
            if config.stem != "schema":
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
                header, lines = read_csv(folders[name, few] / FILE_OF.get(column, "summary.csv"))
                found = [line for line in lines if all(
                    line[header.index(key)] == str(value) for key, value in which.items())]
                self.assertEqual(len(found), 1, which)
                number = float(found[0][header.index(column)])
                self.assertTrue(matches(text, number), f"{text} is {number}")
                self.assertRegex(paragraph_of(name), rf"(?<![\d.]){re.escape(text)}(?![\d]|\.\d)")


if __name__ == "__main__":
    unittest.main()
