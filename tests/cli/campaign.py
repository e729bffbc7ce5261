#!/usr/bin/env python3
"""What alarms and intervals of the program are worth: runs and verifies a config for many seeds.

usage: tests/cli/campaign.py CONFIG SEEDS [FIRST]

Prints how many right runs `verify` calls wrong (one in 1,000 is promised), and in how many runs the
95 % intervals hold the exact value: by metric, entries, scaling and for contrasts, then the lines
outside 92.5 to 97.5 %. ATTNSCALE_BINARY names the program.
"""

import collections
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("ATTNSCALE_BINARY", ROOT / "build" / "attnscale")).resolve()
ALARM = 5  # verify's exit code
LINE = ["experiment", "entries", "entries_value", "d", "keys", "scaling", "scaling_value", "metric"]
EXACT_ERROR = 3e-8


class Campaign:
    """The counts of some seeds of a config."""

    def __init__(self):
        self.runs = self.alarms = 0
        # Intervals that hold the exact value and all, by pool and by line.
        self.pools = collections.defaultdict(lambda: [0, 0])
        self.lines = collections.defaultdict(lambda: [0, 0])

    def add_seeds(self, config, seeds):
        for seed in seeds:
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch) / "run"
                subprocess.run([BINARY, "run", config, "--seed", str(seed), "--threads", "1",
                                "--quiet", "--out", folder], check=True, capture_output=True)
                code = subprocess.run([BINARY, "verify", folder], capture_output=True).returncode
                if code not in (0, ALARM):
                    raise RuntimeError(f"verify ended with {code} at seed {seed}")
                self.runs += 1
                self.alarms += code == ALARM
                self.add_intervals(folder)

    def add_intervals(self, folder):
        exact = {}
        first = {}  # the exact values of a cell's first scaling, the baseline
        for row in read_rows(folder / "summary.csv"):
            if not row["reference"]:
                continue
            exact[line_of(row)] = float(row["reference"])
            first.setdefault(cell_of(row), float(row["reference"]))
            pools = [f"{name} {row[name]}" for name in ("metric", "entries", "scaling")]
            self.count(row, exact[line_of(row)], line_of(row), [*pools, "all"])
        for row in read_rows(folder / "contrasts.csv"):
            if line_of(row) in exact and cell_of(row) in first:
                difference = exact[line_of(row)] - first[cell_of(row)]
                self.count(row, difference, (*line_of(row), "contrast"), ["contrasts"])

    def count(self, row, exact, line, pools):
        if not row["ci_low"]:
            return
        error = 2 * EXACT_ERROR * max(1, abs(exact))
        held = float(row["ci_low"]) - error <= exact <= float(row["ci_high"]) + error
        for counts in [self.lines[line], *(self.pools[name] for name in pools)]:
            counts[0] += held
            counts[1] += 1


def line_of(row):
    return tuple(row[name] for name in LINE)


def cell_of(row):
    return tuple(row[name] for name in LINE if not name.startswith("scaling"))


def read_rows(path):
    if not path.exists():
        return []
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    first = int(sys.argv[3]) if len(sys.argv) == 4 else 1
    campaign = Campaign()
    campaign.add_seeds(sys.argv[1], range(first, first + int(sys.argv[2])))
    print(f"{campaign.alarms} alarms in {campaign.runs} runs")
    for name, (held, given) in sorted(campaign.pools.items()):
        print(f"{name}: {held} of {given}, {100 * held / given:.2f} %")
    outside = {line: counts for line, counts in campaign.lines.items()
               if not 0.925 <= counts[0] / counts[1] <= 0.975}
    print(f"{len(campaign.lines)} lines, {len(outside)} of them outside 92.5 to 97.5 %")
    for line, (held, given) in sorted(outside.items()):
        print(f"{' '.join(filter(None, line))}: {held} of {given}")


if __name__ == "__main__":
    main()
