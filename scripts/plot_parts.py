"""What the pictures of every kind share: colours of the curves, titles, what is shown."""

import textwrap

from plot_looks import (ABOVE_HALF, BELOW_HALF, BESIDE_RAMPS, CATEGORIES, GRAY, HALF_POWER,
                        MARKERS, RAMPS, STYLES, TEXT_SIZE, ramp)
from run_tables import format_value, name_with_value, split_by


def count_text(count, one, many=None):
    return f"{count:,.0f} {one if count == 1 else many or one + 's'}"


def colour_powers(values):
    """Of powers of d: the one that keeps logits the same is black, those on either side differ."""
    reach = max(abs(value + 0.5) for value in values) or 1
    colours = {}
    for value in values:
        share = abs(value + 0.5) / reach
        side = ABOVE_HALF if value > -0.5 else BELOW_HALF
        colours[value] = HALF_POWER if value == -0.5 else ramp(side, share)
    return colours


def colour_order(values, at=0):
    ordered = sorted(values)
    return {value: ramp(RAMPS[at % len(RAMPS)], place / max(len(ordered) - 1, 1))
            for place, value in enumerate(ordered)}


def swept_values(groups):
    """{scaling: its values} of those with at least three, which have an order to be shown."""
    values = {}
    for fixed, _ in groups:
        value = fixed.get("scaling_value", float("nan"))
        if value == value:
            values.setdefault(fixed["scaling"], set()).add(value)
    return {name: found for name, found in values.items() if len(found) >= 3}


def name_curve(fixed, varying):
    """The label of a curve, from the columns that vary between curves; else of its scaling."""
    parts = []
    if "scaling" in varying or "scaling_value" in varying or not varying:
        parts.append(name_with_value(fixed["scaling"], fixed.get("scaling_value", float("nan"))))
    if "entries" in varying or "entries_value" in varying:
        parts.append(name_with_value(fixed["entries"], fixed["entries_value"]))
    if "keys" in varying:
        parts.append(count_text(fixed["keys"], "key"))
    if "d" in varying:
        parts.append(f"d = {fixed['d']:,.0f}")
    return ", ".join(parts)


def style_series(rows, names, x, powers=False):
    """(label, colour, marker, rows) of each curve, in the run's order. Names get colours without an
    order, values of a sweep or of a size a ramp; `powers`: the sweep is one of powers of d."""
    groups = split_by(rows, names)
    varying = {name for name in names if len({str(fixed[name]) for fixed, _ in groups}) > 1}
    size = next((name for name in ("keys", "d") if name in varying), None)
    sizes = colour_order({fixed[size] for fixed, _ in groups}) if size else {}
    ramps = {name: colour_powers(values) if powers else colour_order(values, at)
             for at, (name, values) in enumerate(swept_values(groups).items())}
    names_of = BESIDE_RAMPS if ramps else CATEGORIES
    known, series = {}, []
    for fixed, group in groups:
        scaling, value = fixed["scaling"], fixed.get("scaling_value")
        law = (fixed.get("entries"), str(fixed.get("entries_value")))
        if scaling in ramps:
            colour = ramps[scaling][value]
            marker = MARKERS[list(ramps).index(scaling)]
        elif scaling in STYLES and "entries" not in varying:
            colour, marker = STYLES[scaling]
        else:
            at = known.setdefault((scaling, str(value), law), len(known))
            colour, marker = names_of[at % len(names_of)], MARKERS[-1 - at % len(MARKERS)]
        if size:
            colour = sizes[fixed[size]]
        group = group.sort_values(x) if x in group else group
        series.append((name_curve(fixed, varying), colour, marker, group))
    return series


def has_quantiles(rows):
    """Whether a median says anything: that of a fraction, whose queries are 0 or 1, jumps."""
    quantiles = rows[["q05", "median", "q95"]].stack()
    return not quantiles.empty and not quantiles.isin([0, 1]).all()


def choose_shows(metric, series):
    """What is drawn beside the means: less if there are many curves."""
    some = all(rows["median"].notna().any() or rows["estimate"].isna().all() for *_, rows in series)
    telling = any(has_quantiles(rows) for *_, rows in series)
    shows = {"median"} if some and telling and len(series) <= 7 else set()
    return shows | {"band"} if shows and len(series) <= 4 and metric != "slope" else shows


def tell_facts(rows, fixed, words, experiment):
    """What all points of a picture have in common; `fixed`: what other pictures have otherwise."""
    facts = [f"experiment {experiment}"] if experiment else []
    facts += [name_with_value(fixed["entries"], fixed.get("entries_value", float("nan")))
              ] if "entries" in fixed else []
    if "entries_value" in fixed and "entries" not in fixed:
        facts.append(f"{rows['entries'].iloc[0]} {format_value(fixed['entries_value'])}")
    if rows["d"].nunique() == 1:
        facts.append(f"d = {rows['d'].iloc[0]:,.0f}")
    if rows["keys"].nunique() == 1:
        most = "up to " if words.hides_keys(rows) else ""
        facts.append(f"each query against {most}{count_text(rows['keys'].iloc[0], 'key')}")
    if "queries" in rows:
        queries = sorted(rows["queries"].unique())
        few = "" if len(queries) == 1 else f"{queries[0]:,.0f} to "
        facts.append(f"{few}{count_text(queries[-1], 'query', 'queries')} per point")
    if "ci_low" in rows and rows["ci_low"].notna().any():
        facts.append("bars: 95 % intervals")
    return ", ".join(facts)


def write_title(axes, title, facts, words, wide=False):
    """The title, below it the config's description and the facts of all points."""
    lines = textwrap.wrap(words.description, 165 if wide else 100)
    if len(lines) > 2:
        lines = [lines[0], lines[1][:-1] + "…"]
    lines += textwrap.wrap(facts, 165 if wide else 100)
    place = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
    height = TEXT_SIZE * 1.35
    for at, line in enumerate(reversed(lines)):
        axes.annotate(line, (0, 1), xytext=(0, 12 + at * height), color=GRAY, size=TEXT_SIZE - 1,
                      **place)
    axes.annotate(title[0].upper() + title[1:], (0, 1), xytext=(0, 15 + len(lines) * height),
                  size=TEXT_SIZE + 4, weight="bold", **place)
