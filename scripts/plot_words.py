"""The words of the pictures: a run's description and sweeps from its config.json, what metrics and
columns are called from its datapackage.json. Where a file is missing, columns say their names."""

import json
import re
from dataclasses import dataclass, field


def read_json(path):
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def find_sweeps(item):
    """The keys of a scaling or law that hold a list of values: {"nu": [2.5, 5]} gives ["nu"]."""
    sweeps = []
    for key, value in item.items():
        if isinstance(value, dict):
            sweeps += find_sweeps(value)
        elif isinstance(value, list):
            sweeps.append(key)
    return sweeps


def as_list(value):
    return value if isinstance(value, list) else []


@dataclass
class Words:
    """What a run says of itself."""

    description: str = ""
    experiments: list = field(default_factory=list)  # of config.json, as objects
    metrics: dict = field(default_factory=dict)      # of datapackage.json, by name
    columns: dict = field(default_factory=dict)      # likewise, of any file

    def metric(self, name):
        """What an axis says of a metric: its title, and its unit where it has one."""
        about = self.metrics.get(name, {})
        title, unit = about.get("title", name.replace("_", " ")), about.get("unit", "1")
        return title if unit in ("1", "logit") else f"{title} ({unit})"

    def column(self, name):
        title = self.columns.get(name, {}).get("title")
        return f"{name}: {title}" if title else name.replace("_", " ")

    def of_experiments(self, rows):
        drawn = set(rows["experiment"])
        return [each for each in self.experiments if each.get("name") in drawn]

    def sweeps(self, rows, column):
        """{parameter: names of the scalings or laws that sweep it} of the values in `column`
        (scaling_value or entries_value); empty where the config does not tell."""
        label, key = (("scaling", "scalings") if column == "scaling_value"
                      else ("entries", "entries"))
        swept = set(rows.loc[rows[column].notna(), label])
        owners = {}
        for experiment in self.of_experiments(rows):
            for item in as_list(experiment.get(key)):
                name = isinstance(item, dict) and (item.get("name") or item.get("preset"))
                for parameter in find_sweeps(item) if name in swept else []:
                    owners.setdefault(parameter, {})[name] = None
        named = {name for names in owners.values() for name in names}
        return owners if named == swept else {}

    def axis_of_sweep(self, rows, column):
        """What the values in `column` are, such as "cap of the scaling capped"."""
        kind = "scaling" if column == "scaling_value" else "law"
        words = ", ".join(
            f"{parameter} of the {kind}{'s' if len(names) > 1 else ''} {' and '.join(names)}"
            for parameter, names in self.sweeps(rows, column).items())
        return words if words and len(words) <= 80 else self.column(column)

    def sweeps_power_of_d(self, rows):
        """Whether the swept numbers are the powers of d that scores are multiplied by."""
        parameters = self.sweeps(rows, "scaling_value")
        formulas = [item["logit"] for experiment in self.of_experiments(rows)
                    for item in as_list(experiment.get("scalings"))
                    if isinstance(item, dict) and isinstance(item.get("logit"), str)
                    and set(find_sweeps(item)) & set(parameters)]
        return bool(formulas) and all(
            any(re.search(rf"(?<!/ )\bd\s*\^\s*{re.escape(parameter)}\b", formula)
                for parameter in parameters) for formula in formulas)

    def hides_keys(self, rows):
        """Whether a causal mask hides keys from queries of these rows."""
        return any(isinstance(each.get("given"), dict) and each["given"].get("causal") is True
                   for each in self.of_experiments(rows))


def read_words(folder):
    config, package = read_json(folder / "config.json"), read_json(folder / "datapackage.json")
    description = config.get("description")
    words = Words(description if isinstance(description, str) else "",
                  [each for each in as_list(config.get("experiments")) if isinstance(each, dict)])
    for metric in as_list(package.get("metrics")):
        words.metrics[metric["name"]] = metric
    for resource in as_list(package.get("resources")):
        for each in resource.get("schema", {}).get("fields", []):
            words.columns.setdefault(each["name"], each)
    return words
