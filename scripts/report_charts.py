"""Vega-Lite specifications of the charts of report.html: one per metric and experiment, histograms,
and heat maps of given weights. Knows the columns of the files, and no HTML."""

from report_data import distinct, number_of

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
MOST_CELLS = 4000     # of a heat map, beyond which nobody sees one
MOST_SELECTED = 60    # values that a selector offers
NUMBERS = ["d", "keys", "estimate", "std_error", "ci_low", "ci_high", "q05", "median", "q95",
           "reference", "z", "scaling_value", "entries_value", "level", "d_std_error", "d_exact"]
SIZES = ["d", "keys", "scaling_value", "entries_value"]
SELECTED = ["run_label", "metric", "statistic", "level", "entries_series", "keys", "d", "head"]
TOLD = ["run_label", "metric", "statistic", "level", "series", "entries_series", "d", "keys",
        "estimate", "std_error", "ci_low", "ci_high", "median", "reference", "z", "d_std_error",
        "d_exact", "status"]
# Which columns hold the number that is drawn, its interval, and its exact value.
ESTIMATES = {"y": "estimate", "low": "ci_low", "high": "ci_high", "exact": "reference"}
CROSSINGS = {"y": "d", "low": "d_low", "high": "d_high", "exact": "d_exact"}
CROSSING_ENDS = [{"calculate": f"datum.d {sign} 1.96 * datum.d_std_error", "as": name}
                 for sign, name in (("-", "d_low"), ("+", "d_high"))]


def axis_of(lines, drawn="estimate"):
    """The column along the axis: the first size that varies; else the series."""
    return next((name for name in SIZES if name != drawn and len(distinct(lines, name)) > 1),
                "series")


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


def y_scale(lines, columns):
    """A logarithmic axis where the numbers span more than two powers of ten."""
    values = [number_of(line[columns[name]]) for line in lines
              for name in ("y", "exact") if line.get(columns[name])]
    is_log = values and min(values) > 0 and max(values) > 100 * min(values)
    return {"type": "log"} if is_log else {"zero": False}


def selectors(lines, *shown):
    """Of what varies beside what is shown: (parameters, conditions)."""
    params, filters = [], []
    for name in SELECTED:
        values = distinct(lines, name)
        is_shown = name in shown or ("entries_value" in shown and name == "entries_series")
        if is_shown or not 1 < len(values) <= MOST_SELECTED:
            continue
        choices = [number_of(value) for value in values] if name in NUMBERS else values
        params.append({"name": f"of_{name}", "value": choices[0],
                       "bind": {"input": "select", "options": choices, "name": f"{name} "}})
        filters.append(f"datum.{name} == of_{name}")
    return params, filters


def curve_chart(lines, title, words, data, columns=None, ends=()):
    """Curves of one metric of one experiment, of contrasts or of crossings. `data` is Vega-Lite's:
    the page's lines of numbers, or a file. Lines of several runs have a column run_label."""
    columns = columns or ESTIMATES
    x = axis_of(lines, columns["y"])
    is_several = "run_label" in lines[0]
    colour = "curve" if is_several else "scaling" if x == "scaling_value" else "series"
    params, filters = selectors(lines, x, colour, columns["y"], "run_label")
    has_medians = any(line.get("median") for line in lines)
    if has_medians:
        params.append({"name": "medians", "value": False,
                       "bind": {"input": "checkbox", "name": "medians, and 5 to 95 % of queries "}})
    transform = [{"filter": " && ".join([*filters, f"isValid(datum.{columns['y']})"])}, *ends]
    if is_several:
        transform.append({"calculate": "datum.run_label + ': ' + datum.series", "as": "curve"})
    shade = {"condition": {"param": "shown", "value": 1}, "value": 0.12}
    place = x_of(lines, x, words(x))
    y = {"field": columns["y"], "type": "quantitative", "title": title,
         "scale": y_scale(lines, columns)}
    tooltip = [{"field": name, "type": "quantitative" if name in NUMBERS else "nominal",
                **({"format": ".6~g"} if name in NUMBERS else {})}
               for name in TOLD if any(line.get(name) for line in lines)]
    series = {"field": colour, "type": "nominal", "title": None, "sort": None}

    def span(low, high, condition, **mark):
        return {"transform": [{"filter": f"{condition}isValid(datum.{low})"}],
                "mark": {"type": "rule", **mark},
                "encoding": {"y": {**y, "field": low}, "y2": {"field": high}, "color": series,
                             "opacity": shade}}

    layers = [
        span(columns["low"], columns["high"], ""),
        {"mark": ({"type": "point", "filled": True, "size": 60} if x == "series"
                  else {"type": "line", "point": {"size": 50}, "strokeWidth": 1}),
         "encoding": {"y": y, "color": series, "opacity": shade, "tooltip": tooltip}},
    ]
    if any(line.get(columns["exact"]) for line in lines):
        layers.insert(0, {
            "transform": [{"filter": f"isValid(datum.{columns['exact']})"}],
            "mark": {"type": "point", "shape": "stroke", "angle": 0, "size": 260, "strokeWidth": 2},
            "encoding": {"y": {**y, "field": columns["exact"]}, "color": series, "opacity": shade}})
    if has_medians:
        # Filtered out, they leave the axis alone.
        layers += [
            {"transform": [{"filter": "medians && isValid(datum.median)"}],
             "mark": {"type": "line" if x != "series" else "tick", "strokeDash": [4, 3]},
             "encoding": {"y": {**y, "field": "median"}, "color": series, "opacity": shade}},
            span("q05", "q95", "medians && ", strokeDash=[1, 3])]
    # The legend is the first layer's: it answers clicks only where that has the parameter.
    layers[0]["params"] = [{"name": "shown", "select": {"type": "point", "fields": [colour]},
                            "bind": "legend"},
                           *([] if x == "series" else [{"name": "zoom", "select": "interval",
                                                        "bind": "scales"}])]
    return {"$schema": SCHEMA, "description": f"{title} against {place['title']}: "
            "points are estimates with 95 % intervals, bars across them exact values",
            "data": data, "params": params, "transform": transform, "width": "container",
            "height": 320, "encoding": {"x": place}, "layer": layers}


