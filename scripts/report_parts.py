"""The sections of report.html as HTML. Knows no file and no chart library."""

import json
from html import escape

from report_data import distinct, number_of

WORDS = {"experiment", "entries_series", "series", "scaling", "metric", "status", "run", "baseline",
         "statistic", "run_label", "shared"}
LINE_COLUMNS = ["run_label", "experiment", "entries_series", "d", "keys", "series", "metric",
                "queries", "estimate", "std_error", "ci_low", "ci_high", "q05", "median", "q95",
                "reference", "z", "scaling", "scaling_value", "entries_value", "status"]
CROSSING_COLUMNS = ["run_label", "experiment", "entries_series", "keys", "series", "statistic",
                    "level", "d", "d_std_error", "d_exact", "status"]
CONTRAST_COLUMNS = ["run_label", "experiment", "entries_series", "d", "keys", "metric", "series",
                    "baseline", "estimate", "std_error", "ci_low", "ci_high"]
BASELINE_COLUMNS = ["run_label", "experiment", "d", "keys", "series", "metric", "estimate",
                    "baseline", "baseline_std_error", "ratio", "matched", "matched_std_error",
                    "matched_ratio"]
DIFFERENCE_COLUMNS = ["experiment", "entries_series", "d", "keys", "series", "metric", "estimate_a",
                      "std_error_a", "run", "estimate_b", "std_error_b", "difference", "std_error",
                      "z", "shared"]
FAR = 3  # |z| from which a line is shaded
MOST_BYTES = 130_000  # of the table of all lines; others have a quarter; the files hold all
MOST_CONFIG = 15_000  # letters, of all runs
MOST_NAMED = 8  # numbers of a list, beyond which its ends stand for it


def short(text):
    """Six digits of a number; other texts as they are."""
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text


def row_text(line, columns):
    """The line as a row, of few bytes: HTML closes cells by itself."""
    z = number_of(line.get("z") or "")
    far = " class=far" if z is not None and abs(z) > FAR else ""
    texts = [line.get(name) or "" for name in columns]
    return f"<tr{far}>" + "".join(
        f"<td>{escape(text if name in WORDS else short(text))}"
        for name, text in zip(columns, texts)) + "</tr>"


def used_columns(columns, lines):
    """Those that are not empty throughout; a scaling alone, without its value, is its series."""
    used = [name for name in columns if any(line.get(name) for line in lines)]
    return [name for name in used if name != "scaling" or "scaling_value" in used]


