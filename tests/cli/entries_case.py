"""What the tests of clipped entries and of blocks share: a run of some entries, and its lines."""

import csv

from attnscale_cli import CommandLineTest


def lines_of(folder):
    with open(folder / "summary.csv", newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


class EntriesCase(CommandLineTest):
    def run_entries(self, entries, out="run", d=128, **other):
        experiment = {"d": d, "keys": 8, "queries": 2000, "entries": entries,
                      "scalings": ["div_sqrt_d"], "metrics": ["logit_sd", "logit_kurtosis"],
                      **other}
        return self.run_config({"name": "entries", "experiments": [experiment]}, out)
