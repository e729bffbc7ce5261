#!/usr/bin/env python3
"""Draws the pictures of a finished run from its CSV files, or the intervals of runs that differ in
their seed.

Pictures go to DIR/figures, as SVG and PNG: one per metric (and per experiment, law, d or key count
if the run has several), histograms, given weights and outputs, given numbers beside random ones.
config.json and datapackage.json beside them say what things are called. The same files give the
same bytes: nothing but they and the versions of matplotlib and pandas goes in.
"""

import argparse
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

from plot_bins import draw_histograms
from plot_curves import draw_metric
from plot_dots import draw_laws, draw_scalings
from plot_files import PictureFolder, source_of, source_of_seeds
from plot_given import draw_baseline, draw_given
from plot_looks import STYLE
from plot_seeds import draw_seeds, read_seeds
from plot_words import read_words
from run_tables import (RunError, choose_x, read_baselines, read_histogram, read_outputs,
                        read_samples, read_summary, read_weights, split_by, split_pictures,
                        suffix_of, with_spread)
from whole_file import UnwrittenFile, shown

AXES = ["d", "keys", "scaling_value", "entries_value", "scaling", "entries", "logit_sd"]
SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's, which Debian's python3-matplotlib is for
RESTARTED = "ATTNSCALE_PLOT_RESTARTED"


def draw_picture(metric, part, x, fixed, words, experiment, options, samples):
    # An experiment beside the one whose scalings are swept may sweep none.
    x = "scaling" if x != "entries" and (x == "scaling" or part[x].isna().all()) else x
    dots = {"scaling": draw_scalings, "entries": draw_laws}
    if x in dots:
        return dots[x](metric, part, fixed, words, experiment, options.sort)
    return draw_metric(metric, part, x, fixed, words, experiment, samples)


def samples_of(samples, metric, experiment):
    """The single queries of one metric that are there, or None."""
    if samples is None or metric not in samples:
        return None
    found = samples[(samples["experiment"] == experiment) & samples[metric].notna()]
    return None if found.empty else found


def draw_metrics(frame, samples, words, options):
    """(stem, figure) of the metrics in summary.csv; an axis that never varies is refused."""
    measured = list(frame["metric"].unique())
    level = []
    any_drawn = False
    for metric in options.metric or measured:
        rows = frame[frame["metric"] == metric]
        if rows["estimate"].isna().all():
            print(f"plot.py: {metric} has no finite estimate to draw", file=sys.stderr)
            any_drawn = True
            continue
        experiments = split_by(rows, ["experiment"])
        for each, of_experiment in experiments:
            experiment = each["experiment"]
            x = choose_x(of_experiment, options.x)
            if x is None:
                level.append((metric, experiment, of_experiment))
                continue
            if x == "logit_sd":
                of_experiment = with_spread(frame, of_experiment)
            if x in ("d", "keys"):  # given numbers may have no d
                of_experiment = of_experiment[of_experiment[x].notna()]
            named = {"experiment": experiment} if len(experiments) > 1 else {}
            shown = experiment if frame["experiment"].nunique() > 1 else None
            for fixed, part in split_pictures(of_experiment, x):
                if part["estimate"].isna().all():
                    continue
                any_drawn = True
                yield (metric + suffix_of({**named, **fixed}),
                       draw_picture(metric, part, x, fixed, words, shown, options,
                                    samples_of(samples, metric, experiment)))
    if level and not any_drawn:
        metric, experiment, rows = level[0]
        values = rows[options.x].dropna().unique()
        found = f"all have {options.x} {values[0]:.6g}" if len(values) else "none has a value"
        raise RunError(f"the lines of {metric} do not vary in {options.x} ({found}), so that there "
                       "is nothing to draw against")
    if options.x == "logit_sd" and not any_drawn and not frame.empty:
        names = ", ".join(options.metric or measured)
        raise RunError(f"no experiment has logit_sd beside {names}; measure both to draw one "
                       "against the other")


def draw_bins(bins, words, options):
    for metric in [] if bins is None else bins["metric"].unique():
        if options.metric and metric not in options.metric:
            continue
        experiments = split_by(bins[bins["metric"] == metric], ["experiment"])
        for each, rows in experiments:
            several = len(experiments) > 1
            for fixed, part in split_pictures(rows, "d"):
                named = {"experiment": each["experiment"]} if several else {}
                yield (f"histogram_{metric}{suffix_of({**named, **fixed})}",
                       draw_histograms(metric, part, fixed, words,
                                       each["experiment"] if several else None))


