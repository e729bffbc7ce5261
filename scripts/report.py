#!/usr/bin/env python3
"""Writes report.html of finished runs: one page that opens from disk without a network.

With the libraries that scripts/get_vega.sh gets, its charts answer the mouse, and the specification
of each is also written to DIR/figures as NAME.vl.json; without them the page holds the pictures of
plot.py. Tables sort, filter and save themselves; all can be read without scripts.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from functools import partial
from html import escape
from pathlib import Path

from report_charts import (CROSSING_ENDS, CROSSINGS, NUMBERS, curve_chart, heat_map,
                           histogram_chart)
from report_data import ReportError, answers_in, compared, distinct, labels_of, read_run
from report_parts import (BASELINE_COLUMNS, CONTRAST_COLUMNS, CROSSING_COLUMNS, DIFFERENCE_COLUMNS,
                          LINE_COLUMNS, MOST_BYTES, MOST_CONFIG, beyond_text, bullets, chart,
                          facts_of, figure, fitting, glossary, metric_heading, provenance,
                          questions, section, table)
from whole_file import UnwrittenFile, shown, whole_file

HERE = Path(__file__).resolve().parent
LIBRARIES = ["vega", "vega-lite", "vega-embed"]
PROGRAM = os.environ.get("ATTNSCALE_PROGRAM") or HERE.parent / "build" / "attnscale"
MOST_SPECS = 60_000  # bytes of histograms or of a heat map
WITHOUT_SCRIPTS = """<noscript><p>The charts, and tables that sort and filter, need scripts. Every
number is in the tables below.</p></noscript>"""


def vega_folder():
    """Where get_vega.sh puts the libraries; None if they are not all there."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("ATTNSCALE_VEGA") or Path(cache) / "attnscale" / "vega")
    return folder if all((folder / f"{name}.min.js").exists() for name in LIBRARIES) else None


def script_text(folder):
    """The libraries with their licences, as script elements."""
    texts = []
    for name in LIBRARIES:
        licence = (folder / f"{name}.LICENSE").read_text(encoding="utf-8").replace("*/", "* /")
        code = (folder / f"{name}.min.js").read_text(encoding="utf-8")
        code = re.sub(r"\n//# sourceMappingURL=.*", "", code).replace("</script", "<\\/script")
        texts.append(f"<script>/* {name}\n{licence}*/\n{code}</script>")
    return "\n".join(texts)


