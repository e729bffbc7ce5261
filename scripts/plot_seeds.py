"""Draws the intervals of runs that differ in their seed alone, around the exact value."""

from plot_looks import GRAY, HOLDS, MISSES, TEXT_SIZE, darker
from plot_parts import count_text, style_series, tell_facts, write_title
from plot_words import read_json
from run_tables import KEY_NUMBERS, RunError, format_value, read_summary, split_by, split_pictures

MOST_SIZES = 5


def settings_of(value, place=""):
    """{place: value} of every setting of a config."""
    if isinstance(value, dict):
        found = {}
        for key, each in value.items():
            found.update(settings_of(each, f"{place}/{key}"))
        return found
    return {place: value}


def numbers_of(folder):
    """The settings that decide what a run draws, its seed apart."""
    return settings_of({key: value for key, value in read_json(folder / "config.json").items()
                        if key not in ("seed", "description", "$schema", "name")})


def read_seeds(folders):
    """The lines of all runs, each with its seed."""
    import pandas

    frames, owners, first = [], {}, numbers_of(folders[0])
    for folder in folders:
        frame = read_summary(folder)
        ours = numbers_of(folder)
        differing = sorted(key for key in first.keys() | ours.keys()
                           if first.get(key) != ours.get(key))
        if differing:
            raise RunError(f"{folders[0]} and {folder} differ in more than their seed "
                           f"({differing[0]}); `attnscale report DIR...` shows such runs together")
        if frame.empty:
            raise RunError(f"{folder / 'summary.csv'} holds no lines: there is nothing to draw")
        seed = frame["seed"].iloc[0]
        if seed in owners:
            raise RunError(f"{owners[seed]} and {folder} have the same seed, {seed}")
        owners[seed] = folder
        frames.append(frame)
    return pandas.concat(frames, ignore_index=True)


def draw_panel(axes, rows):
    """The intervals of one cell under one scaling; returns how many hold the exact value and how
    many there are."""
    exact = rows["reference"].iloc[0]
    known = exact == exact
    holds = (rows["ci_low"] <= exact) & (exact <= rows["ci_high"])
    for place, (_, row) in enumerate(rows.iterrows()):
        colour = (HOLDS if holds.loc[row.name] else MISSES) if known else GRAY
        axes.plot([row["ci_low"], row["ci_high"]], [place, place], color=colour, linewidth=1.6)
        axes.plot([row["estimate"]], [place], color=colour, marker=".", markersize=5)
    middle = exact if known else rows["estimate"].mean()
    axes.axvline(middle, color="black", linewidth=1, linestyle="-" if known else "--")
    axes.set_yticks([])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(labelsize=TEXT_SIZE - 3)
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.xaxis.get_offset_text().set_size(TEXT_SIZE - 4)
    if known:
        axes.set_title(f"{holds.sum()} of {len(rows)} hold it", size=TEXT_SIZE - 2,
                       color="#333333", pad=3)
    return (holds.sum(), len(rows)) if known else (0, 0)


def draw_intervals(metric, rows, fixed, words, experiment, seeds):
    """The figure of one metric: a panel for each scaling and d, in it an interval for each seed."""
    from matplotlib import ticker
    from matplotlib.figure import Figure

    sizes = list(rows["d"].unique())
    sizes = sizes[::-(-len(sizes) // MOST_SIZES)]
    curves = style_series(rows, ["scaling", "scaling_value"], "scaling",
                          words.sweeps_power_of_d(rows))
    figure = Figure(figsize=(2.5 * len(sizes) + 1.2, (0.9 + 0.055 * seeds) * len(curves) + 1))
    grid = figure.subplots(len(curves), len(sizes), squeeze=False,
                           gridspec_kw={"wspace": 0.16, "hspace": 0.55})
    held = drawn = 0
    for place, (line, (label, colour, _, of_curve)) in enumerate(zip(grid, curves)):
        for axes, d in zip(line, sizes):
            chosen = of_curve[(of_curve["d"] == d) | (of_curve["d"].isna() & (d != d))]
            axes.xaxis.set_major_locator(ticker.MaxNLocator(2))
            if chosen.empty:
                axes.set_axis_off()
                continue
            here, of_here = draw_panel(axes, chosen.sort_values("seed"))
            held, drawn = held + here, drawn + of_here
            if place == len(curves) - 1 and d == d:
                axes.set_xlabel(f"d = {d:,.0f}", color=GRAY)
        line[0].set_ylabel(label, color=darker(colour))
    facts = [tell_facts(rows, fixed, words, experiment).replace("bars: ", "lines: ")]
    facts.append(f"{held} of {drawn} hold the exact value ({held / drawn:.1%}), the upright line"
                 if drawn else "no exact value is known; upright: the mean of the runs")
    above = figure.add_axes(grid[0][0].get_position().translated(
        0, 10 / 72 / figure.get_figheight()), frame_on=False)
    above.set_axis_off()
    write_title(above, f"{words.metric(metric)}: the intervals of {count_text(seeds, 'seed')}",
                "; ".join(facts), words, wide=len(sizes) > 3)
    return figure


def draw_seeds(frame, metrics, words):
    """(stem, figure) of every metric of several runs."""
    pictures = []
    seeds = frame["seed"].nunique()
    several = frame["experiment"].nunique() > 1
    for metric in metrics or list(frame["metric"].unique()):
        rows = frame[(frame["metric"] == metric) & frame["ci_low"].notna()]
        for each, of_experiment in split_by(rows, ["experiment"]) if not rows.empty else []:
            experiment = each["experiment"]
            for fixed, part in split_pictures(of_experiment, "d"):
                suffix = "".join(f"-{name}_{format_value(value)}" for name, value in fixed.items()
                                 if name in KEY_NUMBERS or name == "entries")
                named = f"-experiment_{experiment}" if several else ""
                pictures.append((f"seeds_{metric}{named}{suffix}",
                                 draw_intervals(metric, part, fixed, words,
                                                experiment if several else None, seeds)))
    return pictures