def draw_baselines(rows, words):
    for each, part in [] if rows is None else split_by(rows, ["experiment"]):
        name = each["experiment"]
        yield f"baseline-experiment_{name}", draw_baseline(part, words, name)


def draw_run(folder, options, formats):
    frame, words = read_summary(folder), read_words(folder)
    measured = list(frame["metric"].unique())
    for metric in options.metric:
        if metric not in measured:
            raise RunError(f"the run has no metric {metric}; it has "
                           f"{', '.join(measured) or 'none, since its config asks for none'}")
    pictures = PictureFolder(options.out or folder / "figures", formats, words,
                             source_of(folder, frame))
    drawn = 0
    kinds = [draw_metrics(frame, read_samples(folder), words, options),
             draw_bins(read_histogram(folder), words, options)]
    if not options.metric:
        kinds += [draw_given(read_weights(folder), read_outputs(folder), words),
                  draw_baselines(read_baselines(folder), words)]
    for kind in kinds:
        for stem, figure in kind:
            pictures.save(figure, stem)
            drawn += 1
    if not drawn and frame.empty:
        raise RunError(f"{folder} holds no lines: its config asks for no metrics, "
                       "so there is nothing to draw")
    pictures.close()


def draw_runs(folders, options, formats):
    if options.x:
        raise RunError("--x is for one run; several are drawn as the intervals of their seeds")
    frame, words = read_seeds(folders), read_words(folders[0])
    for metric in options.metric:
        if metric not in set(frame["metric"]):
            raise RunError(f"the runs have no metric {metric}; they have "
                           f"{', '.join(frame['metric'].unique())}")
    pictures = PictureFolder(options.out or Path("figures"), formats, words,
                             source_of_seeds(folders, frame))
    for stem, figure in draw_seeds(frame, options.metric, words):
        pictures.save(figure, stem)
    pictures.close()


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


def read_arguments():
    parser = argparse.ArgumentParser(prog="plot.py", allow_abbrev=False, description=(
        "Draws the pictures of a finished run: DIR/figures/*.svg and *.png, from its CSV files. "
        "Pictures of an earlier call are removed. Several runs that differ in their seed are drawn "
        "as their intervals around the exact value."))
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="+",
                        help="folder of a finished run; several for the intervals of many seeds")
    parser.add_argument("--metric", metavar="M", action="append", default=[], help=(
        "draw this metric of summary.csv; may be repeated (default: all that the run measured)"))
    parser.add_argument("--x", choices=AXES, help=(
        "what goes along the horizontal axis (default: what varies; scaling and entries, the laws, "
        "stand below each other; logit_sd, the measured spread of the logits, only where it is "
        "asked for)"))
    parser.add_argument("--sort", action="store_true",
                        help="sort what stands below each other by its value")
    parser.add_argument("--out", metavar="DIR", type=Path, help=(
        "folder of the pictures (default: figures in the run's folder, of several runs in the "
        "working directory)"))
    parser.add_argument("--pdf", action="store_true", help="write a PDF of each picture as well")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that goes away ends it quietly
    options = read_arguments()
    # Where the home cannot be written to, matplotlib uses a temporary folder; no need to say so.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        import matplotlib
        import pandas  # noqa: F401
    except ImportError as error:
        restart_with_system_python()
        sys.exit(f"plot.py: {sys.executable} has no {error.name}. On Debian: "
                 "apt-get install python3-matplotlib python3-pandas, then use /usr/bin/python3")
    formats = ["svg", "png"] + ["pdf"] * options.pdf
    try:
        matplotlib.rcdefaults()  # a personal matplotlibrc must not change a picture
        with matplotlib.rc_context(STYLE):
            if len(options.folders) > 1:
                draw_runs(options.folders, options, formats)
            else:
                draw_run(options.folders[0], options, formats)
    except UnwrittenFile as error:
        sys.exit(f"plot.py: {shown(error)}")
    except OSError as error:
        sys.exit(f"plot.py: cannot write: {shown(error)}")
    except RunError as error:
        print(f"plot.py: {shown(error)}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
