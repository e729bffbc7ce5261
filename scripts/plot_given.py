"""Draws given numbers: their weights and outputs as heat maps, and their metrics beside those of
random queries and keys."""

from plot_looks import GRAY, MISSES, PALE, TEXT_SIZE
from plot_parts import count_text, write_title
from run_tables import name_with_value, split_by

MOST_HEADS = 8
MOST_NUMBERS = 9  # cells of a row that still hold their number
# Column of random numbers, that of their count, what a reader calls them, marker and place.
RANDOM = [("baseline", "baseline_queries", "random", "D", 0.12),
          ("matched", "matched_queries", "matched", "s", 0.3)]


def number_text(value):
    return f"{value:.4f}" if abs(value) >= 1e-3 or value == 0 else f"{value:.2g}"


def paint(axes, table, colours, low, high):
    """One heat map. Cells without a value are pale; a small one says its numbers."""
    import matplotlib
    import numpy

    colours = matplotlib.colormaps[colours].copy()
    colours.set_bad(PALE)
    masked = numpy.ma.masked_invalid(table)
    image = axes.imshow(masked, cmap=colours, vmin=low, vmax=high, aspect="auto",
                        interpolation="nearest")
    axes.grid(False)
    for line, cells in enumerate(table) if max(table.shape) <= MOST_NUMBERS else []:
        for column, value in enumerate(cells):
            if value == value:
                red, green, blue, _ = colours((value - low) / (high - low))
                dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.55
                axes.text(column, line, number_text(value), ha="center", va="center",
                          size=TEXT_SIZE - 2, color="white" if dark else "#222222")
    return image


def as_table(rows, value, column):
    table = rows.pivot_table(index="query", columns=column, values=value, dropna=False)
    return table.reindex(range(int(rows["query"].max()) + 1),
                         columns=range(int(rows[column].max()) + 1)).to_numpy()


