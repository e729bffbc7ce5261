"""Draws one metric against a number: a curve for each scaling, or for each value of a sweep."""

import math

from plot_looks import DOTTED, EXACT, GRAY, GUIDE, JOIN, MEDIAN, STYLES, TEXT_SIZE, darker
from plot_parts import choose_shows, count_text, style_series, tell_facts, write_title
from run_tables import columns_of_curves

LEAST_MEDIAN = 1e-10  # of a slope; a lower one leaves the axis, which it would stretch


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
    """Writes each curve's name at the right of the plot, with a line to it in the margin alone: no
    line that could be taken for data. `ends` are (label, colour, x, y)."""
    height = axes.get_position().height * axes.figure.get_figheight() * 72
    axes.get_ylim()  # settles the limits that the transformation rests on
    to_fraction = axes.transScale + axes.transLimits
    placed = sorted(((min(max(to_fraction.transform((x, y))[1], 0), 1), label, colour)
                     for label, colour, x, y in ends), key=lambda end: end[0])
    gap = min(TEXT_SIZE * 1.3 / height, 1 / max(len(placed) - 1, 1))
    for (y, label, colour), at in zip(placed, spread_apart([end[0] for end in placed], gap)):
        axes.plot([1.002, 1.025], [y, at], color=colour, linewidth=0.9, alpha=0.6,
                  transform=axes.transAxes, clip_on=False, zorder=1)
        axes.text(1.035, at, label, color=darker(colour), va="center", transform=axes.transAxes)


def set_x_axis(axes, rows, x, words):
    from matplotlib import ticker

    axes.set_xlabel(words)
    values = sorted(rows[x].dropna().unique())
    if x == "logit_sd":
        if values[0] > 0 and values[-1] > 30 * values[0]:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        return
    if x == "scaling_value" or values[0] <= 0:
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


def draw_points(axes, at, rows, colour, marker):
    """The estimates and their intervals; an open marker where there is no interval."""
    known = rows["ci_low"].notna() & rows["ci_high"].notna()
    with_bars = rows[known]
    bars = [(with_bars["estimate"] - with_bars["ci_low"]).clip(lower=0),
            (with_bars["ci_high"] - with_bars["estimate"]).clip(lower=0)]
    axes.errorbar(at[known], with_bars["estimate"], yerr=bars, linestyle="none", marker=marker,
                  color=colour, capsize=3)
    axes.plot(at[~known], rows.loc[~known, "estimate"], linestyle="none", marker=marker,
              color=colour, markerfacecolor="white")


def draw_samples(axes, samples, at, colour):
    """Single queries as dots, each a little beside its size so that they can be told apart."""
    step = [0.94 + 0.12 * (place * 0.618034 % 1) for place in range(len(samples))]
    axes.plot([at * each for each in step], samples, linestyle="none", marker=".", markersize=2.5,
              alpha=0.35, color=colour, zorder=1)


def draw_curves(axes, series, x, shows):
    """Means, and what `shows` names of "median" and "band", the middle 90 % of the queries. Returns
    (label, colour, x, y) of each curve's end."""
    right = max(value for *_, rows in series
                for value in rows.loc[rows["estimate"].notna(), x].dropna())
    ends = []
    for label, colour, marker, rows in series:
        # A scaling without a value has no place on this axis: a level line across it.
        if x == "scaling_value" and rows[x].isna().all():
            for level in rows["estimate"].dropna():
                axes.axhline(level, color=colour, linestyle=DOTTED)
                ends.append((label, colour, right, level))
            continue
        at = rows[x]
        if "band" in shows:
            axes.fill_between(at, rows["q05"], rows["q95"], color=colour, alpha=0.13, linewidth=0)
        # Where an estimate is missing, so is the line.
        axes.plot(at, rows["estimate"], color=colour, **JOIN)
        axes.plot(at, rows["reference"], color=darker(colour), zorder=3, **EXACT)
        draw_points(axes, at, rows, colour, marker)
        if "median" in shows:
            axes.plot(at, rows["median"], color=colour, marker="o", clip_on=False, **MEDIAN)
        measured = rows[rows["estimate"].notna()]
        if measured.empty:
            continue
        end, level = measured[x].iloc[-1], measured["estimate"].iloc[-1]
        if end < right and x != "logit_sd":
            axes.plot([end], [level], marker="x", markersize=12, markeredgewidth=1.6,
                      color=darker(colour), zorder=4)
            label += f" (ends at {end:,.6g})"
        ends.append((label, colour, end, level))
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


