"""Reads the CSV files of a finished run and cuts them into what goes on one picture each.

Knows the columns, and nothing of colours or figures.
"""

from shlex import quote

RUN_COLUMNS = ["run", "seed"]
KEY_TEXTS = [*RUN_COLUMNS, "experiment", "entries", "scaling", "metric"]
KEY_NUMBERS = ["entries_value", "d", "keys", "scaling_value"]
ESTIMATE_NUMBERS = ["queries", "estimate", "ci_low", "ci_high", "q05", "median", "q95", "reference"]
BIN_NUMBERS = ["bin_low", "bin_high", "count", "density"]
BASELINE_NUMBERS = ["queries", "estimate", "baseline_queries", "baseline", "baseline_std_error",
                    "matched_queries", "matched", "matched_std_error"]
MOST_CURVES = 10
LAW = ["entries", "entries_value"]
SERIES = ["entries_series", "series"]  # the texts of two others each


class RunError(Exception):
    """What the user can mend: one line, printed without a traceback."""


def read_csv(path, texts, numbers, more_numbers=False):
    """The columns named, of the types named; an empty cell is NaN or the empty string. With
    `more_numbers`, all other columns as numbers too."""
    import pandas

    try:
        header = list(pandas.read_csv(path, nrows=0).columns)
        missing = [name for name in texts + numbers if name not in header]
        if missing:
            raise RunError(f"{path} has no column {', '.join(missing)}")
        others = [name for name in header
                  if more_numbers and name not in texts + numbers + SERIES]
        types = {**dict.fromkeys(texts, str), **dict.fromkeys(numbers + others, float)}
        frame = pandas.read_csv(path, usecols=list(types), dtype=types, keep_default_na=False,
                                na_values={name: [""] for name in numbers + others},
                                float_precision="round_trip")
    except (OSError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise RunError(f"cannot read {path}: {str(error).splitlines()[0]}") from error
    return frame


def read_if_there(path, texts, numbers, **options):
    return read_csv(path, texts, numbers, **options) if path.exists() else None


def find_run(folder):
    """Refuses what is no folder of a finished run, and says what it is instead."""
    if not folder.is_dir():
        raise RunError(f"there is no folder {folder}")
    path = folder / "summary.csv"
    if not path.exists():
        runs = sorted(run.parent for run in folder.glob("*/summary.csv"))
        if runs:
            raise RunError(f"{folder} is no run, but holds runs; draw one of them, "
                           f"such as {runs[0]}")
        raise RunError(f"{path} is missing: the run has not finished. "
                       f"`attnscale run CONFIG --out {quote(str(folder))}` finishes it")
    return path


def read_summary(folder):
    """The lines of summary.csv."""
    return read_csv(find_run(folder), [*KEY_TEXTS, "status"], KEY_NUMBERS + ESTIMATE_NUMBERS)


def read_histogram(folder):
    """The lines of histogram.csv; None if there is none, here and below."""
    return read_if_there(folder / "histogram.csv", KEY_TEXTS, KEY_NUMBERS + BIN_NUMBERS)


def read_samples(folder):
    texts = [name for name in KEY_TEXTS if name != "metric"]
    return read_if_there(folder / "samples.csv", texts, [*KEY_NUMBERS, "query"], more_numbers=True)


def read_weights(folder):
    return read_if_there(folder / "weights.csv", ["experiment", "scaling"],
                         ["head", "query", "key", "logit", "weight"])


def read_outputs(folder):
    return read_if_there(folder / "outputs.csv", ["experiment", "scaling"],
                         ["head", "query", "component", "output"])


def read_baselines(folder):
    texts = [name for name in KEY_TEXTS if name != "entries"]
    numbers = [name for name in KEY_NUMBERS if name != "entries_value"]
    return read_if_there(folder / "baselines.csv", texts, numbers + BASELINE_NUMBERS)


def name_with_value(name, value):
    """"power -0.25": a scaling or a law as the program calls it."""
    return name if value != value else f"{name} {value:.6g}"


def count_of(frame, names):
    return len(frame[names].drop_duplicates())


def choose_x(rows, wanted):
    """The column along the horizontal axis of one experiment: as asked for, None if that does not
    vary; else the first that varies; a sweep of a scaling, or laws that outnumber the scalings, if
    there are no more than two d and key counts. A sweep is an axis only if at least half of the
    scalings are swept; else each of its values is a scaling among the others."""
    counts = {name: rows[name].nunique()
              for name in ("d", "keys", "scaling_value", "entries_value", "scaling")}
    scalings, laws = count_of(rows, ["scaling", "scaling_value"]), count_of(rows, LAW)
    if wanted == "scaling":
        return wanted
    if wanted:
        varies = {"entries": laws, "logit_sd": 2}.get(wanted, counts.get(wanted))
        return wanted if varies > 1 else None
    swept = rows.loc[rows["scaling_value"].notna(), "scaling"].nunique()
    sweep = "scaling_value" if 2 * swept >= counts["scaling"] else "scaling"
    few_sizes = max(counts["d"], counts["keys"]) <= 2
    if few_sizes and rows["entries"].nunique() > 1 and laws > scalings:
        return "entries"
    if few_sizes and counts["scaling_value"] > 2:
        return sweep
    first = next((name for name, count in counts.items() if count > 1), None)
    if first is None:
        return "scaling"  # a single point: a line of text and its dot
    return sweep if first == "scaling_value" else first


def with_spread(frame, rows):
    """`rows`, with the measured spread of their logits in a column logit_sd of its own."""
    names = [name for name in KEY_TEXTS if name != "metric"] + KEY_NUMBERS
    spreads = frame[frame["metric"] == "logit_sd"][[*names, "estimate"]]
    if spreads.empty:
        raise RunError("the run has no logit_sd to draw against")
    joined = rows.merge(spreads.rename(columns={"estimate": "logit_sd"}), how="left", on=names)
    return joined[joined["logit_sd"].notna()]


def format_value(value):
    return value if isinstance(value, str) else f"{value:.10g}"


def split_by(frame, names):
    """(value of each name, rows) of every combination of values there is, in the run's order."""
    if not names:
        return [({}, frame)]
    by = names if len(names) > 1 else names[0]  # pandas 1.5 warns of a list of one
    return [({name: rows[name].iloc[0] for name in names}, rows)
            for _, rows in frame.groupby(by, sort=False, dropna=False)]


def columns_of_curves(rows, x):
    """The columns that tell the curves of one picture from each other: the scaling, and what else
    varies if there is one scaling alone."""
    if x == "logit_sd":  # a curve runs through the values of a sweep, or through the d
        return ["scaling", "keys"] + ["scaling_value"] * (rows["d"].nunique() > 1)
    names = ["scaling"] if x == "scaling_value" else ["scaling", "scaling_value"]
    if count_of(rows, names) == 1 and x in ("d", "keys", "scaling_value"):
        for more in (["keys"], ["d"], LAW):
            if x not in more and 1 < count_of(rows, more) <= MOST_CURVES:
                return names + more
    return names


def suffix_of(fixed):
    """What the name of a picture says of it: "-experiment_plain-d_4"."""
    return "".join(f"-{name}_{format_value(value)}" for name, value in fixed.items())


def split_pictures(rows, x):
    """(what varies between pictures, rows) of each picture of one experiment against x."""
    along = [*columns_of_curves(rows, x), *(LAW if x == "entries" else [x])]
    if x == "logit_sd":
        along.append("d")
    varying = [name for name in [*LAW, "d", "keys"]
               if name not in along and rows[name].nunique(dropna=False) > 1]
    return [({name: value for name, value in fixed.items() if value == value}, part)  # NaN: none
            for fixed, part in split_by(rows, varying)]
