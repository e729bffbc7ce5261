"""Draws the histograms of one quantity: a panel for each scaling and d, all with the same axes."""

import math

from plot_looks import GRAY, GUIDE, TEXT_SIZE, darker
from plot_parts import style_series, tell_facts, write_title

MOST_SIZES = 5
WIDE = 20  # from this ratio of the panels' widths on, the horizontal axis is bent
UNEVEN = 5  # from this ratio of their heights on, the vertical axis is one of square roots


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


class SharedAxes:
    """The axes of all panels of a figure. Where the panels' widths differ much, the horizontal axis
    is asinh(x): linear within +-1, logarithmic beyond. A height is a share of the values per unit
    of the axis as it is drawn, so that equal areas are equal shares of the values."""

    def __init__(self, frame):
        filled = frame[frame["density"].notna() & (frame["count"] > 0)]
        self.empty = filled.empty
        if self.empty:
            return
        reaches = filled.groupby(["scaling", "scaling_value", "d"], dropna=False).apply(
            lambda rows: max(abs(rows["bin_low"].min()), abs(rows["bin_high"].max())))
        self.bent = reaches.max() > WIDE * max(reaches.min(), 1e-300) and reaches.max() > WIDE
        self.low, self.high = self.place(filled["bin_low"].min()), self.place(
            filled["bin_high"].max())
        heights = self.heights(filled)
        self.top = heights.max()
        peaks = heights.groupby([filled[name].astype(str)
                                 for name in ("scaling", "scaling_value", "d")]).max()
        self.roots = peaks.max() > UNEVEN * peaks.min()

    def place(self, value):
        return math.asinh(value) if self.bent else value

    def heights(self, bins):
        widths = bins["bin_high"].map(self.place) - bins["bin_low"].map(self.place)
        return bins["density"] * (bins["bin_high"] - bins["bin_low"]) / widths

    def draw(self, axes, bins, colour):
        """The bars of one panel; no axis where it has none, since all values are the same or none
        is finite."""
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.grid(False)
        shown = bins[bins["density"].notna()]
        if shown.empty or self.empty:
            axes.set_xticks([])
            return
        heights = self.heights(shown)
        edges = [self.place(edge) for edge in [*shown["bin_low"], shown["bin_high"].iloc[-1]]]
        if self.roots:
            heights = heights ** 0.5
        axes.stairs(heights, edges, color=colour, fill=True, alpha=0.85)
        axes.set_ylim(0, 1.05 * (self.top ** 0.5 if self.roots else self.top))
        axes.set_xlim(self.low, self.high)
        axes.tick_params(labelsize=TEXT_SIZE - 2)
        self.set_ticks(axes)

    def set_ticks(self, axes):
        from matplotlib import ticker

        if not self.bent:
            axes.xaxis.set_major_locator(ticker.MaxNLocator(3))
            return
        for at in (-1, 1):
            if self.low < self.place(at) < self.high:
                axes.axvline(self.place(at), **{**GUIDE, "linewidth": 0.8})
        most = 10 ** math.floor(math.log10(max(-math.sinh(self.low), math.sinh(self.high))))
        values = [value for value in (-most, 0, most)
                  if self.low <= self.place(value) <= self.high]
        axes.xaxis.set_major_locator(ticker.FixedLocator([self.place(value) for value in values]))
        axes.xaxis.set_major_formatter(ticker.FixedFormatter([f"{value:,g}" for value in values]))

    def describe(self):
        if self.empty:
            return ""
        parts = ["the same axes in all panels"]
        if self.bent:
            parts.append("linear between −1 and 1 (dotted), logarithmic beyond")
        parts.append("heights: share of the values" + (", on an axis of square roots"
                                                       if self.roots else ""))
        return "; ".join(parts)


def draw_histograms(metric, frame, fixed, words, experiment):
    """The distribution of one metric, the score or the logit. What lies beyond the axis is told in
    words above the panel."""
    from matplotlib.figure import Figure

    sizes = list(frame["d"].unique())
    step = -(-len(sizes) // MOST_SIZES)
    sizes = sizes[::step]
    curves = style_series(frame, ["scaling", "scaling_value"], "d", words.sweeps_power_of_d(frame))
    figure = Figure(figsize=(2.3 * len(sizes) + 1.2, 1.9 * len(curves) + 1))
    grid = figure.subplots(len(curves), len(sizes), squeeze=False,
                           gridspec_kw={"wspace": 0.22, "hspace": 0.5})
    shared = SharedAxes(frame[frame["d"].isin(sizes) | frame["d"].isna()])
    most_lines = 0  # above a panel of the first row
    for line, (label, colour, _, rows) in zip(grid, curves):
        for axes, d in zip(line, sizes):
            bins = rows[(rows["d"] == d) | (rows["d"].isna() & (d != d))].sort_values("bin_low")
            shared.draw(axes, bins, colour)
            told = tell_of_bins(bins)
            axes.annotate("\n".join(told), (0.5, 1), xytext=(0, 2), size=TEXT_SIZE - 3,
                          xycoords="axes fraction", textcoords="offset points", ha="center",
                          va="bottom", color=GRAY)
            if axes in grid[0]:
                most_lines = max(most_lines, len(told))
        line[0].set_ylabel(label, color=darker(colour))
    shift = most_lines * (TEXT_SIZE - 1)
    for axes, d in zip(grid[0], sizes):
        axes.set_title(f"d = {d:,.0f}" if d == d else "given", size=TEXT_SIZE, color=GRAY,
                       pad=6 + shift)
    quantity = words.metric(metric)
    if metric in ("slope", "score_slope", "jacobian_spectral"):
        quantity = f"log10 of the {quantity}"
    facts = ", ".join(part for part in (tell_facts(frame, fixed, words, experiment),
                                        shared.describe()) if part)
    title = grid[0][0].figure.add_subplot(grid[0][0].get_subplotspec(), frame_on=False)
    title.set_xticks([])
    title.set_yticks([])
    title.set_position(title.get_position().translated(0, (18 + shift) / 72 /
                                                       figure.get_figheight()))
    write_title(title, f"How often: {quantity}", facts, words, wide=len(sizes) > 3)
    return figure