def answers_of(run):
    """What the program answers to the lesson's questions; nothing where it is not at hand."""
    try:
        answer = subprocess.run([PROGRAM, "show", run.folder, "--format", "markdown"],
                                capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return []
    return answers_in(answer.stdout)


def pictures_of(run):
    """(title, SVG) of the pictures of plot.py, drawn anew; none where it cannot draw."""
    with tempfile.TemporaryDirectory() as scratch:
        answer = subprocess.run([HERE / "plot.py", run.folder, "--out", scratch],
                                capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            print(f"report.py: without pictures: {answer.stderr.strip().splitlines()[-1:]}",
                  file=sys.stderr)
        return [(path.stem.replace("_", " "), inline_svg(path))
                for path in sorted(Path(scratch).rglob("*.svg"))]


def inline_svg(path):
    """The picture's element, its names made its own so that pictures do not share them."""
    text = path.read_text(encoding="utf-8")
    text = text[text.index("<svg"):]
    prefix = re.sub(r"\W", "_", path.stem)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'(xlink:href|href)="#', rf'\1="#{prefix}-', text)
    return re.sub(r"url\(#", f"url(#{prefix}-", text)


def save_spec(run, name, spec):
    """The same chart for notebooks and the Vega editor, which read summary.csv beside it."""
    figures = run.folder / "figures"
    figures.mkdir(exist_ok=True)
    with whole_file(figures / f"{name}.vl.json") as part:
        part.write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")


def file_data(metric, experiment):
    """summary.csv as the data of a specification in figures/."""
    return {"url": "../summary.csv", "format": {"type": "csv", "parse": {
        name: "number" for name in NUMBERS}}}, {
            "filter": f"datum.metric == {json.dumps(metric)} && "
                      f"datum.experiment == {json.dumps(experiment)}"}


def metric_charts(runs, lines, count):
    """Charts of the lines, of which the page's table holds the first `count`."""
    for metric in dict.fromkeys(name for run in runs for name in run.metrics()):
        about = next(run for run in runs if metric in run.metrics()).about_metric(metric)
        unit = "" if about["unit"] in ("1", "logit") else f" ({about['unit']})"
        places = [place for place, line in enumerate(lines)
                  if line["metric"] == metric and line["estimate"]]
        for experiment in distinct([lines[place] for place in places], "experiment"):
            here = [place for place in places if lines[place]["experiment"] == experiment]
            spec = curve_chart([lines[place] for place in here], about["title"] + unit,
                               runs[0].about_column, {"name": "lines"})
            named = f"-{experiment}" if len(distinct([lines[place] for place in places],
                                                     "experiment")) > 1 else ""
            if len(runs) == 1:
                data, condition = file_data(metric, experiment)
                save_spec(runs[0], metric + named, {
                    **spec, "data": data, "transform": [condition, *spec["transform"]]})
            text = (chart(spec, metric=metric, experiment=experiment) if here[-1] < count else
                    f"<p>Too many lines for one page: figures/{metric}{named}.vl.json draws them."
                    "</p>")
            yield figure(metric_heading(about) + text,
                         f"{experiment}: {about.get('description', '')}")


def charts_by_experiment(lines, columns, needed, draw):
    """A figure of each experiment's lines that have the column needed; `draw` makes of them a
    specification and what it shows."""
    known = [{name: line[name] for name in columns if name in line}
             for line in fitting(columns, lines) if line[needed]]
    for experiment in distinct(known, "experiment"):
        spec, shows = draw([line for line in known if line["experiment"] == experiment])
        yield figure(chart(spec, experiment=experiment), f"{experiment}: {shows}")


def crossing_charts(crossings, about):
    def draw(part):
        spec = curve_chart(part, "d of the level", about, {"name": "crossings_table"}, CROSSINGS,
                           CROSSING_ENDS)
        return spec, "the d at which the top weight reaches a level"
    return charts_by_experiment(crossings, CROSSING_COLUMNS, "d", draw)


def contrast_charts(contrasts, about):
    def draw(part):
        title = f"less that under {part[0]['baseline']}"
        return curve_chart(part, title, about, {"name": "contrasts_table"}), (
            f"a metric {title}, of the same queries, so that the chance they share cancels")
    return charts_by_experiment(contrasts, CONTRAST_COLUMNS, "estimate", draw)


def histogram_charts(histogram):
    for metric in distinct(histogram, "metric"):
        for experiment in distinct(histogram, "experiment"):
            part = [line for line in histogram
                    if line["metric"] == metric and line["experiment"] == experiment]
            if not part:
                continue
            title = metric.replace("_", " ")
            text = chart(histogram_chart(part, title))
            if len(text) > MOST_SPECS:
                text = "<p>Too many bins for one page: attnscale plot draws them.</p>"
            yield figure(f"<h3>{escape(title)}</h3>" + text, f"{experiment}. {beyond_text(part)}")


def heat_maps(weights):
    for experiment in distinct(weights, "experiment"):
        spec = heat_map([line for line in weights if line["experiment"] == experiment])
        if spec:
            yield figure(f"<h3>Weights of {escape(experiment)}</h3>" + chart(spec), experiment)


def head_of(runs):
    """Name, description, and what to look for."""
    parts = []
    for run in runs:
        answers = [escape(answer) for answer in answers_of(run)]
        title = "h1" if len(runs) == 1 else "h2"
        parts.append(f"<{title}>{escape(run.name if len(runs) == 1 else run.label)}</{title}>"
                     f"<p>{escape(run.config.get('description', ''))}</p>"
                     f"<p class=faint>{escape(facts_of(run))}</p>"
                     + bullets([escape(question) for question in questions(run)])
                     + (f"<h2>Look for</h2>{bullets(answers)}" if answers else "")
                     + bullets([f"warning: {escape(each)}"
                                for each in run.manifest.get("warnings", [])]))
    return "".join(parts)


def page(runs, vega):
    """The whole page as text."""
    about = runs[0].about_column
    several = len(runs) > 1

    def joined(what):
        return [{**line, "run_label": run.label} if several else line
                for run in runs for line in getattr(run, what)]

    def part(what, heading, all_columns, caption, *charts):
        """A section of one of the files: its charts, then its table."""
        lines = joined(what)
        return section(what, heading, *charts, table(
            f"{what}_table", all_columns, lines,
            partial(runs[0].about_column, file=f"{what}.csv"), caption) if lines else "")

    lines = joined("lines")
    count = len(fitting(LINE_COLUMNS, lines, MOST_BYTES))
    if count < len(lines):  # then whole metrics, as far as they go
        order = list(dict.fromkeys(name for run in runs for name in run.metrics()))
        lines.sort(key=lambda line: order.index(line["metric"]))
        count = len(fitting(LINE_COLUMNS, lines, MOST_BYTES))
    charts = list(metric_charts(runs, lines, count))
    drawn = [] if vega else [figure(f"<div class=picture>{svg}</div>", title)
                             for run in runs for title, svg in pictures_of(run)]
    sections = [section("charts", "Measured", *([WITHOUT_SCRIPTS, *charts] if vega else drawn))]
    if several:
        found = compared(PROGRAM, runs)
        caption = f"{runs[0].label} (a) beside other runs (b): the furthest lines first"
        sections.append(section("differences", "Differences", table(
            "differences_table", DIFFERENCE_COLUMNS, found, about, caption) if found else
            "<p>attnscale compare tells them; it found no line in common, or is not here.</p>"))
    if vega:
        sections += [section("histograms", "Histograms", *histogram_charts(joined("histogram"))),
                     section("weights", "Given weights", *heat_maps(joined("weights")))]
    sections += [
        part("crossings", "Where one key takes most", CROSSING_COLUMNS,
             "The d at which the top weight reaches a level",
             *(crossing_charts(joined("crossings"), about) if vega else [])),
        part("contrasts", "Contrasts", CONTRAST_COLUMNS,
             "Each scaling less the baseline, from the same queries",
             *(contrast_charts(joined("contrasts"), about) if vega else [])),
        part("baselines", "Given beside random", BASELINE_COLUMNS,
             "Given numbers beside random ones"),
    ]
    sections += [
        section("all", "All lines", table("lines", LINE_COLUMNS, lines, about,
                                          "summary.csv; shaded where |z| is above 3", MOST_BYTES)),
        section("words", "Words", *map(glossary, runs[:1])),
        section("provenance", "Where it comes from",
                *(provenance(run, MOST_CONFIG // len(runs)) for run in runs)),
    ]
    title = runs[0].name if not several else f"{len(runs)} runs"
    heading = f"<h1>{escape(title)}</h1>" if several else ""
    style, script = ((HERE / f"report_page.{kind}").read_text(encoding="utf-8")
                     for kind in ("css", "js"))
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<link rel="icon" href="data:,"><title>{escape(title)}: attention scores</title>'
            f"<style>{style}</style></head><body><main>{heading}{head_of(runs)}"
            f"{''.join(sections)}</main>\n{script_text(vega) if vega else ''}\n"
            f"<script>{script}</script></body></html>\n")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="report.py", description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="the page (default: report.html in DIR, or here for several)")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that goes away ends it quietly
    options = parse_arguments()
    try:
        runs = [read_run(folder, label)
                for folder, label in zip(options.folders, labels_of(options.folders))]
        out = options.out or (options.folders[0] if len(runs) == 1 else Path()) / "report.html"
        vega = vega_folder()
        if vega is None:
            print("report.py: without charts that answer the mouse; scripts/get_vega.sh gets them",
                  file=sys.stderr)
        text = page(runs, vega)
        with whole_file(out) as part:
            part.write_text(text, encoding="utf-8")
        print(shown(out), flush=True)
    except UnwrittenFile as error:
        print(f"report.py: {shown(error)}", file=sys.stderr)
        return 1
    except (ReportError, OSError) as error:
        print(f"report.py: {shown(error)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
