"""Reads the files of finished runs for report.html, with the standard library alone."""

import csv
import json
import re
from dataclasses import dataclass, field


class ReportError(Exception):
    """What the user can mend: one line, printed without a traceback."""


def number_of(text):
    """None for an empty cell."""
    return float(text) if text else None


def read_lines(path):
    """The lines of a CSV file as objects of texts; none where there is no such file."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def read_object(path):
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@dataclass
class Run:
    """A finished run: its folder, and its files as objects and lists of lines."""

    folder: object
    label: str  # by which the page tells it from others
    lines: list
    config: dict
    manifest: dict
    package: dict
    crossings: list = field(default_factory=list)
    contrasts: list = field(default_factory=list)
    histogram: list = field(default_factory=list)
    weights: list = field(default_factory=list)
    baselines: list = field(default_factory=list)

    @property
    def name(self):
        return self.config.get("name") or self.folder.resolve().name

    @property
    def run_id(self):
        return "r" + str(self.manifest.get("fingerprint", ""))[:8]

    def metrics(self):
        """In the order of the config."""
        return list(dict.fromkeys(line["metric"] for line in self.lines))

    def about_metric(self, name):
        """Its title, unit and description, as the data package has them."""
        for metric in self.package.get("metrics", []):
            if metric["name"] == name:
                return metric
        return {"name": name, "title": name.replace("_", " "), "unit": "1", "description": ""}

    def about_column(self, name):
        """Title and description of a column, in words."""
        for resource in self.package.get("resources", []):
            for each in resource.get("schema", {}).get("fields", []):
                if each["name"] == name:
                    return each
        return {}


def read_run(folder, label):
    if not folder.is_dir():
        raise ReportError(f"there is no folder {folder}")
    if not (folder / "summary.csv").exists():
        raise ReportError(f"{folder} holds no finished run (no summary.csv in it)")
    files = {name: read_lines(folder / f"{name}.csv")
             for name in ("crossings", "contrasts", "histogram", "weights", "baselines")}
    return Run(folder, label, read_lines(folder / "summary.csv"),
               read_object(folder / "config.json"), read_object(folder / "manifest.json"),
               read_object(folder / "datapackage.json"), **files)


def labels_of(folders):
    """The ends of the folders' paths by which they differ."""
    parts = [folder.resolve().parts for folder in folders]
    for length in range(1, max(map(len, parts)) + 1):
        ends = ["/".join(each[-length:]) for each in parts]
        if len(set(ends)) == len(ends):
            return ends
    raise ReportError("a folder is named twice")


def answers_in(shown):
    """The answers in what `attnscale show --format markdown` prints."""
    found = re.search(r"^## Answers\n\n(.*?)(?:\n\n|\Z)", shown, re.S | re.M)
    return [line.removeprefix("* ") for line in found[1].splitlines()] if found else []


# What tells the lines of one metric of one experiment from each other.
FAMILY = ["experiment", "entries_series", "d", "keys", "series", "metric"]


def differences(runs):
    """Each line of the first run beside the same of every other: estimates, difference, its error
    and z, the furthest first. The runs are taken to be independent."""
    first, *others = runs
    known = {tuple(line[name] for name in FAMILY): line for line in first.lines}
    found = []
    for other in others:
        for line in other.lines:
            mine = known.get(tuple(line[name] for name in FAMILY))
            values = [number_of(each["estimate"]) if each else None for each in (mine, line)]
            if None in values:
                continue
            errors = [number_of(each["std_error"]) for each in (mine, line)]
            error = None if None in errors else (errors[0] ** 2 + errors[1] ** 2) ** 0.5
            difference = values[1] - values[0]
            found.append({**{name: line[name] for name in FAMILY}, "first": values[0],
                          "run": other.label, "other": values[1], "difference": difference,
                          "std_error": error, "z": difference / error if error else None})
    return sorted(found, key=lambda each: -abs(each["z"] or 0))
