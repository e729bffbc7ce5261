"""Vega-Lite specifications of the charts of report.html: one per metric and experiment, histograms,
and heat maps of given weights. Knows the columns of the files, and no HTML."""

from report_data import number_of

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
MOST_CELLS = 4000     # of a heat map, beyond which nobody sees one
MOST_SELECTED = 60    # values that a selector offers
NUMBERS = ["d", "keys", "estimate", "std_error", "ci_low", "ci_high", "q05", "median", "q95",
           "reference", "z", "scaling_value", "entries_value"]
SIZES = ["d", "keys", "scaling_value", "entries_value"]


def distinct(lines, name):
    return list(dict.fromkeys(line[name] for line in lines if line[name] != ""))


def axis_of(lines):
    """The column along the axis: the first size that varies; else the series."""
    return next((name for name in SIZES if len(distinct(lines, name)) > 1), "series")


def parsed(lines, names):
    """The lines with numbers for texts, None for empty cells."""
    return [{name: number_of(line[name]) if name in NUMBERS else line[name] for name in names}
            for line in lines]


def x_of(lines, x, words):
    title = words.get("title")
    encoding = {"field": x, "title": f"{x}: {title}" if title else x.replace("_", " ")}
    if x == "series":
        return {**encoding, "type": "nominal", "axis": {"labelAngle": 0}}
    values = sorted({number_of(line[x]) for line in lines if line[x] != ""})
    is_log = x in ("d", "keys") and values[0] > 0
    scale = {"padding": 15, "nice": False,
             **({"type": "log", "base": 2} if is_log else {"zero": False})}
    axis = {"values": values, "format": "~g"} if len(values) <= 12 else {"format": "~g"}
    return {**encoding, "type": "quantitative", "scale": scale, "axis": axis}


def y_scale(lines):
    """A logarithmic axis where the numbers span more than two powers of ten."""
    values = [number_of(line[name]) for line in lines
              for name in ("estimate", "reference") if line[name]]
    is_log = values and min(values) > 0 and max(values) > 100 * min(values)
    return {"type": "log"} if is_log else {"zero": False}


def selectors(lines, x, colour):
    """Of what varies beside the axis and the colour: (parameters, conditions)."""
    params, filters = [], []
    for name in ("entries_series", "keys", "d"):
        values = distinct(lines, name)
        is_shown = name in (x, colour) or (x == "entries_value" and name == "entries_series")
        if is_shown or not 1 < len(values) <= MOST_SELECTED:
            continue
        numbers = [number_of(value) for value in values] if name in ("keys", "d") else values
        params.append({"name": f"of_{name}", "value": numbers[0],
                       "bind": {"input": "select", "options": numbers, "name": f"{name} "}})
        filters.append(f"datum.{name} == of_{name}")
    return params, filters