def fitting(columns, lines, most=MOST_BYTES // 4):
    """As many of the lines as the table of so many bytes takes."""
    used = used_columns(columns, lines)
    size = 0
    for count, line in enumerate(lines):
        size += len(row_text(line, used))
        if size > most:
            return lines[:count]
    return lines


def table(identity, columns, lines, about, caption, most=MOST_BYTES // 4):
    """A table of objects of texts; `about` gives a column's words."""
    used = used_columns(columns, lines)
    heads = []
    for name in used:
        tip = about(name).get("description", "")
        heads.append(f"<th scope=col{' class=word' if name in WORDS else ''}"
                     f"{f' title={quoted(tip)}' if tip else ''}>{escape(name)}</th>")
    shown = fitting(columns, lines, most)
    rest = (f"<p class=faint>{len(lines) - len(shown):,} more lines are in the files.</p>"
            if len(lines) > len(shown) else "")
    words = ",".join(f"#{identity} td:nth-child({place})"
                     for place, name in enumerate(used, 1) if name in WORDS)
    style = f"<style>{words}{{text-align:left}}</style>" if words else ""
    return (f"{style}<div class=scroll tabindex=0><table class=sortable id={identity}>"
            f"<caption class=faint>{escape(caption)}</caption>"
            f"<thead><tr>{''.join(heads)}</tr></thead><tbody>\n"
            + "\n".join(row_text(line, used) for line in shown)
            + f"\n</tbody></table></div>{rest}")


def quoted(text):
    """The text as the value of an attribute."""
    return f'"{escape(text, quote=True)}"'


def section(identity, title, *parts):
    text = "\n".join(part for part in parts if part)
    return f'<section id="{identity}"><h2>{escape(title)}</h2>\n{text}\n</section>' if text else ""


def figure(inner, caption):
    return f"<figure>{inner}<figcaption>{escape(caption)}</figcaption></figure>"


def chart(spec, **of):
    """A place for a chart, with its specification as text that no script runs, and what the lines
    are of that it draws."""
    text = json.dumps(spec, separators=(",", ":")).replace("<", "\\u003c")
    named = "".join(f" data-{name}={quoted(value)}" for name, value in of.items())
    return (f"<div class=chart role=group aria-label={quoted(spec['description'])}"
            f'{named}><script type="application/json">{text}</script></div>')


def metric_heading(about):
    """A metric by its words, what it is as a tooltip, and its name in the files."""
    tip = quoted(about.get("description", ""))
    return (f"<h3><abbr title={tip}>{escape(about['title'])}</abbr> "
            f"<code>{escape(about['name'])}</code></h3>")


def listed(values):
    return ", ".join(values) if len(values) <= MOST_NAMED else f"{values[0]} to {values[-1]}"


def questions(run):
    """What was asked, a sentence for each experiment that was drawn or has lines."""
    for experiment in distinct(run.lines, "experiment"):
        lines = [line for line in run.lines if line["experiment"] == experiment]
        titles = [run.about_metric(name)["title"] for name in distinct(lines, "metric")]
        what = " and the ".join(filter(None, [", the ".join(titles[:-1]), titles[-1]]))
        sizes = [f"{word} {listed(distinct(lines, name))}" for name, word in
                 (("keys", "keys"), ("d", "d"), ("entries_series", "entries")) if
                 distinct(lines, name)]
        queries = listed([f"{int(number):,}" for number in distinct(lines, "queries")])
        verb = "are" if titles[1:] else "is"
        yield (f"{experiment}: how large {verb} the {what} of {queries} queries "
               f"({'; '.join(sizes)}) under {listed(distinct(lines, 'series'))}?")


def glossary(run):
    """Every column and metric of the page in words."""
    metrics = {name: run.about_metric(name) for name in run.metrics()}
    words = {name: run.about_column(name).get("description", "")
             for name in used_columns(LINE_COLUMNS, run.lines)}
    words.update({name: f"{about['title']}: {about.get('description', '')}"
                  for name, about in metrics.items()})
    items = "".join(f"<dt><code>{escape(name)}</code></dt><dd>{escape(text)}</dd>"
                    for name, text in words.items() if text)
    return f"<details><summary>Columns and metrics</summary><dl>{items}</dl></details>"


def bullets(items):
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>" if items else ""


def facts_of(run):
    manifest = run.manifest
    build = manifest.get("build", {}) if isinstance(manifest.get("build"), dict) else {}
    facts = [("seed", run.config.get("seed", "")), ("fingerprint", manifest.get("fingerprint", "")),
             ("version", manifest.get("version", build.get("version", ""))),
             ("commit", manifest.get("commit", build.get("commit", ""))),
             ("ended", manifest.get("ended", "")), ("status", manifest.get("status", ""))]
    return ", ".join(f"{name} {value}" for name, value in facts if value != "")


def cut(text, most, file):
    return text if len(text) <= most else f"{text[:most]}\n... the rest is in the run's {file}"


def provenance(run, most=MOST_CONFIG):
    manifest = run.manifest
    files = manifest.get("files", [])
    hashes = cut("\n".join(f"{each.get('sha256', '')}  {each.get('name', '')}" for each in files),
                 most, "manifest.json")
    logits = "\n".join(manifest.get("logits", []))
    config = cut(json.dumps(run.config, indent=2), most, "config.json")
    return "\n".join([
        f"<h3>{escape(run.label)}</h3>", f"<p class=faint>{escape(facts_of(run))}</p>",
        f"<h3>Logits</h3><pre>{escape(logits)}</pre>" if logits else "",
        "<h3>To repeat it</h3><pre>attnscale run config.json</pre>",
        f"<details><summary>config.json</summary><pre>{escape(config)}</pre></details>",
        f"<details><summary>SHA-256 of the files</summary><pre>{escape(hashes)}</pre></details>"
        if hashes else ""])


def beyond_text(lines):
    """How many values of a histogram lie beyond its axis, series by series."""
    texts = []
    for line in lines:
        if line["count"] == "0" or (line["bin_low"] and line["bin_high"]):
            continue
        side = "lower" if not line["bin_low"] else "higher"
        run = f"{line['run_label']}: " if "run_label" in line else ""
        texts.append(f"{run}{line['series']}, d = {line['d']}, {line['keys']} keys: "
                     f"{int(line['count']):,} {side}")
    return "Beyond the axis: " + "; ".join(texts) if texts else ""