def histogram_chart(lines, title):
    """How often values fall where, a panel for each series; all panels share their axes. What is
    beyond the axis is told in words by the page."""
    panels = {}
    for line in lines:
        if line["bin_low"] and line["bin_high"] and line["count"] != "0":
            names = tuple(line.get(name) for name in ("run_label", "series", "entries_series", "d",
                                                      "keys"))
            bars = panels.setdefault(names, {"from": [], "to": [], "density": []})
            for name, column in zip(bars, ("bin_low", "bin_high", "density")):
                bars[name].append(float(f"{float(line[column]):.4g}"))
    rows = [{"run_label": run, "series": series, "entries_series": entries, "d": number_of(d),
             "keys": int(keys), **bars} for (run, series, entries, d, keys), bars in panels.items()]
    params, filters = selectors(lines, "series")
    return {"$schema": SCHEMA, "description": f"How often: {title}", "data": {"values": rows},
            "params": params,
            "transform": [*([{"filter": " && ".join(filters)}] if filters else []),
                          {"flatten": ["from", "to", "density"]}],
            "facet": {"field": "series", "type": "nominal", "title": None, "sort": None},
            "columns": 3, "spec": {"width": 230, "height": 130, "mark": "bar", "encoding": {
                "x": {"field": "from", "type": "quantitative", "title": title, "bin": "binned"},
                "x2": {"field": "to"},
                "y": {"field": "density", "type": "quantitative"},
                "tooltip": [{"field": name, "format": ".4~g"}
                            for name in ("from", "to", "density")]}}}


def heat_map(lines):
    """The weights of given queries, a panel for each scaling; None where there are too many."""
    found = [line for line in lines if line["weight"]]
    if not 0 < len(found) <= MOST_CELLS:
        return None
    queries = {}
    for line in found:
        names = tuple(line.get(name) for name in ("run_label", "series", "head", "query"))
        cells = queries.setdefault(names, {"key": [], "weight": []})
        cells["key"].append(int(line["key"]))
        cells["weight"].append(float(f"{float(line['weight']):.4g}"))
    rows = [{"run_label": run, "series": series, "head": head, "query": int(query), **cells}
            for (run, series, head, query), cells in queries.items()]
    params, filters = selectors(found, "series", "keys", "d")
    return {"$schema": SCHEMA, "description": "Weights of given queries: rows are queries, columns "
            "keys", "data": {"values": rows}, "params": params,
            "transform": [*([{"filter": " && ".join(filters)}] if filters else []),
                          {"flatten": ["key", "weight"]}],
            "facet": {"field": "series", "type": "nominal", "title": None, "sort": None},
            "columns": 3, "spec": {"width": 230, "height": 230, "mark": "rect", "encoding": {
                "x": {"field": "key", "type": "ordinal"},
                "y": {"field": "query", "type": "ordinal"},
                "color": {"field": "weight", "type": "quantitative",
                          "scale": {"domain": [0, 1], "scheme": "viridis"}},
                "tooltip": [{"field": "query"}, {"field": "key"},
                            {"field": "weight", "format": ".4~g"}]}}}