def metric_chart(lines, about, words, data):
    """One metric of one experiment. `data` is Vega-Lite's: lines of numbers, or a file. Lines of
    several runs have a column run_label."""
    x = axis_of(lines)
    is_several = "run_label" in lines[0]
    colour = "curve" if is_several else "scaling" if x == "scaling_value" else "series"
    params, filters = selectors(lines, x, colour)
    has_medians = any(line["median"] for line in lines)
    if has_medians:
        params.append({"name": "medians", "value": False,
                       "bind": {"input": "checkbox", "name": "medians, and 5 to 95 % of queries "}})
    transform = [{"filter": " && ".join(filters)}] if filters else []
    if is_several:
        transform.append({"calculate": "datum.run_label + ': ' + datum.series", "as": "curve"})
    shade = {"condition": {"param": "shown", "value": 1}, "value": 0.12}
    place = x_of(lines, x, words(x))
    unit = "" if about["unit"] in ("1", "logit") else f" ({about['unit']})"
    title = about["title"] + unit
    y = {"field": "estimate", "type": "quantitative", "title": title, "scale": y_scale(lines)}
    tooltip = [{"field": name, "type": "quantitative" if name in NUMBERS else "nominal",
                **({"format": ".6~g"} if name in NUMBERS else {})}
               for name in [*(["run_label"] if is_several else []), "series", "entries_series", "d",
                            "keys", "estimate", "std_error", "ci_low", "ci_high", "median",
                            "reference", "z", "status"]]
    series = {"field": colour, "type": "nominal", "title": None, "sort": None}
    layers = [
        {"transform": [{"filter": "isValid(datum.reference)"}],
         "mark": {"type": "point", "shape": "stroke", "angle": 0, "size": 260, "strokeWidth": 2},
         "encoding": {"y": {**y, "field": "reference"}, "color": series, "opacity": shade}},
        {"transform": [{"filter": "isValid(datum.ci_low)"}], "mark": {"type": "rule"},
         "encoding": {"y": {**y, "field": "ci_low"}, "y2": {"field": "ci_high"}, "color": series,
                      "opacity": shade}},
        {"params": [{"name": "shown", "select": {"type": "point", "fields": [colour]},
                     "bind": "legend"},
                    *([] if x == "series" else [{"name": "zoom", "select": "interval",
                                                 "bind": "scales"}])],
         "mark": ({"type": "point", "filled": True, "size": 60} if x == "series"
                  else {"type": "line", "point": {"size": 50}, "strokeWidth": 1}),
         "encoding": {"y": y, "color": series, "opacity": shade, "tooltip": tooltip}},
    ]
    if has_medians:
        # Filtered out, they leave the axis alone.
        shown = [{"filter": "medians && isValid(datum.median)"}]
        layers += [
            {"transform": shown, "mark": {"type": "line" if x != "series" else "tick",
                                          "strokeDash": [4, 3]},
             "encoding": {"y": {**y, "field": "median"}, "color": series, "opacity": shade}},
            {"transform": shown, "mark": {"type": "rule", "strokeDash": [1, 3]},
             "encoding": {"y": {**y, "field": "q05"}, "y2": {"field": "q95"}, "color": series,
                          "opacity": shade}}]
    return {"$schema": SCHEMA, "description": f"{about['title']} against {place['title']}: "
            "points are estimates with 95 % intervals, bars across them exact values",
            "data": data, "params": params, "transform": transform, "width": "container",
            "height": 320, "encoding": {"x": place}, "layer": layers}


def histogram_chart(lines, title):
    """How often values fall where, a panel for each series; all panels share their axes. What is
    beyond the axis is told in words by the page."""
    rows = [{"from": number_of(line["bin_low"]), "to": number_of(line["bin_high"]),
             "density": number_of(line["density"]), "series": line["series"],
             "d": number_of(line["d"]), "keys": number_of(line["keys"]),
             "entries_series": line["entries_series"]}
            for line in lines if line["bin_low"] and line["bin_high"] and line["count"] != "0"]
    params, filters = selectors(lines, None, "series")
    return {"$schema": SCHEMA, "description": f"How often: {title}", "data": {"values": rows},
            "params": params,
            "transform": [{"filter": " && ".join(filters)}] if filters else [],
            "facet": {"field": "series", "type": "nominal", "title": None, "sort": None},
            "columns": 3, "spec": {"width": 230, "height": 130, "mark": "bar", "encoding": {
                "x": {"field": "from", "type": "quantitative", "title": title, "bin": "binned"},
                "x2": {"field": "to"},
                "y": {"field": "density", "type": "quantitative"},
                "tooltip": [{"field": name, "format": ".4~g"}
                            for name in ("from", "to", "density")]}}}


def heat_map(lines):
    """The weights of given queries, a panel for each scaling; None where there are too many."""
    rows = [{"query": int(line["query"]), "key": int(line["key"]), "head": int(line["head"]),
             "series": line["series"], "weight": number_of(line["weight"])}
            for line in lines if line["weight"]]
    if not 0 < len(rows) <= MOST_CELLS:
        return None
    heads = sorted({row["head"] for row in rows})
    params = [] if len(heads) == 1 else [
        {"name": "of_head", "value": heads[0],
         "bind": {"input": "select", "options": heads, "name": "head "}}]
    return {"$schema": SCHEMA, "description": "Weights of given queries: rows are queries, columns "
            "keys", "data": {"values": rows}, "params": params,
            "transform": [{"filter": "datum.head == of_head"}] if params else [],
            "facet": {"field": "series", "type": "nominal", "title": None, "sort": None},
            "columns": 3, "spec": {"width": 230, "height": 230, "mark": "rect", "encoding": {
                "x": {"field": "key", "type": "ordinal"},
                "y": {"field": "query", "type": "ordinal"},
                "color": {"field": "weight", "type": "quantitative",
                          "scale": {"domain": [0, 1], "scheme": "viridis"}},
                "tooltip": [{"field": "query"}, {"field": "key"},
                            {"field": "weight", "format": ".4~g"}]}}}
