"""What the pictures of every kind share: colours of the scalings, titles, what is shown."""

import math

from plot_looks import GRAY, MORE_MARKERS, MORE_STYLES, SCALING_WORDS, STYLES, TEXT_SIZE
from run_tables import format_value, split_by


def style_series(rows, x):
    """(label, colour, marker, rows) of each curve, in the run's order."""
    import matplotlib

    names = ["scaling"] if x in ("scaling_value", "logit_sd") else ["scaling", "scaling_value"]
    groups = split_by(rows, names)
    count = sum(fixed["scaling"] not in STYLES for fixed, _ in groups)
    shades = matplotlib.colormaps["cividis"]
    more = MORE_STYLES if count <= len(MORE_STYLES) else [
        (matplotlib.colors.to_hex(shades(0.9 * at / (count - 1))), MORE_MARKERS[at % 8])
        for at in range(count)]
    unused = iter(more)
    series = []
    for fixed, group in groups:
        scaling, value = fixed["scaling"], fixed.get("scaling_value", float("nan"))
        colour, marker = STYLES[scaling] if scaling in STYLES else next(unused)
        label = SCALING_WORDS.get(scaling, scaling)
        if not math.isnan(value):
            label += f" {value:.6g}"
        series.append((label, colour, marker, group.sort_values(x)))
    return series


def darker(colour):
    """The colour for text: pale colours are hard to read on white."""
    from matplotlib.colors import rgb_to_hsv, hsv_to_rgb, to_rgb

    hue, saturation, value = rgb_to_hsv(to_rgb(colour))
    return hsv_to_rgb((hue, saturation, min(value, 0.72)))


def choose_shows(metric, series):
    """What is drawn beside the means: less where there are many curves."""
    per_query = all(rows["median"].notna().all() for *_, rows in series)
    shows = {"median"} if per_query and len(series) <= 7 else set()
    return shows | {"band"} if shows and len(series) <= 4 and metric != "slope" else shows


def tell_fact(name, value):
    """What all points of a picture have in common, as its title says it."""
    if name == "keys":
        return f"{value:,.0f} key" + ("s" if value > 1 else "")
    return f"d = {value:,.0f}" if name == "d" else format_value(value)


def write_title(axes, title, rows, fixed, masked):
    """The title, and below it the facts of all points; `masked`: some queries see fewer keys."""
    queries = sorted(rows["queries"].unique())
    facts = [f"{queries[0]:,.0f} queries per point" if len(queries) == 1 else
             f"{queries[0]:,.0f} to {queries[-1]:,.0f} queries per point"]
    if rows["keys"].nunique() == 1:
        keys = rows["keys"].iloc[0]
        most = "up to " if masked else ""
        facts.append(f"each against {most}{keys:,.0f} key" + ("s" if keys > 1 else ""))
    if rows["d"].nunique() == 1:
        facts.append(f"d = {rows['d'].iloc[0]:,.0f}")
    facts += [format_value(value) for name, value in fixed.items() if name not in ("keys", "d")]
    if rows["ci_low"].notna().any():
        facts.append("bars: 95 % intervals")
    place = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
    axes.annotate(title, (0, 1), xytext=(0, 30), size=TEXT_SIZE + 4, weight="bold", **place)
    axes.annotate(", ".join(facts), (0, 1), xytext=(0, 12), color=GRAY, **place)
