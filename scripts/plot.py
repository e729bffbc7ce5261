#!/usr/bin/env python3
"""Draws the pictures of a finished run from its CSV files.

One picture per metric (and per experiment, law, d or key count where the run has several) goes to
DIR/figures, as SVG and PNG; histogram.csv, where there is one, is drawn as well. config.json beside
them names what is swept; without it the axes say less. The same files give the same bytes: nothing
but they and the versions of matplotlib and pandas goes in.
"""

import argparse
import logging
import math
import os
import subprocess
import sys
from pathlib import Path

from plot_dots import draw_laws, draw_scalings
from plot_looks import (DOTTED, GRAY, GUIDE, MEDIAN, METRIC_WORDS, STYLE, STYLES, TEXT_SIZE,
                        X_WORDS)
from plot_names import name_sweeps, read_experiments, sees_fewer_keys
from plot_parts import choose_shows, darker, style_series, tell_fact, write_title
from run_tables import (RunError, choose_x, read_histogram, read_summary, split_pictures,
                        with_spread)

LESSON_METRICS = ["logit_sd", "top_weight", "slope"]
SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's, which Debian's python3-matplotlib is for
RESTARTED = "ATTNSCALE_PLOT_RESTARTED"


def spread_apart(wanted, gap):
    """The positions in [0, 1] nearest to `wanted` (ascending), at least `gap` apart."""
    blocks = []  # [sum of wanted minus own offset, count]: runs of labels that touch
    for index, position in enumerate(wanted):
        blocks.append([position - index * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    starts = [total / count for total, count in blocks for _ in range(count)]
    highest = max(1 - (len(wanted) - 1) * gap, 0)
    return [min(max(start, 0), highest) + index * gap for index, start in enumerate(starts)]


def label_curves(axes, ends):
    """Writes each curve's name at the right, beside its last point (label, colour, x, y)."""
    height = axes.get_position().height * axes.figure.get_figheight() * 72
    to_fraction = axes.transScale + axes.transLimits
    placed = sorted(((to_fraction.transform((x, y)), label, colour)
                     for label, colour, x, y in ends), key=lambda end: end[0][1])
    for ((x, y), label, colour), at in zip(
            placed, spread_apart([end[0][1] for end in placed], TEXT_SIZE * 1.3 / height)):
        axes.plot([x, 1.0, 1.025], [y, at, at], color=colour, linewidth=0.9, alpha=0.6,
                  transform=axes.transAxes, clip_on=False, zorder=1)
        axes.text(1.035, at, label, color=darker(colour), va="center", transform=axes.transAxes)


def set_x_axis(axes, rows, x, words):
    from matplotlib import ticker

    axes.set_xlabel(words)
    values = sorted(rows[x].dropna().unique())
    if x in ("scaling_value", "logit_sd") or values[0] <= 0:
        return
    axes.set_xscale("log", base=2)
    axes.set_xlim(values[0] / 1.3, values[-1] * 1.3)
    step = -(-len(values) // 8)
    axes.xaxis.set_major_locator(ticker.FixedLocator(values[::step]))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.xaxis.set_minor_locator(ticker.NullLocator())


def set_log_y(axes):
    from matplotlib import ticker

    axes.set_yscale("log", nonpositive="mask")
    low, high = axes.get_ylim()
    if high < 300 * low:
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    if low > 1e-4 and high < 1e6:
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())


def draw_curves(axes, series, x, shows):
    """Means, and what `shows` names of "median" and "band", the middle 90 % of the queries."""
    right = max(value for *_, rows in series for value in rows[x].dropna())
    ends = []
    for label, colour, marker, rows in series:
        # A scaling without a value has no place on this axis: a level line across it.
        if x == "scaling_value" and rows[x].isna().all():
            level = rows["estimate"].iloc[0]
            axes.axhline(level, color=colour, linestyle=DOTTED)
            ends.append((label, colour, right, level))
            continue
        at = rows[x]
        if "band" in shows:
            axes.fill_between(at, rows["q05"], rows["q95"], color=colour, alpha=0.13, linewidth=0)
        axes.plot(at, rows["reference" if is_exact(rows) else "estimate"], color=colour)
        bars = [rows["estimate"] - rows["ci_low"], rows["ci_high"] - rows["estimate"]]
        axes.errorbar(at, rows["estimate"], yerr=[bar.fillna(0).clip(lower=0) for bar in bars],
                      linestyle="none", marker=marker, color=colour, capsize=3)
        if "median" in shows:
            axes.plot(at, rows["median"], color=colour, marker=marker, clip_on=False, **MEDIAN)
        ends.append((label, colour, at.iloc[-1], rows["estimate"].iloc[-1]))
    return ends


def draw_powers(axes, sizes):
    """The lines sqrt(d), 1 and 1/sqrt(d), from edge to edge, named between two middle sizes."""
    edges = axes.get_xlim()
    middle = len(sizes) // 2
    between = math.sqrt(sizes[middle - 1] * sizes[middle])
    for power, text, shift, side in ((0.5, "√d", -6, "right"), (0, "1", 0, "center"),
                                     (-0.5, "1/√d", 6, "left")):
        axes.plot(edges, [edge ** power for edge in edges], **GUIDE)
        axes.annotate(text, (between, between ** power), xytext=(shift, 4), color=GRAY, ha=side,
                      textcoords="offset points", va="bottom")
    axes.set_xlim(edges)


def is_exact(rows):
    return rows["reference"].notna().all()


def explain(axes, rows, shows, limit, columns):
    """A legend below the picture of what its kinds of lines and markers mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    per_query = rows["median"].notna().any()
    measured = "mean of the queries" if per_query else "measured"
    line = "none" if is_exact(rows) else "-"
    kinds = [Line2D([], [], color=GRAY, marker="o", linestyle=line, label=measured)]
    if is_exact(rows):
        kinds.append(Line2D([], [], color=GRAY, label="exact mean" if per_query else "exact"))
    if "median" in shows:
        kinds.append(Line2D([], [], color=GRAY, marker="o", label="median", **MEDIAN))
    if "band" in shows:
        kinds.append(Patch(color=GRAY, alpha=0.2, linewidth=0, label="middle 90 % of the queries"))
    if limit:
        kinds.append(Line2D([], [], label=limit, **GUIDE))
    axes.legend(handles=kinds, loc="upper left", bbox_to_anchor=(-0.01, -0.15), ncol=columns,
                columnspacing=1.6, handlelength=2.4, borderaxespad=0)


def draw_metric(metric, rows, x, fixed, experiments):
    """The figure of one metric; the slope has a linear panel and a log one."""
    from matplotlib.figure import Figure

    masked = sees_fewer_keys(experiments, rows)
    if x == "scaling":
        return draw_scalings(metric, rows, fixed, masked)
    if x == "entries":
        return draw_laws(metric, rows, fixed, masked)
    sweep = name_sweeps(experiments, rows, x) if x in ("scaling_value", "entries_value") else None
    y_words, lesson_title = METRIC_WORDS.get(metric, (metric.replace("_", " "), None))
    tells_lesson = lesson_title and x == "d" and (rows["scaling"] == "none").any()
    title = lesson_title if tells_lesson else y_words[0].upper() + y_words[1:]
    any_slope = metric == "slope" and rows["estimate"].max() > 0
    panels = 2 if any_slope else 1  # a log axis has no place for slopes of 0
    figure = Figure(figsize=(7.2 if panels == 1 else 11.5, 4.9))
    panel = figure.subplots(1, panels, squeeze=False, gridspec_kw={"wspace": 0.27})[0]
    series = style_series(rows, x)
    shows = choose_shows(metric, series)
    for axes in panel:
        ends = draw_curves(axes, series, x, shows)
        set_x_axis(axes, rows, x, sweep or X_WORDS[x])
    first, last = panel[0], panel[-1]
    first.set_ylabel(y_words)
    limit = None
    if x == "logit_sd":
        limit = "√(2 ln keys), critical in the limit of endless keys (asymptotic)"
        first.axvline(math.sqrt(2 * math.log(rows["keys"].iloc[0])), **GUIDE)
    elif metric == "logit_sd":
        if x == "d" and rows["d"].nunique() > 1 and set(rows["scaling"]) <= set(STYLES):
            draw_powers(first, sorted(rows["d"].unique()))
        if rows["estimate"].max() > 0:
            set_log_y(first)
    elif metric == "slope":
        first.set_ylim(0, 0.28)
        limit = "at most 1/4"
        first.axhline(0.25, **GUIDE)
        if any_slope:
            set_log_y(last)
            last.set_ylabel("the same on a log axis")
    elif metric == "top_weight":
        if rows["estimate"].max() > 100 * rows["estimate"].min() > 0:
            set_log_y(first)
            first.set_ylim(top=1.3)
        else:
            first.set_ylim(0, 1.04)
        if rows["keys"].nunique() == 1:
            limit = f"equal weights: 1/{rows['keys'].iloc[0]:,.0f}"
            first.axhline(1 / rows["keys"].iloc[0], **GUIDE)
    elif rows["estimate"].max() > 50 * rows["estimate"].min() > 0:
        set_log_y(first)
    label_curves(last, ends)
    explain(first, rows, shows, limit, columns=3 * len(panel))
    write_title(first, title, rows, fixed, masked)
    return figure


def tell_of_bins(bins):
    """Lines of text about the values of one panel that have no place on its axis."""
    if bins.empty:
        return []
    total = bins["count"].sum()
    if total == 0:
        return ["no finite value"]
    ends = bins[bins["density"].isna()]
    lower, higher = ends["bin_low"].isna(), ends["bin_high"].isna()
    places = [(lower, "lower"), (higher, "higher")]
    places += [(ends["bin_low"] == at, f"at {at:.6g}")  # a bin without a width
               for at in ends.loc[~lower & ~higher, "bin_low"]]
    counts = [(ends.loc[chosen, "count"].sum(), words) for chosen, words in places]
    return [f"{count:,.0f} of {total:,.0f} {words}" for count, words in counts if count]


def draw_bins(axes, bins, colour):
    """The bars of one panel; without an axis where there is none, since all values are the same or
    none is finite."""
    from matplotlib import ticker

    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(False)
    shown = bins[bins["density"].notna()]
    if shown.empty:
        axes.set_xticks([])
        return
    axes.stairs(shown["density"], [*shown["bin_low"], shown["bin_high"].iloc[-1]], color=colour,
                fill=True, alpha=0.85)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(ticker.MaxNLocator(3))
    axes.tick_params(labelsize=TEXT_SIZE - 2)


def draw_histograms(metric, frame, fixed):
    """The distribution of one metric: a panel for each scaling and d, each with its own axes. What
    lies beyond the axis is told in words above the panel."""
    from matplotlib.figure import Figure

    sizes = list(frame["d"].unique())
    step = -(-len(sizes) // 5)
    sizes = sizes[::step]
    curves = style_series(frame, "d")
    figure = Figure(figsize=(2.3 * len(sizes) + 1.2, 1.9 * len(curves) + 1))
    grid = figure.subplots(len(curves), len(sizes), squeeze=False,
                           gridspec_kw={"wspace": 0.22, "hspace": 0.5})
    most_lines = 0  # above a panel of the first row
    for line, (label, colour, _, rows) in zip(grid, curves):
        for axes, d in zip(line, sizes):
            bins = rows[(rows["d"] == d) | (rows["d"].isna() & (d != d))].sort_values("bin_low")
            draw_bins(axes, bins, colour)
            words = tell_of_bins(bins)
            axes.annotate("\n".join(words), (0.5, 1), xytext=(0, 2), size=TEXT_SIZE - 3,
                          xycoords="axes fraction", textcoords="offset points", ha="center",
                          va="bottom", color=GRAY)
            if axes in grid[0]:
                most_lines = max(most_lines, len(words))
        line[0].set_ylabel(label, color=darker(colour))
    shift = most_lines * (TEXT_SIZE - 1)
    for axes, d in zip(grid[0], sizes):
        axes.set_title(f"d = {d:,.0f}" if d == d else "given", size=TEXT_SIZE, color=GRAY,
                       pad=6 + shift)
    words = METRIC_WORDS.get(metric, (metric.replace("_", " "),))[0]
    if metric in ("slope", "score_slope"):
        words = f"log10 of the {words}"
    facts = "".join(f", {tell_fact(name, value)}" for name, value in fixed.items())
    grid[0][0].annotate(f"How often: {words}{facts}", (0, 1), xytext=(0, 30 + shift),
                        size=TEXT_SIZE + 4, xycoords="axes fraction",
                        textcoords="offset points", weight="bold")
    return figure


def save(figure, stem, formats):
    """Writes the figure whole or not at all, without the date matplotlib puts in by default."""
    undated = {"svg": {"Date": None}, "png": {"Software": None},
               "pdf": {"CreationDate": None, "Producer": None, "Creator": None}}
    for kind in formats:
        path = stem.with_name(f"{stem.name}.{kind}")
        part = stem.with_name(f"{stem.name}.{kind}.tmp")
        figure.savefig(part, format=kind, metadata=undated[kind], bbox_inches="tight",
                       pad_inches=0.15)
        os.replace(part, path)
        print(path)


def draw_run(folder, metrics, wanted_x, formats):
    frame, bins, experiments = (read_summary(folder), read_histogram(folder),
                                read_experiments(folder))
    measured = list(frame["metric"].unique())
    for metric in metrics:
        if metric not in measured:
            raise RunError(f"the run has no metric {metric}; it has {', '.join(measured)}")
    drawn = metrics or [name for name in LESSON_METRICS if name in measured] or measured
    figures = folder / "figures"
    try:
        figures.mkdir(exist_ok=True)
        for metric in drawn:
            rows = frame[(frame["metric"] == metric) & frame["estimate"].notna()]
            x = choose_x(rows, wanted_x)
            if x == "logit_sd":
                rows = with_spread(frame, rows)
            if x not in ("scaling_value", "scaling", "entries"):  # given numbers may have no d
                rows = rows[rows[x].notna()]
            if rows.empty:
                print(f"plot.py: {metric} has nothing to draw against {x}", file=sys.stderr)
                continue
            for suffix, fixed, part in split_pictures(rows, x):
                # An experiment beside the one whose scalings are swept may sweep none.
                along = "scaling" if part[x].isna().all() else x
                save(draw_metric(metric, part, along, fixed, experiments),
                     figures / (metric + suffix), formats)
        for metric in [] if bins is None else bins["metric"].unique():
            if metrics and metric not in metrics:
                continue
            for suffix, fixed, part in split_pictures(bins[bins["metric"] == metric], "d"):
                save(draw_histograms(metric, part, fixed),
                     figures / f"histogram_{metric}{suffix}", formats)
    except OSError as error:
        raise RunError(f"cannot write to {figures}: {error.strerror}") from error


def restart_with_system_python():
    """Runs this script anew where only the system's python3 has matplotlib, at most once; returns
    where that is of no help."""
    if RESTARTED in os.environ or sys.executable == SYSTEM_PYTHON:
        return
    flags = ["-B"] if sys.dont_write_bytecode else []
    try:
        subprocess.run([SYSTEM_PYTHON, "-c", "import matplotlib, pandas"], check=True,
                       capture_output=True)
        os.execve(SYSTEM_PYTHON, [SYSTEM_PYTHON, *flags, os.path.abspath(__file__), *sys.argv[1:]],
                  {**os.environ, RESTARTED: "1"})
    except (OSError, subprocess.CalledProcessError):
        return


def main():
    parser = argparse.ArgumentParser(prog="plot.py", allow_abbrev=False, description=(
        "Draws the pictures of a finished run: DIR/figures/*.svg and *.png, from its CSV files."))
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder of a finished run")
    parser.add_argument("--metric", metavar="M", action="append", default=[], help=(
        "draw this metric of summary.csv; may be repeated (default: logit_sd, top_weight, slope)"))
    parser.add_argument("--x", choices=list(X_WORDS), help=(
        "what goes along the horizontal axis (default: what varies; scaling and entries, the laws, "
        "stand below each other; logit_sd, the measured spread of the logits, only where it is "
        "asked for)"))
    parser.add_argument("--pdf", action="store_true", help="write a PDF of each picture as well")
    arguments = parser.parse_args()
    # Where the home cannot be written to, matplotlib uses a temporary folder; no need to say so.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        import matplotlib
        import pandas  # noqa: F401
    except ImportError as error:
        restart_with_system_python()
        sys.exit(f"plot.py: {sys.executable} has no {error.name}. On Debian: "
                 "apt-get install python3-matplotlib python3-pandas, then use /usr/bin/python3")
    try:
        matplotlib.rcdefaults()  # a personal matplotlibrc must not change a picture
        with matplotlib.rc_context(STYLE):
            draw_run(arguments.folder, arguments.metric, arguments.x,
                     ["svg", "png"] + ["pdf"] * arguments.pdf)
    except RunError as error:
        print(f"plot.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
