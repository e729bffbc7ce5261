"""Words, colours and lines of the pictures. Knows nothing of runs."""

SCALING_WORDS = {"none": "not divided", "div_sqrt_d": "divided by √d", "div_d": "divided by d"}
X_WORDS = {"d": "d: numbers in one query and in one key", "keys": "keys per query",
           "scaling_value": "value of the scaling", "entries_value": "value of the entries' law",
           "scaling": None, "entries": None,
           "logit_sd": "measured spread of the logits"}
# What the vertical axis says, and the title where the run has undivided scores of several sizes.
METRIC_WORDS = {
    "logit_sd": ("spread of the logits (standard deviation)", "Longer vectors, bigger scores"),
    "top_weight": ("top weight p of a query", "Softmax goes all or nothing"),
    "slope": ("slope p(1−p) of the top weight", "A saturated softmax passes almost no slope"),
    "score": ("score q·k", None),
    "logit": ("logit: the scaled score", None),
    "logit_mean": ("mean of the logits", None),
    "logit_kurtosis": ("kurtosis of the logits", None),
    "score_slope": ("slope of the top weight in its own score", None),
    "entropy": ("entropy of the weights (nat)", None),
    "sum_p2": ("sum of the squared weights", None),
    "saturated": ("share of saturated queries", None),
    "margin": ("top logit minus the next", None),
    "max_logit": ("largest absolute logit of a query", None),
    "jacobian_norm": ("Frobenius norm of the softmax Jacobian", None),
    "jacobian_spectral": ("largest eigenvalue of the softmax Jacobian", None),
    "effective_keys": ("effective number of keys", None),
    "output_sd": ("spread of an output component", None),
    "weight_margin": ("top weight minus the next", None),
    "total_weight": ("total weight of the keys", None),
    "sink_weight": ("weight of the sink", None),
    "overflowed": ("share of queries that overflowed", None),
    "zero_slope": ("share of queries with slope 0", None),
    "lost_keys": ("share of keys with weight 0", None),
    "aligned_top": ("share of queries whose top key is aligned", None),
    "aligned_weight": ("weight of the aligned keys", None),
}

# Okabe and Ito's colours, which colour-blind readers tell apart; without yellow, pale on white.
STYLES = {"none": ("#D55E00", "o"), "div_sqrt_d": ("#0072B2", "s"), "div_d": ("#009E73", "^")}
MORE_STYLES = [("#CC79A7", "D"), ("#E69F00", "v"), ("#56B4E9", "P"), ("#000000", "X")]
MORE_MARKERS = "DvPXosh*"
GRAY = "#666666"
TEXT_SIZE = 11
DOTTED = (0, (1, 2))
GUIDE = {"color": GRAY, "linestyle": DOTTED, "linewidth": 1.2, "zorder": 1}
MEDIAN = {"linestyle": (0, (4, 2)), "linewidth": 1.3, "markersize": 5, "markerfacecolor": "white"}

STYLE = {
    "font.family": "DejaVu Sans", "font.size": TEXT_SIZE, "axes.labelsize": TEXT_SIZE,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GRAY,
    "xtick.color": "#333333", "ytick.color": "#333333", "axes.axisbelow": True,
    "axes.grid": True, "axes.grid.which": "major", "grid.color": "#E6E6E6", "grid.linewidth": 0.8,
    "lines.linewidth": 1.8, "lines.markersize": 6.5, "legend.frameon": False,
    "legend.fontsize": TEXT_SIZE - 1, "savefig.facecolor": "white", "savefig.dpi": 160,
    "svg.hashsalt": "attnscale", "svg.fonttype": "path", "pdf.fonttype": 42,
}
