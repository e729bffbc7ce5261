"""Reads the files of finished runs for report.html, with the standard library alone."""

import csv
import json
import re
import subprocess
from dataclasses import dataclass, field
from io import StringIO


class ReportError(Exception):
    """What the user can mend: one line, printed without a traceback."""


def number_of(text):
    """None for an empty cell."""
    return float(text) if text else None


def distinct(lines, name):
    """The values of a column that are not empty, each once, in order."""
    return list(dict.fromkeys(line[name] for line in lines if line.get(name)))


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

    def metrics(self):
        """In the order of the config."""
        return list(dict.fromkeys(line["metric"] for line in self.lines))

    def about_metric(self, name):
        """Its title, unit and description, as the data package has them."""
        for metric in self.package.get("metrics", []):
            if metric["name"] == name:
                return metric
        return {"name": name, "title": name.replace("_", " "), "unit": "1", "description": ""}

    def about_column(self, name, file="summary.csv"):
        """Title and description of a column of a file, or else of any that has it, in words."""
        found = {}
        for resource in self.package.get("resources", []):
            for each in resource.get("schema", {}).get("fields", []):
                if each["name"] == name and (not found or resource.get("path") == file):
                    found = each
        return found


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


def compared(program, runs):
    """What `attnscale compare` says of the first run and each other, the furthest lines first;
    None where the program is not at hand."""
    found = []
    for other in runs[1:]:
        try:
            answer = subprocess.run(
                [program, "compare", runs[0].folder, other.folder, "--format", "csv"],
                capture_output=True, text=True, timeout=60, check=False)
        except OSError:
            return None
        found += [{**line, "run": other.label} for line in csv.DictReader(StringIO(answer.stdout))]
    return found if len(runs) == 2 else sorted(found, key=lambda line: -abs(float(line["z"] or 0)))
