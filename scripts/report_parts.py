"""The sections of report.html as HTML. Knows no file and no chart library."""

import json
from html import escape

from report_data import FAMILY, number_of

WORDS = {"experiment", "entries_series", "series", "scaling", "metric", "status", "run", "baseline",
         "statistic", "run_label"}
LINE_COLUMNS = ["experiment", "entries_series", "d", "keys", "series", "metric", "queries",
                "estimate", "std_error", "ci_low", "ci_high", "q05", "median", "q95", "reference",
                "z", "scaling", "scaling_value", "entries_value", "status"]
CROSSING_COLUMNS = ["experiment", "entries_series", "keys", "series", "statistic", "level", "d",
                    "d_std_error", "d_exact", "status"]
CONTRAST_COLUMNS = ["experiment", "entries_series", "d", "keys", "metric", "series", "baseline",
                    "estimate", "std_error", "ci_low", "ci_high"]
BASELINE_COLUMNS = ["experiment", "d", "keys", "series", "metric", "estimate", "baseline",
                    "baseline_std_error", "ratio"]
FAR = 3  # |z| from which a line is shaded
MOST_LINES = 3000  # of a table; the files hold all


def short(text):
    """Six digits of a number; other texts as they are."""
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text


def cell(column, value):
    text = "" if value is None else str(value)
    shown = text if column in WORDS else short(text)
    return f"<td{' class=word' if column in WORDS else ''}>{escape(shown)}</td>"


def table(identity, columns, lines, about, caption):
    """A table of objects; `about` gives a column's words."""
    used = [name for name in columns if any(line.get(name) not in ("", None) for line in lines)]
    heads = []
    for name in used:
        tip = about(name).get("description", "")
        heads.append(f"<th scope=col{' class=word' if name in WORDS else ''}"
                     f"{f' title={json.dumps(escape(tip, quote=True))}' if tip else ''}>"
                     f"{escape(name)}</th>")
    rows = []
    for line in lines[:MOST_LINES]:
        z = line.get("z")
        z = number_of(z) if isinstance(z, str) else z
        far = " class=far" if z is not None and abs(z) > FAR else ""
        rows.append(f"<tr{far}>{''.join(cell(name, line.get(name)) for name in used)}</tr>")
    rest = (f"<p class=faint>{len(lines) - MOST_LINES:,} more lines are in the files.</p>"
            if len(lines) > MOST_LINES else "")
    return (f"<div class=scroll tabindex=0><table class=sortable id={identity}>"
            f"<caption class=faint>{escape(caption)}</caption>"
            f"<thead><tr>{''.join(heads)}</tr></thead><tbody>\n" + "\n".join(rows)
            + f"\n</tbody></table></div>{rest}")


def section(identity, title, *parts):
    text = "\n".join(part for part in parts if part)
    return f'<section id="{identity}"><h2>{escape(title)}</h2>\n{text}\n</section>' if text else ""


def figure(inner, caption):
    return f"<figure>{inner}<figcaption>{escape(caption)}</figcaption></figure>"


def chart(spec, metric="", experiment=""):
    """A place for a chart, with its specification as text that no script runs."""
    text = json.dumps(spec, separators=(",", ":")).replace("<", "\\u003c")
    named = (f' data-metric="{escape(metric, quote=True)}"'
             f' data-experiment="{escape(experiment, quote=True)}"' if metric else "")
    return (f'<div class=chart role=group aria-label="{escape(spec["description"], quote=True)}"'
            f'{named}><script type="application/json">{text}</script></div>')


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


def provenance(run):
    manifest = run.manifest
    files = manifest.get("files", [])
    hashes = "\n".join(f"{each.get('sha256', '')}  {each.get('name', '')}" for each in files)
    logits = "\n".join(manifest.get("logits", []))
    config = json.dumps(run.config, indent=2)
    return "\n".join([
        f"<h3>{escape(run.label)}</h3>", f"<p class=faint>{escape(facts_of(run))}</p>",
        f"<h3>Logits</h3><pre>{escape(logits)}</pre>" if logits else "",
        "<h3>To repeat it</h3><pre>attnscale run config.json</pre>",
        f"<details><summary>config.json</summary><pre>{escape(config)}</pre></details>",
        f"<details><summary>SHA-256 of the files</summary><pre>{escape(hashes)}</pre></details>"
        if hashes else ""])


def difference_table(found, about):
    columns = [*FAMILY, "first", "run", "other", "difference", "std_error", "z"]
    return table("differences", columns, found, about,
                 "Each line of the first run beside that of another: the furthest first")


def beyond_text(lines):
    """How many values of a histogram lie beyond its axis, series by series."""
    texts = []
    for line in lines:
        if line["count"] == "0" or (line["bin_low"] and line["bin_high"]):
            continue
        side = "lower" if not line["bin_low"] else "higher"
        texts.append(f"{line['series']}, d = {line['d']}, {line['keys']} keys: "
                     f"{int(line['count']):,} {side}")
    return "Beyond the axis: " + "; ".join(texts) if texts else ""
