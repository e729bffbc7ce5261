"""What the tests of the command line share: the program under test, run in a folder of its own."""

import csv
import json
import os
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("ATTNSCALE_BINARY", str(ROOT / "build" / "attnscale"))
# "address" or "thread" where the program is built with that sanitizer; seconds are then worth less.
SANITIZER = os.environ.get("ATTNSCALE_SANITIZER", "")
SLOWDOWN = 20 if SANITIZER else 1
TRY_THIS = ROOT / "configs" / "try_this.json"

# A drawn experiment under every kind of rule: presets, norms, a sink, sigmoids, emulated
# precisions, and keys that are aligned with their query.
RULES = {
    "name": "rules", "sampler": "vectors", "d": 8, "keys": 6, "queries": 20_000, "metrics": "all",
    "histogram": ["top_weight"],
    "entries": ["normal",
                {"law": "normal", "name": "planted", "alignment": 0.6, "aligned_keys": 2}],
    "scalings": ["gemma2_27b", "gemma4", "softmax1", {"preset": "sigmoid", "bias": -2},
                 {"name": "half", "preset": "div_sqrt_d", "precision": "float16"},
                 {"name": "capped", "logit": "3 tanh((q / d^0.25).(k / d^0.25) / 3)",
                  "precision": "float32"}],
}

# Scores of spread 44.5^2 sqrt(64) = 15,842 beyond float16's 65504: few of 10,000 queries overflow.
FEW_OVERFLOW = {
    "name": "few", "sampler": "vectors", "d": 64, "keys": 8, "queries": 10_000, "metrics": "all",
    "entries": {"law": "normal", "sd": 44.5},
    "scalings": ["div_sqrt_d", {"name": "half", "preset": "div_sqrt_d", "precision": "float16"}],
}

# The columns of summary.csv.
KEY_COLUMNS = ["run", "seed", "experiment", "entries", "entries_value", "entries_series", "d",
               "keys", "scaling", "scaling_value", "series"]
SUMMARY_COLUMNS = KEY_COLUMNS + ["metric", "queries", "left_out", "estimate", "std_error",
                                 "ci_low", "ci_high", "sd", "min", "q05", "median", "q95", "max",
                                 "reference", "z", "status"]
# Times and machines stand in these files, so their bytes may differ.
NOT_PROMISED = {"manifest.json", "events.jsonl"}


def children_seconds():
    """Processor seconds of all ended child processes: what a busy machine adds to a clock is not in
    them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_csv(path):
    """Header and lines, as text."""
    with open(path, newline="", encoding="ascii") as file:
        lines = list(csv.reader(file, strict=True))
    return lines[0], lines[1:]


def promised_bytes(folder):
    """Name -> bytes of every file that is a function of the config and the seed."""
    return {path.name: path.read_bytes() for path in folder.iterdir()
            if path.is_file() and path.name not in NOT_PROMISED}


class CommandLineTest(unittest.TestCase):
    """A test that runs the program in a scratch folder."""

    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def attnscale(self, *arguments, **options):
        """The ended process; `options` go to subprocess.run."""
        settings = dict(capture_output=True, text=True, cwd=self.folder,
                        timeout=60 * SLOWDOWN)
        settings.update(options)
        return subprocess.run([BINARY, *map(str, arguments)], **settings)

    def succeed(self, *arguments, **options):
        answer = self.attnscale(*arguments, **options)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer

    def refuse(self, *arguments, code=2, says=(), **options):
        """The message of a command that must end with `code`, with nothing on stdout."""
        answer = self.attnscale(*arguments, **options)
        self.assertEqual(answer.returncode, code, (arguments, answer.stderr))
        self.assertEqual(answer.stdout, "", arguments)
        self.assertNotEqual(answer.stderr.strip(), "", arguments)
        for part in says:
            self.assertIn(part, answer.stderr, arguments)
        return answer.stderr

    def write_config(self, config, name="config.json"):
        """The name of a file that holds `config`, an object or a text."""
        text = config if isinstance(config, str) else json.dumps(config)
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def run_config(self, config, out, *options):
        """The folder of a finished run of `config`, an object, text or path."""
        if not isinstance(config, Path):
            config = self.write_config(config, f"{out}.config.json")
        self.succeed("run", config, "--out", out, "--quiet", *options)
        return self.folder / out

    def assert_same_files(self, first, second):
        """Every promised file of one folder is in the other, byte for byte."""
        one, other = promised_bytes(first), promised_bytes(second)
        self.assertEqual(sorted(one), sorted(other))
        for name, content in one.items():
            self.assertTrue(content == other[name], f"{name} differs: {first} and {second}")
