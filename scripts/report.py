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
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from report_charts import (NUMBERS, distinct, heat_map, histogram_chart, metric_chart)
from report_data import ReportError, answers_in, differences, labels_of, read_run
from report_parts import (BASELINE_COLUMNS, CONTRAST_COLUMNS, CROSSING_COLUMNS, LINE_COLUMNS,
                          beyond_text, bullets, chart, difference_table, facts_of, figure,
                          provenance, section, table)

HERE = Path(__file__).resolve().parent
LIBRARIES = ["vega", "vega-lite", "vega-embed"]


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
    program = os.environ.get("ATTNSCALE_PROGRAM") or HERE.parent / "build" / "attnscale"
    try:
        answer = subprocess.run([program, "show", run.folder, "--format", "markdown"],
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
    (figures / f"{name}.vl.json").write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")


def file_data(metric, experiment):
    """summary.csv as the data of a specification in figures/."""
    return {"url": "../summary.csv", "format": {"type": "csv", "parse": {
        name: "number" for name in NUMBERS}}}, {
            "filter": f"datum.metric == {json.dumps(metric)} && "
                      f"datum.experiment == {json.dumps(experiment)}"}


def metric_charts(runs, lines):
    for metric in dict.fromkeys(name for run in runs for name in run.metrics()):
        about = next(run for run in runs if metric in run.metrics()).about_metric(metric)
        of_metric = [line for line in lines if line["metric"] == metric and line["estimate"]]
        for experiment in distinct(of_metric, "experiment"):
            part = [line for line in of_metric if line["experiment"] == experiment]
            spec = metric_chart(part, about, runs[0].about_column, {"name": "lines"})
            if len(runs) == 1:
                data, condition = file_data(metric, experiment)
                named = f"-{experiment}" if len(distinct(of_metric, "experiment")) > 1 else ""
                save_spec(runs[0], metric + named, {
                    **spec, "data": data, "transform": [condition, *spec["transform"]]})
            yield figure(f"<h3>{escape(about['title'])} <code>{escape(metric)}</code></h3>"
                         + chart(spec, metric, experiment),
                         f"{experiment}: {about.get('description', '')}")


def histogram_charts(run):
    for metric in distinct(run.histogram, "metric"):
        for experiment in distinct(run.histogram, "experiment"):
            part = [line for line in run.histogram
                    if line["metric"] == metric and line["experiment"] == experiment]
            if part:
                title = metric.replace("_", " ")
                yield figure(f"<h3>{escape(title)}</h3>" + chart(histogram_chart(part, title)),
                             f"{experiment}. {beyond_text(part)}")


def heat_maps(run):
    for experiment in distinct(run.weights, "experiment"):
        spec = heat_map([line for line in run.weights if line["experiment"] == experiment])
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
                     + (f"<h2>Look for</h2>{bullets(answers)}" if answers else "")
                     + bullets([f"warning: {escape(each)}"
                                for each in run.manifest.get("warnings", [])]))
    return "".join(parts)


def page(runs, vega):
    """The whole page as text."""
    about = runs[0].about_column
    several = len(runs) > 1
    lines = [{**line, "run_label": run.label} if several else line
             for run in runs for line in run.lines]
    columns = [*(["run_label"] if several else []), *LINE_COLUMNS]
    charts = list(metric_charts(runs, lines))
    drawn = [] if vega else [figure(f"<div class=picture>{svg}</div>", title)
                             for run in runs for title, svg in pictures_of(run)]
    sections = [
        section("charts", "Measured", *(charts if vega else drawn)),
        section("differences", "Differences", difference_table(differences(runs), about)
                if several else ""),
    ]
    for run in runs:
        name = f" of {run.label}" if several else ""
        identity = f"-{run.run_id}" if several else ""
        sections += [
            section(f"histograms{identity}", f"Histograms{name}",
                    *(histogram_charts(run) if vega else [])),
            section(f"weights{identity}", f"Given weights{name}",
                    *(heat_maps(run) if vega else [])),
            section(f"crossings{identity}", f"Where one key takes most{name}",
                    table(f"crossings_table{identity}", CROSSING_COLUMNS, run.crossings, about,
                          "The d at which the top weight reaches a level")
                    if run.crossings else ""),
            section(f"contrasts{identity}", f"Contrasts{name}",
                    table(f"contrasts_table{identity}", CONTRAST_COLUMNS, run.contrasts, about,
                          "Each scaling less the baseline, from the same queries")
                    if run.contrasts else ""),
            section(f"baselines{identity}", f"Given beside random{name}",
                    table(f"baselines_table{identity}", BASELINE_COLUMNS, run.baselines, about,
                          "Given numbers beside random ones") if run.baselines else ""),
        ]
    sections += [
        section("all", "All lines", table("lines", columns, lines, about,
                                          "summary.csv; shaded where |z| is above 3")),
        section("provenance", "Where it comes from", *map(provenance, runs)),
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
    options = parse_arguments()
    try:
        runs = [read_run(folder, label)
                for folder, label in zip(options.folders, labels_of(options.folders))]
        out = options.out or (options.folders[0] if len(runs) == 1 else Path()) / "report.html"
        vega = vega_folder()
        if vega is None:
            print("report.py: without charts that answer the mouse; scripts/get_vega.sh gets them",
                  file=sys.stderr)
        part = out.with_name(out.name + ".tmp")
        part.write_text(page(runs, vega), encoding="utf-8")
        os.replace(part, out)
    except (ReportError, OSError) as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2
    print(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