def explain(axes, series, shows, guide, columns, samples):
    """A legend below the picture of what its kinds of lines and markers mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def any_of(column):
        return any(rows[column].notna().any() for *_, rows in series)

    mean = "mean of the queries" if any_of("median") else "measured"
    kinds = []
    if any_of("ci_low"):
        kinds.append(Line2D([], [], color=GRAY, marker="o", label=mean, **JOIN))
    if any((rows["estimate"].notna() & rows["ci_low"].isna()).any() for *_, rows in series):
        kinds.append(Line2D([], [], color=GRAY, marker="o", markerfacecolor="white",
                            label=f"{mean}, no interval", **JOIN))
    if any_of("reference"):
        kinds.append(Line2D([], [], color=GRAY, label="exact", **EXACT))
    if "median" in shows:
        kinds.append(Line2D([], [], color=GRAY, marker="o", label="median", **MEDIAN))
    if "band" in shows:
        kinds.append(Patch(color=GRAY, alpha=0.2, linewidth=0, label="middle 90 % of the queries"))
    if samples:
        kinds.append(Line2D([], [], color=GRAY, marker=".", linestyle="none",
                            label="single queries"))
    if guide:
        kinds.append(Line2D([], [], label=guide, **GUIDE))
    axes.legend(handles=kinds, loc="upper left", bbox_to_anchor=(-0.01, -0.15), ncol=columns,
                columnspacing=1.6, handlelength=2.4, borderaxespad=0)


def draw_critical(axes, series):
    """sqrt(2 ln keys): beyond this spread one key takes all, in the limit of endless keys."""
    found = {rows["keys"].iloc[0]: colour for _, colour, _, rows in series
             if rows["keys"].iloc[0] > 1}
    for keys, colour in found.items():
        line = GUIDE if len(found) == 1 else {**GUIDE, "color": colour}
        axes.axvline(math.sqrt(2 * math.log(keys)), **line)
    return "√(2 ln keys), critical in the limit of endless keys (asymptotic)" if found else None


def set_y_axis(panel, metric, rows, series, x):
    """The vertical axes of a metric's panels and what guides the eye there; its words, or None."""
    first, last = panel[0], panel[-1]
    low, high = rows["estimate"].min(), rows["estimate"].max()
    if metric == "logit_sd":
        if (x == "d" and rows["d"].nunique() > 1 and set(rows["scaling"]) <= set(STYLES)):
            draw_powers(first, sorted(rows["d"].unique()))
        if low > 0:
            set_log_y(first)
    elif metric == "slope":
        first.set_ylim(0, 0.28)
        first.axhline(0.25, **GUIDE)
        if last is not first:
            set_log_y(last)
            last.set_ylabel("the same on a log axis")
            drawn = rows[["estimate", "reference"]].stack()
            medians = rows["median"][rows["median"] > 0]
            least = min(drawn[drawn > 0].min(), max(medians.min(), LEAST_MEDIAN))
            if medians.min() < least:
                last.set_ylim(bottom=least / 2)
                for line in last.get_lines():
                    line.set_clip_on(True)
        return "at most 1/4"
    elif metric == "top_weight":
        if high > 100 * low > 0:
            set_log_y(first)
            first.set_ylim(top=1.3)
        else:
            first.set_ylim(0, 1.04)
        if rows["keys"].nunique() == 1:
            first.axhline(1 / rows["keys"].iloc[0], **GUIDE)
            return f"equal weights: 1/{rows['keys'].iloc[0]:,.0f}"
    elif high > 50 * low > 0:
        set_log_y(first)
    elif rows["median"].dropna().isin([0, 1]).all() and rows["median"].notna().any():
        first.set_ylim(-0.03, 1.04)  # a fraction
    return None


def draw_metric(metric, rows, x, fixed, words, experiment, samples):
    """The figure of one metric; the slope has a linear panel and a log one. `samples`: single
    queries to be shown as well, or None."""
    from matplotlib.figure import Figure

    axis_words = {"scaling_value": words.axis_of_sweep, "entries_value": words.axis_of_sweep}
    x_words = (axis_words[x](rows, x) if x in axis_words else
               words.metric(x) if x == "logit_sd" else words.column(x))
    any_slope = metric == "slope" and rows["estimate"].max() > 0
    panels = 2 if any_slope else 1  # a log axis has no place for slopes of 0
    figure = Figure(figsize=(7.2 if panels == 1 else 11.5, 4.9))
    panel = figure.subplots(1, panels, squeeze=False, gridspec_kw={"wspace": 0.27})[0]
    names = columns_of_curves(rows, x)
    series = style_series(rows, names, x, words.sweeps_power_of_d(rows))
    shows = choose_shows(metric, series) - ({"band"} if x == "logit_sd" else set())
    samples = samples if x in ("d", "keys") else None
    for axes in panel:
        ends = draw_curves(axes, series, x, shows)
        with_samples = samples is not None and axes is panel[0]
        for _, colour, _, of_curve in series if with_samples else []:
            places = of_curve[[*names, x]].drop_duplicates()
            for at, queries in samples.merge(places, on=list(places)).groupby(x):
                draw_samples(axes, queries[metric].to_numpy(), at, colour)
        set_x_axis(axes, rows, x, x_words)
    first, last = panel[0], panel[-1]
    first.set_ylabel(words.metric(metric))
    guide = draw_critical(first, series) if x == "logit_sd" else None
    guide = guide or set_y_axis(panel, metric, rows, series, x)
    if x == "logit_sd":
        name_sizes(last, series)
    else:
        label_curves(last, ends)
    explain(first, series, shows, guide, 3 * len(panel), samples is not None)
    write_title(first, words.metric(metric), tell_facts(rows, fixed, words, experiment), words,
                wide=panels > 1)
    return figure


def name_sizes(axes, series):
    """A legend at the right, for curves that may end anywhere: what the colours mean, and, if they
    tell key counts, what the markers mean."""
    from matplotlib.lines import Line2D

    colours = {colour: (label, marker) for label, colour, marker, _ in series}
    handles = [Line2D([], [], color=colour, marker=marker, label=label)
               for colour, (label, marker) in colours.items()]
    if len(colours) < len(series):
        sizes = {colour: rows["keys"].iloc[0] for _, colour, _, rows in series}
        handles = [Line2D([], [], color=colour, label=count_text(keys, "key"))
                   for colour, keys in sizes.items()]
        kinds = {marker: rows["scaling"].iloc[0] for _, _, marker, rows in series}
        handles += [Line2D([], [], color=GRAY, marker=marker, linestyle="none", label=name)
                    for marker, name in kinds.items()]
    if len(handles) > 1:
        axes.add_artist(axes.legend(handles=handles, loc="upper left", borderaxespad=0,
                                    bbox_to_anchor=(1.02, 1)))
