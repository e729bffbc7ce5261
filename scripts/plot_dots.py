"""Draws dot charts, for what has no order: a line of text for each scaling."""

from plot_looks import GRAY, MEDIAN, METRIC_WORDS
from plot_parts import choose_shows, darker, style_series, write_title


def draw_scalings(metric, rows, fixed, masked):
    """The figure of one metric where nothing but the scaling varies: a line of text for each."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    series = style_series(rows, "scaling")
    figure = Figure(figsize=(7.2, 1.1 + 0.27 * len(series)))
    axes = figure.subplots()
    shows = choose_shows(metric, series[:1]) & {"median"}
    for place, (_, colour, _, row) in enumerate(series):
        bars = [row["estimate"] - row["ci_low"], row["ci_high"] - row["estimate"]]
        axes.errorbar(row["estimate"], [place], xerr=[bar.fillna(0).clip(lower=0) for bar in bars],
                      linestyle="none", marker="o", color=colour, capsize=3)
        axes.plot(row["reference"], [place], marker="|", markersize=15, color=colour)
        if shows:
            axes.plot(row["median"], [place], color=colour, marker="o", **MEDIAN)
    axes.set_yticks(range(len(series)), [label for label, *_ in series])
    axes.set_ylim(len(series) - 0.4, -0.6)
    for text, (_, colour, *_) in zip(axes.get_yticklabels(), series):
        text.set_color(darker(colour))
    words = METRIC_WORDS.get(metric, (metric.replace("_", " "), None))[0]
    axes.set_xlabel(words)
    if rows["estimate"].max() > 50 * rows["estimate"].min() > 0:
        axes.set_xscale("log", nonpositive="mask")
    kinds = [Line2D([], [], color=GRAY, marker="o", linestyle="none", label="measured mean"
                    if rows["median"].notna().any() else "measured")]
    if rows["reference"].notna().any():
        kinds.append(Line2D([], [], color=GRAY, marker="|", markersize=15, linestyle="none",
                            label="exact"))
    if shows:
        kinds.append(Line2D([], [], color=GRAY, marker="o", label="median",
                            **{**MEDIAN, "linestyle": "none"}))
    height = figure.get_figheight() * axes.get_position().height
    axes.legend(handles=kinds, loc="upper left", bbox_to_anchor=(-0.01, -0.5 / height), ncol=3,
                columnspacing=1.6, borderaxespad=0)
    write_title(axes, words[0].upper() + words[1:], rows, fixed, masked)
    return figure
