"""What the CSV files do not say and the run's config.json does: which parameter is swept, which
queries see fewer keys than there are. Without that file, or in one of another shape, no names."""

import json


def read_experiments(folder):
    """The experiments of DIR/config.json; none where it cannot be read."""
    try:
        experiments = json.loads((folder / "config.json").read_text())["experiments"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    if not isinstance(experiments, list):
        return []
    return [each for each in experiments if isinstance(each, dict)]


def is_pair(gain):
    return len(gain) == 2 and not isinstance(gain[0], list)


def find_sweeps(item):
    """The keys of a scaling or law that hold a list of values: {"nu": [2.5, 5]} gives ["nu"]. A
    gain in a list of two is a pair, and one in lists of one is swept."""
    sweeps = []
    for key, value in item.items():
        if isinstance(value, dict):
            sweeps += find_sweeps(value)
        elif isinstance(value, list) and not (key == "gain" and is_pair(value)):
            sweeps.append(key)
    return sweeps


def name_sweeps(experiments, rows, column):
    """What the values in `column` ("scaling_value" or "entries_value") are, such as "softcap of
    capped"; None where the config does not tell, or they are too many to name."""
    label, key = (("scaling", "scalings") if column == "scaling_value" else ("entries", "entries"))
    swept = set(rows.loc[rows[column].notna(), label])
    drawn = set(rows["experiment"])
    owners = {}  # of each parameter
    for experiment in experiments:
        items = experiment.get(key, []) if experiment.get("name") in drawn else []
        for item in items if isinstance(items, list) else []:
            name = isinstance(item, dict) and (item.get("name") or item.get("like"))
            for parameter in find_sweeps(item) if name in swept else []:
                owners.setdefault(parameter, {})[name] = None
    if {name for names in owners.values() for name in names} != swept:
        return None
    words = ", ".join(f"{parameter} of {' and '.join(names)}"
                      for parameter, names in owners.items())
    return words if words and len(words) <= 60 else None


def sees_fewer_keys(experiments, rows):
    """Whether a causal mask hides keys from queries of these rows."""
    drawn = set(rows["experiment"])
    return any(isinstance(each.get("given"), dict) and each["given"].get("causal") is True
               for each in experiments if each.get("name") in drawn)
