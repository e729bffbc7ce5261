"""Draws dot charts, for what has no order: a line of text for each scaling, or for each law."""

from plot_looks import EXACT, GRAY, MEDIAN, SINGLE, STYLES, darker
from plot_parts import has_quantiles, style_series, tell_facts, write_title
from run_tables import LAW, name_with_value, split_by

MARK = {**EXACT, "marker": "|", "markersize": 15}


def draw_scalings(metric, rows, fixed, words, experiment, in_order):
    """The figure of one metric where nothing but the scaling varies: a line of text for each, in
    the config's order or by its estimate."""
    series = style_series(rows, ["scaling", "scaling_value"], "scaling")
    if in_order:
        series.sort(key=lambda curve: -curve[3]["estimate"].fillna(-float("inf")).iloc[0])
    only_lesson = set(rows["scaling"]) <= set(STYLES)
    dots = [(place, colour if only_lesson else SINGLE, row)
            for place, (_, colour, _, found) in enumerate(series)
            for _, row in found.iterrows()]
    texts = [(label, darker(colour) if only_lesson else "#333333") for label, colour, *_ in series]
    return draw_dots(metric, rows, fixed, words, experiment, dots, texts, [])


def draw_laws(metric, rows, fixed, words, experiment, in_order):
    """The figure of one metric in several laws: a line of text for each law, on it a dot for each
    scaling, slightly below each other."""
    laws = split_by(rows, LAW)
    if in_order:
        laws.sort(key=lambda law: -law[1]["estimate"].max())
    places = {(law["entries"], str(law["entries_value"])): place
              for place, (law, _) in enumerate(laws)}
    series = style_series(rows, ["scaling", "scaling_value"], "entries")
    step = 0.6 / len(series)
    dots = []
    for at, (_, colour, _, of_scaling) in enumerate(series):
        shift = step * (at - (len(series) - 1) / 2)
        dots += [(places[row["entries"], str(row["entries_value"])] + shift, colour, row)
                 for _, row in of_scaling.iterrows()]
    texts = [(name_with_value(law["entries"], law["entries_value"]), "#333333") for law, _ in laws]
    names = [(label, colour) for label, colour, *_ in series]
    return draw_dots(metric, rows, fixed, words, experiment, dots, texts, names)


def draw_dot(axes, place, colour, row, with_median):
    bars = [row["estimate"] - row["ci_low"], row["ci_high"] - row["estimate"]]
    if any(bar != bar for bar in bars):
        axes.plot(row["estimate"], [place], marker="o", color=colour, markerfacecolor="white",
                  linestyle="none")
    else:
        axes.errorbar(row["estimate"], [place], xerr=[[max(bar, 0)] for bar in bars],
                      linestyle="none", marker="o", color=colour, capsize=3)
    axes.plot(row["reference"], [place], color=darker(colour), **MARK)
    if with_median:
        axes.plot(row["median"], [place], color=colour, marker="D",
                  **{**MEDIAN, "markersize": 5, "markerfacecolor": "none"})


def draw_dots(metric, rows, fixed, words, experiment, dots, texts, names):
    """One dot for each (place, colour, its row) of `dots`, beside the (text, colour) of each place;
    `names` are (label, colour) of what the colours mean where the texts do not say it."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(7.2, 1.1 + max(0.27 * len(texts), 0.15 * len(dots))))
    axes = figure.subplots()
    with_median = has_quantiles(rows)
    for place, colour, row in dots:
        draw_dot(axes, place, colour, row, with_median)
        if row["estimate"] != row["estimate"]:
            axes.text(0.02, place, f"no estimate: {row['status']}", color=colour, fontsize=8,
                      verticalalignment="center", transform=axes.get_yaxis_transform())
    axes.set_yticks(range(len(texts)), [text for text, _ in texts])
    axes.set_ylim(len(texts) - 0.4, -0.6)
    for text, (_, colour) in zip(axes.get_yticklabels(), texts):
        text.set_color(colour)
    axes.set_xlabel(words.metric(metric))
    if rows["estimate"].max() > 50 * rows["estimate"].min() > 0:
        axes.set_xscale("log", nonpositive="mask")
    mean = "mean of the queries" if rows["median"].notna().any() else "measured"
    dot = {"color": GRAY, "marker": "o", "linestyle": "none"}
    kinds = []
    if rows["ci_low"].notna().any():
        kinds.append(Line2D([], [], label=mean, **dot))
    if (rows["estimate"].notna() & rows["ci_low"].isna()).any():
        kinds.append(Line2D([], [], label=f"{mean}, no interval", markerfacecolor="white", **dot))
    if rows["reference"].notna().any():
        kinds.append(Line2D([], [], color=GRAY, label="exact", **MARK))
    if with_median:
        kinds.append(Line2D([], [], color=GRAY, marker="D", label="median",
                            **{**MEDIAN, "linestyle": "none", "markersize": 5,
                               "markerfacecolor": "none"}))
    kinds += [Line2D([], [], color=colour, marker="o", linestyle="none", label=label)
              for label, colour in names]
    height = figure.get_figheight() * axes.get_position().height
    axes.legend(handles=kinds, loc="upper left", bbox_to_anchor=(-0.01, -0.5 / height), ncol=3,
                columnspacing=1.6, borderaxespad=0)
    write_title(axes, words.metric(metric), tell_facts(rows, fixed, words, experiment), words)
    return figure