def whole_ticks(axis, count):
    step = -(-count // 6)
    axis.set_ticks(range(0, count, step))


def draw_maps(rows, value, column, words, experiment, title):
    """The heat maps of one experiment: a panel for each head and scaling."""
    from matplotlib.figure import Figure

    heads = sorted(rows["head"].unique())
    shown = heads[:MOST_HEADS]
    scalings = list(rows["scaling"].unique())
    # A line of panels for each head, but the heads of a single scaling side by side.
    panels = [[(head, scaling) for scaling in scalings] for head in shown]
    if len(scalings) == 1:
        panels = [[line[0] for line in panels[at:at + 4]] for at in range(0, len(panels), 4)]
    lines, columns = int(rows["query"].max()) + 1, int(rows[column].max()) + 1
    size = 2.9 if columns <= MOST_NUMBERS else 3.3
    tall = min(size, 0.5 + 0.42 * lines) if columns <= MOST_NUMBERS else size
    figure = Figure(figsize=(size * len(panels[0]) + 0.8, tall * len(panels) + 0.4))
    grid = figure.subplots(len(panels), len(panels[0]), squeeze=False,
                           gridspec_kw={"wspace": 0.12, "hspace": 0.25})
    low, high, colours = 0, max(1, rows[value].max()), "Blues"
    if value != "weight":
        high = rows[value].abs().max() or 1
        low, colours = -high, "RdBu_r"
    for axes in grid.ravel():
        axes.set_axis_off()
    for line, row_of_axes in zip(panels, grid):
        for (head, scaling), axes in zip(line, row_of_axes):
            chosen = rows[(rows["head"] == head) & (rows["scaling"] == scaling)]
            if chosen.empty:
                continue
            axes.set_axis_on()
            image = paint(axes, as_table(chosen, value, column), colours, low, high)
            whole_ticks(axes.xaxis, columns)
            whole_ticks(axes.yaxis, lines)
            axes.set_title(scaling + (f", head {head:.0f}" if len(heads) > 1 else ""),
                           size=TEXT_SIZE - 1, color=GRAY)
            if line is panels[-1]:
                axes.set_xlabel(column)
            if axes is row_of_axes[0]:
                axes.set_ylabel("query")
            else:
                axes.set_yticklabels([])
    figure.colorbar(image, ax=grid.ravel().tolist(), fraction=0.04, pad=0.03, label=value)
    facts = [f"experiment {experiment}",
             count_text(lines, "query", "queries")]
    if value == "weight" and words.hides_keys(rows):
        facts.append("gray: keys that the query does not see")
    if len(shown) < len(heads):
        facts.append(f"the first {len(shown)} of {len(heads)} heads")
    add_title(figure, grid[0][0], title, ", ".join(facts), words, wide=len(panels[0]) > 2)
    return figure


def add_title(figure, axes, title, facts, words, wide):
    """The title, clear of the small titles of the panels."""
    above = figure.add_axes(axes.get_position().translated(0, 16 / 72 / figure.get_figheight()),
                            frame_on=False)
    above.set_axis_off()
    write_title(above, title, facts, words, wide)


def draw_single_queries(weights, words):
    """The weights of experiments of one query each, one below the other: a line per scaling."""
    from matplotlib.figure import Figure
    import numpy

    lines = [(f"{each['experiment']}: {each['scaling']}", rows.sort_values("key"))
             for each, rows in split_by(weights, ["experiment", "scaling"])]
    most = int(weights["key"].max()) + 1
    table = numpy.full((len(lines), most), float("nan"))
    for place, (_, rows) in enumerate(lines):
        table[place, rows["key"].astype(int)] = rows["weight"]
    figure = Figure(figsize=(1.5 + 0.85 * most, 0.8 + 0.42 * len(lines)))
    axes = figure.subplots()
    image = paint(axes, table, "Blues", 0, max(1, weights["weight"].max()))
    axes.set_yticks(range(len(lines)), [label for label, _ in lines])
    axes.set_xticks(range(most))
    axes.set_xlabel("key")
    figure.colorbar(image, ax=axes, fraction=0.06, pad=0.05, label="weight")
    write_title(axes, "Weights of one query", "a line for each scaling", words)
    return figure


def draw_given(weights, outputs, words):
    """(stem, figure) of every picture of given queries."""
    pictures = []
    if weights is not None:
        queries = weights.groupby("experiment")[["head", "query", "key"]].max()
        single = queries[(queries["head"] == 0) & (queries["query"] == 0)
                         & (queries["key"] < MOST_NUMBERS)].index
        chosen = weights[weights["experiment"].isin(single)]
        if not chosen.empty:
            pictures.append(("weights", draw_single_queries(chosen, words)))
        for each, rows in split_by(weights[~weights["experiment"].isin(single)], ["experiment"]):
            name = each["experiment"]
            pictures.append((f"weights-experiment_{name}",
                             draw_maps(rows, "weight", "key", words, name, "Weights")))
    for each, rows in [] if outputs is None else split_by(outputs, ["experiment"]):
        name = each["experiment"]
        pictures.append((f"outputs-experiment_{name}",
                         draw_maps(rows, "output", "component", words, name, "Outputs")))
    return pictures


def draw_baseline(rows, words, experiment):
    """The metrics of one experiment: the given ones and the drawn ones, a panel for each metric."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    first = rows.iloc[0]
    sides = [side for side in RANDOM if first[side[1]] > 0]
    metrics = list(rows["metric"].unique())
    scalings = split_by(rows, ["scaling", "scaling_value"])
    labels = [name_with_value(each["scaling"], each["scaling_value"]) for each, _ in scalings]
    columns = min(3, len(metrics))
    lines = -(-len(metrics) // columns)
    figure = Figure(figsize=(3.6 * columns, (0.9 + 0.3 * len(labels)) * lines + 0.4))
    grid = figure.subplots(lines, columns, squeeze=False,
                           gridspec_kw={"wspace": 0.14, "hspace": 0.75})
    for place, axes in enumerate(grid.ravel()):
        if place >= len(metrics):
            axes.set_axis_off()
            continue
        for at, (_, of_scaling) in enumerate(scalings):
            found = of_scaling[of_scaling["metric"] == metrics[place]]
            for column, _, _, marker, below in sides:
                drawn = found.dropna(subset=column)
                if not drawn.empty:
                    axes.errorbar(drawn[column], [at + below] * len(drawn),
                                  xerr=1.96 * drawn[f"{column}_std_error"].fillna(0), color=GRAY,
                                  marker=marker, markerfacecolor="white", linestyle="none",
                                  capsize=3)
            axes.plot(found["estimate"], [at - 0.12] * len(found), marker="o", color=MISSES,
                      linestyle="none")
        values = rows.loc[rows["metric"] == metrics[place],
                          ["estimate", *(side[0] for side in sides)]].stack()
        if not values.empty and values.max() > 50 * values.min() > 0:
            axes.set_xscale("log")
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set_yticks(range(len(labels)), labels if place % columns == 0 else [""] * len(labels))
        axes.set_xlabel(words.metric(metrics[place]))
    kinds = [Line2D([], [], color=MISSES, marker="o", linestyle="none", label="given"),
             *(Line2D([], [], color=GRAY, marker=marker, markerfacecolor="white", linestyle="none",
                      label=f"{name}, with a 95 % interval") for _, _, name, marker, _ in sides)]
    figure.legend(handles=kinds, loc="upper left", ncol=len(kinds),
                  bbox_to_anchor=(0.11, 0.11 - 0.55 / figure.get_figheight()))
    beside = " and ".join(count_text(first[count], f"{name} one") for _, count, name, _, _ in sides)
    facts = (f"experiment {experiment}, "
             f"{count_text(first['queries'], 'given query', 'given queries')} beside {beside} with "
             "as many visible keys")
    write_title(grid[0][0], "Given numbers beside random ones", facts, words, wide=columns > 2)
    return figure
