#include "report/metric_tables.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "report/number_text.h"
#include "report/panel.h"

namespace attnscale {
namespace {

enum class Exact { kShown, kLeftOut };

// The mean of these is carried by a few unsaturated queries and hides what the lesson is about.
constexpr std::array<std::string_view, 2> kShownByMedian = {"slope", "score_slope"};

bool shown_by_median(const std::string& metric) {
  return std::ranges::find(kShownByMedian, metric) != kShownByMedian.end();
}

std::string slope_text(double number) {
  return rounded(number, number < 0.001 ? 2 : 3);
}

/// The numbers of a cell, empty where the row has none.
std::string numbers_text(const ResultRow& row, Exact exact) {
  if (!row.estimate) return "";
  if (shown_by_median(row.metric) && row.median) {
    return slope_text(*row.median) + " (" + slope_text(*row.estimate) + ")";
  }
  std::string text =
      row.std_error ? estimate_and_error(*row.estimate, *row.std_error) : rounded(*row.estimate, 4);
  if (exact == Exact::kShown && row.reference) {
    text += " [" + rounded_short(*row.reference, 5) + "]";
  }
  return text;
}

std::string cell_text(const ResultRow* row, Exact exact) {
  if (row == nullptr) return "";
  std::string text = numbers_text(*row, exact);
  if (row->status == "ok" || row->status == "converged") return text;
  return text.empty() ? row->status : text + " " + row->status;
}

/// What the cells of a metric hold, in words.
std::string cell_legend(const Panel& panel, const std::string& metric, Exact exact) {
  bool any_error = false;
  bool any_exact = false;
  for (const ResultRow* row : panel.rows) {
    if (row->metric != metric) continue;
    if (shown_by_median(metric) && row->median) return "median (mean)";
    any_error = any_error || row->std_error;
    any_exact = any_exact || row->reference;
  }
  std::string text = any_error ? "estimate +- standard error" : "estimate";
  if (any_exact && exact == Exact::kShown) text += " [exact]";
  return text;
}

std::string metric_heading(const Panel& panel, const std::string& metric, Exact exact,
                           const MetricTitle& title) {
  const std::string words = title(metric);
  const std::string name = words.empty() || words == metric ? metric : words + " (" + metric + ")";
  return name + ": " + cell_legend(panel, metric, exact);
}

std::vector<ScreenTable> one_table_per_metric(const Panel& panel, Exact exact,
                                              const MetricTitle& title) {
  std::vector<ScreenTable> tables;
  for (const std::string& metric : panel.metrics) {
    ScreenTable& table = tables.emplace_back();
    table.caption = metric_heading(panel, metric, exact, title);
    table.header = {axis_name(panel.axis)};
    std::ranges::copy(panel.scaling_labels, std::back_inserter(table.header));
    for (const std::string& axis_label : panel.axis_labels) {
      std::vector<std::string>& cells = table.rows.emplace_back(1, axis_label);
      for (const std::string& scaling : panel.scaling_labels) {
        cells.push_back(cell_text(panel.find(axis_label, scaling, metric), exact));
      }
    }
  }
  return tables;
}

/// Scalings down and metrics across, for all values of the axis in one table.
ScreenTable one_table_of_metrics(const Panel& panel, Exact exact, const MetricTitle& title) {
  const bool has_axis = panel.axis != PanelAxis::kNothing;
  ScreenTable table;
  if (has_axis) table.header.push_back(axis_name(panel.axis));
  table.header.emplace_back("scaling");
  table.label_columns = table.header.size();
  for (const std::string& metric : panel.metrics) {
    table.header.push_back(metric);
    table.notes.push_back(metric_heading(panel, metric, exact, title));
  }
  for (const std::string& axis_label : panel.axis_labels) {
    for (const std::string& scaling : panel.scaling_labels) {
      std::vector<std::string>& cells = table.rows.emplace_back();
      if (has_axis) cells.push_back(axis_label);
      cells.push_back(scaling);
      for (const std::string& metric : panel.metrics) {
        cells.push_back(cell_text(panel.find(axis_label, scaling, metric), exact));
      }
    }
  }
  return table;
}

bool fits(const std::vector<ScreenTable>& tables, std::size_t width) {
  return std::ranges::all_of(
      tables, [width](const ScreenTable& table) { return text_width(table) <= width; });
}

std::vector<ScreenTable> tables_of(const Panel& panel, std::size_t width,
                                   const MetricTitle& title) {
  if (panel.axis != PanelAxis::kNothing) {
    for (const Exact exact : {Exact::kShown, Exact::kLeftOut}) {
      std::vector<ScreenTable> tables = one_table_per_metric(panel, exact, title);
      if (fits(tables, width)) return tables;
    }
  }
  std::vector<ScreenTable> tables = {one_table_of_metrics(panel, Exact::kShown, title)};
  if (!fits(tables, width)) tables = {one_table_of_metrics(panel, Exact::kLeftOut, title)};
  return tables;
}

/// Says how many values reached the precision asked for, where any was asked for.
void note_precision(const Panel& panel, ScreenTable& last) {
  const auto count = [&](std::string_view status) {
    return std::ranges::count(panel.rows, status, &ResultRow::status);
  };
  const auto converged = count("converged");
  const auto stopped = count("max_queries");
  if (converged + stopped == 0) return;
  last.notes.push_back("precision asked for: reached by " + std::to_string(converged) +
                       " values (converged), not by " + std::to_string(stopped) + " (max_queries)");
}

/// Says what statuses stand for, where any but ok is shown.
void explain_statuses(const Panel& panel, ScreenTable& last) {
  const auto any = [&](std::string_view status) {
    return std::ranges::find(panel.rows, status, &ResultRow::status) != panel.rows.end();
  };
  if (any("degenerate")) last.notes.emplace_back("degenerate: no number differs from another");
  if (any("nonfinite")) {
    last.notes.emplace_back("nonfinite: a score, logit or weight overflowed, or is no number");
  }
}

/// Says where exact values are that the tables had no room for.
void point_to_exact_values(const Panel& panel, std::vector<ScreenTable>& tables) {
  const bool any = std::ranges::any_of(
      panel.rows, [](const ResultRow* row) { return row->reference.has_value(); });
  const bool shown = std::ranges::any_of(tables, [](const ScreenTable& table) {
    const auto tells = [](const std::string& text) { return text.ends_with("[exact]"); };
    return tells(table.caption) || std::ranges::any_of(table.notes, tells);
  });
  if (any && !shown) {
    tables.back().notes.emplace_back(
        "exact values: in summary.csv, or attnscale show --format markdown");
  }
}

}  // namespace

std::vector<MetricTables> metric_tables(std::span<const ResultRow> rows, std::size_t width,
                                        const MetricTitle& title) {
  std::vector<MetricTables> all;
  for (const Panel& panel : panels_of(rows)) {
    MetricTables& panel_tables = all.emplace_back();
    panel_tables.heading = caption_of(panel);
    panel_tables.tables = tables_of(panel, width, title);
    point_to_exact_values(panel, panel_tables.tables);
    note_precision(panel, panel_tables.tables.back());
    explain_statuses(panel, panel_tables.tables.back());
  }
  return all;
}

}  // namespace attnscale
