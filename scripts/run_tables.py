"""Reads the CSV files of a finished run and cuts them into what goes on one picture each.

Knows the columns, and nothing of colours or figures.
"""

KEY_TEXTS = ["experiment", "entries", "scaling", "metric"]
KEY_NUMBERS = ["entries_value", "d", "keys", "scaling_value"]
ESTIMATE_NUMBERS = ["queries", "estimate", "ci_low", "ci_high", "q05", "median", "q95", "reference"]
BIN_NUMBERS = ["bin_low", "bin_high", "count", "density"]


class RunError(Exception):
    """What the user can mend: one line, printed without a traceback."""


def read_csv(path, texts, numbers):
    """The columns named, of the types named; an empty cell is NaN or the empty string."""
    import pandas

    try:
        header = pandas.read_csv(path, nrows=0).columns
        missing = [name for name in texts + numbers if name not in header]
        if missing:
            raise RunError(f"{path} has no column {', '.join(missing)}")
        types = {**dict.fromkeys(texts, str), **dict.fromkeys(numbers, float)}
        frame = pandas.read_csv(path, usecols=texts + numbers, dtype=types, keep_default_na=False,
                                na_values={name: [""] for name in numbers},
                                float_precision="round_trip")
    except (OSError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise RunError(f"cannot read {path}: {str(error).splitlines()[0]}") from error
    return frame


def read_summary(folder):
    """The lines of summary.csv."""
    if not folder.is_dir():
        raise RunError(f"there is no folder {folder}")
    path = folder / "summary.csv"
    if not path.exists():
        runs = sorted(run.parent for run in folder.glob("*/summary.csv"))
        if runs:
            raise RunError(f"{folder} is no run, but holds runs; draw one of them, "
                           f"such as {runs[0]}")
        raise RunError(f"{path} is missing: the run has not finished. "
                       f"`attnscale run CONFIG --out {folder}` finishes it")
    frame = read_csv(path, KEY_TEXTS, KEY_NUMBERS + ESTIMATE_NUMBERS)
    if frame.empty:
        raise RunError(f"{path} holds no lines: the config asks for no metrics, "
                       "so there is nothing to draw")
    return frame


def read_histogram(folder):
    """The lines of histogram.csv; None where the run wrote none."""
    path = folder / "histogram.csv"
    return read_csv(path, KEY_TEXTS, KEY_NUMBERS + BIN_NUMBERS) if path.exists() else None


def choose_x(frame, wanted):
    """The column along the horizontal axis: as asked for, else the first that varies; a sweep of a
    scaling, or laws that outnumber the scalings, where there are no more than two d and key counts.
    A sweep is an axis only where at least half of the scalings are swept; else each of its values
    is a scaling among the others."""
    if wanted:
        if wanted in frame and (frame[wanted].isna() | (frame[wanted] == "")).all():
            raise RunError(f"the run has no {wanted} to draw against")
        return wanted
    counts = {name: frame[name].nunique()
              for name in ("d", "keys", "scaling_value", "entries_value", "scaling")}
    swept = frame.loc[frame["scaling_value"].notna(), "scaling"].nunique()
    sweep = "scaling_value" if 2 * swept >= counts["scaling"] else "scaling"
    few_sizes = max(counts["d"], counts["keys"]) <= 2
    scalings, laws = (len(frame[[name, f"{name}_value"]].drop_duplicates())
                      for name in ("scaling", "entries"))
    if few_sizes and frame["entries"].nunique() > 1 and laws > scalings:
        return "entries"
    if few_sizes and counts["scaling_value"] > 2:
        return sweep
    first = next((name for name, count in counts.items() if count > 1), "d")
    return sweep if first == "scaling_value" else first


def with_spread(frame, rows):
    """`rows`, with the measured spread of their logits in a column logit_sd of its own."""
    names = [name for name in KEY_TEXTS if name != "metric"] + KEY_NUMBERS
    spreads = frame[frame["metric"] == "logit_sd"][[*names, "estimate"]]
    if spreads.empty:
        raise RunError("the run has no logit_sd to draw against")
    return rows.merge(spreads.rename(columns={"estimate": "logit_sd"}), how="left", on=names)


def format_value(value):
    return value if isinstance(value, str) else f"{value:.10g}"


def split_by(frame, names):
    """(value of each name, rows) of every combination of values there is, in the run's order."""
    if not names:
        return [({}, frame)]
    by = names if len(names) > 1 else names[0]  # pandas 1.5 warns of a list of one
    return [({name: rows[name].iloc[0] for name in names}, rows)
            for _, rows in frame.groupby(by, sort=False, dropna=False)]


def split_pictures(frame, x):
    """(suffix of its name, what varies between pictures, rows) of each picture drawn against x."""
    axes = ["experiment", "entries", "entries_value", "d", "keys"]
    along = ("entries", "entries_value") if x == "entries" else (x,)
    varying = [name for name in axes
               if name not in along and frame[name].nunique(dropna=False) > 1]
    pictures = []
    for fixed, rows in split_by(frame, varying):
        said = {name: value for name, value in fixed.items() if value == value}  # NaN: has none
        suffix = "".join(f"-{name}_{format_value(value)}" for name, value in said.items())
        pictures.append((suffix, said, rows))
    return pictures
