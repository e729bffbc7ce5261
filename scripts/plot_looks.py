"""Colours, markers and lines of the pictures. Knows nothing of runs, and no words."""

GRAY = "#666666"
PALE = "#EDEDED"
TEXT_SIZE = 11
DOTTED = (0, (1, 2))
GUIDE = {"color": GRAY, "linestyle": DOTTED, "linewidth": 1.2, "zorder": 1}
# Points are joined to guide the eye: nothing was measured or computed between them.
JOIN = {"linewidth": 1.3, "alpha": 0.65}
MEDIAN = {"linestyle": (0, (4, 2)), "linewidth": 1.1, "markersize": 3, "alpha": 0.85}
EXACT = {"marker": "_", "markersize": 17, "markeredgewidth": 1.6, "linestyle": "none"}
HOLDS, MISSES = "#0072B2", "#D55E00"

# The lesson's three scalings always look the same. The others take what is left of Okabe and Ito's
# colours, which colour-blind readers tell apart (without the yellow, which is pale on white), and
# then of Tol's muted ones.
STYLES = {"none": ("#D55E00", "o"), "div_sqrt_d": ("#0072B2", "s"), "div_d": ("#009E73", "^")}
CATEGORIES = ["#CC79A7", "#000000", "#C98A00", "#56B4E9", "#332288", "#882255", "#117733",
              "#999933", "#661100", "#6699CC"]
MARKERS = "DvPX*hosd^"
BESIDE_RAMPS = ["#0072B2", "#009E73", "#56B4E9", "#000000", "#999933"]
SINGLE = "#0072B2"  # of dots that their line of text names

# Where values are ordered, lightness is too. Both ends of a ramp are dark enough for white paper.
RAMPS = [["#1D1147", "#51127C", "#832681", "#B73779", "#E75263", "#F4845F"],
         ["#0A2F51", "#0E4D64", "#137177", "#188977", "#1D9A6C", "#39A96B"]]
ABOVE_HALF, BELOW_HALF = ["#7F2704", "#D94801", "#F58A45"], ["#08306B", "#2171B5", "#6BAED6"]
HALF_POWER = "#000000"

STYLE = {
    "font.family": "DejaVu Sans", "font.size": TEXT_SIZE, "axes.labelsize": TEXT_SIZE,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GRAY,
    "xtick.color": "#333333", "ytick.color": "#333333", "axes.axisbelow": True,
    "axes.grid": True, "axes.grid.which": "major", "grid.color": "#E6E6E6", "grid.linewidth": 0.8,
    "lines.linewidth": 1.8, "lines.markersize": 6.5, "legend.frameon": False,
    "legend.fontsize": TEXT_SIZE - 1, "savefig.facecolor": "white", "savefig.dpi": 160,
    "svg.hashsalt": "attnscale", "svg.fonttype": "none", "pdf.fonttype": 42,
}


def ramp(colours, share):
    """The colour at `share` (0 to 1) of the way through `colours`."""
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    return to_hex(LinearSegmentedColormap.from_list("ramp", colours)(share))


def darker(colour):
    """The colour for text: pale colours are hard to read on white."""
    from matplotlib.colors import rgb_to_hsv, hsv_to_rgb, to_rgb

    hue, saturation, value = rgb_to_hsv(to_rgb(colour))
    return hsv_to_rgb((hue, saturation, min(value, 0.72)))
