"""Draws dot charts, for what has no order: a line of text for each scaling, or for each law."""

from plot_looks import GRAY, MEDIAN, METRIC_WORDS
from plot_parts import darker, style_series, write_title
from run_tables import split_by


def draw_scalings(metric, rows, fixed, masked):
    """The figure of one metric where nothing but the scaling varies: a line of text for each."""
    series = style_series(rows, "scaling")
    dots = [(place, colour, row) for place, (_, colour, _, row) in enumerate(series)]
    texts = [(label, darker(colour)) for label, colour, *_ in series]
    return draw_dots(metric, rows, fixed, masked, dots, texts, [])


def draw_laws(metric, rows, fixed, masked):
    """The figure of one metric in several laws: a line of text for each law, on it a dot for each
    scaling, slightly below each other."""
    laws = split_by(rows, ["entries", "entries_value"])
    places = {(law["entries"], str(law["entries_value"])): place
              for place, (law, _) in enumerate(laws)}
    series = style_series(rows, "entries")
    step = 0.6 / len(series)
    dots = []
    for at, (_, colour, _, of_scaling) in enumerate(series):
        shift = step * (at - (len(series) - 1) / 2)
        dots += [(places[law["entries"], str(law["entries_value"])] + shift, colour, row)
                 for law, row in split_by(of_scaling, ["entries", "entries_value"])]
    texts = [(law["entries"] + (f" {law['entries_value']:.6g}"
                                if law["entries_value"] == law["entries_value"] else ""), "#333333")
             for law, _ in laws]
    names = [(label, colour) for label, colour, *_ in series]
    return draw_dots(metric, rows, fixed, masked, dots, texts, names)


def draw_dots(metric, rows, fixed, masked, dots, texts, names):
    """One dot for each (place, colour, its row) of `dots`, beside the (text, colour) of each place;
    `names` are (label, colour) of what the colours mean where the texts do not say it."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(7.2, 1.1 + max(0.27 * len(texts), 0.15 * len(dots))))
    axes = figure.subplots()
    shows = rows["median"].notna().any()
    for place, colour, row in dots:
        bars = [row["estimate"] - row["ci_low"], row["ci_high"] - row["estimate"]]
        axes.errorbar(row["estimate"], [place], xerr=[bar.fillna(0).clip(lower=0) for bar in bars],
                      linestyle="none", marker="o", color=colour, capsize=3)
        axes.plot(row["reference"], [place], marker="|", markersize=15, color=colour)
        if shows:
            axes.plot(row["median"], [place], color=colour, marker="o", **MEDIAN)
    axes.set_yticks(range(len(texts)), [text for text, _ in texts])
    axes.set_ylim(len(texts) - 0.4, -0.6)
    for text, (_, colour) in zip(axes.get_yticklabels(), texts):
        text.set_color(colour)
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
    kinds += [Line2D([], [], color=colour, marker="o", linestyle="none", label=label)
              for label, colour in names]
    height = figure.get_figheight() * axes.get_position().height
    axes.legend(handles=kinds, loc="upper left", bbox_to_anchor=(-0.01, -0.5 / height), ncol=3,
                columnspacing=1.6, borderaxespad=0)
    write_title(axes, words[0].upper() + words[1:], rows, fixed, masked)
    return figure
