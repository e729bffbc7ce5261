#include "report/metric_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "experiment/metric.h"
#include "report/number_text.h"
#include "report/result_grid.h"

namespace attnscale {
namespace {

// What a cell shows, from the widest to the narrowest.
struct CellForm {
  bool exact;
  ErrorForm error;
};

constexpr std::array kCellForms{
    CellForm{true, ErrorForm::kPlusMinus}, CellForm{true, ErrorForm::kLastDigits},
    CellForm{false, ErrorForm::kPlusMinus}, CellForm{false, ErrorForm::kLastDigits}};

bool shown_by_median(std::string_view metric) {
  const MetricRow* row = find_metric(metric);
  return row != nullptr && row->shown_by_median;
}

// The numbers of a cell, empty if the row has none.
std::string numbers_text(const ResultRow& row, CellForm form) {
  if (!row.estimate) return "";
  if (shown_by_median(row.metric) && row.median) {
    return slope_text(*row.median) + " (" + slope_text(*row.estimate) + ")";
  }
  std::string text = row.std_error ? estimate_and_error(*row.estimate, *row.std_error, form.error)
                                   : rounded(*row.estimate, 4);
  if (form.exact && row.reference) {
    text += " [" + rounded_short(*row.reference, 5) + "]";
  }
  return text;
}

std::string cell_text(const ResultRow* row, CellForm form) {
  if (row == nullptr) return "";
  std::string text = numbers_text(*row, form);
  if (row->status == LineStatus::kOk || row->status == LineStatus::kConverged) return text;
  return text += (text.empty() ? "" : " ") + std::string(name_of(row->status));
}

// What the cells of a metric hold.
struct CellContents {
  bool medians = false;
  bool errors = false;
  bool exact_values = false;
};

CellContents contents_of(const ResultGrid& grid, const std::string& metric, CellForm form) {
  CellContents contents;
  for (const ResultRow* row : grid.rows) {
    if (row->metric != metric) continue;
    if (shown_by_median(metric) && row->median) return {true, false, false};
    contents.errors = contents.errors || row->std_error;
    contents.exact_values = contents.exact_values || (form.exact && row->reference);
  }
  return contents;
}

std::string estimate_heading(const CellContents& contents, CellForm form) {
  const bool is_short = form.error == ErrorForm::kLastDigits;
  return std::string("estimate") +
         (!contents.errors ? ""
          : is_short       ? "(error in the last digits)"
                           : " +- standard error") +
         (contents.exact_values ? " [exact]" : "");
}

std::string metric_heading(const ResultGrid& grid, const std::string& metric, CellForm form) {
  const MetricRow* row = find_metric(metric);
  const std::string name = row != nullptr ? fmt::format("{} ({})", row->title, metric) : metric;
  const CellContents contents = contents_of(grid, metric, form);
  if (contents.medians) return name + ": median (mean)";
  return name + ": " + estimate_heading(contents, form);
}

std::vector<ScreenTable> one_table_per_metric(const ResultGrid& grid, CellForm form) {
  std::vector<ScreenTable> tables;
  for (std::size_t metric = 0; metric < grid.metrics.size(); ++metric) {
    ScreenTable& table = tables.emplace_back();
    table.caption = metric_heading(grid, grid.metrics[metric], form);
    table.header = {axis_name(grid.axis)};
    for (const std::string& scaling : grid.scaling_labels) table.header.push_back(scaling);
    for (std::size_t label = 0; label < grid.axis_labels.size(); ++label) {
      std::vector<std::string>& cells = table.rows.emplace_back(1, grid.axis_labels[label]);
      for (std::size_t scaling = 0; scaling < grid.scaling_labels.size(); ++scaling) {
        cells.push_back(cell_text(grid.at(label, scaling, metric), form));
      }
    }
  }
  return tables;
}

// Scalings down and metrics across, for all values of the axis in one table.
std::vector<ScreenTable> one_table_of_metrics(const ResultGrid& grid, CellForm form) {
  const bool has_axis = grid.axis != GridAxis::kNothing;
  ScreenTable table;
  if (has_axis) table.header.push_back(axis_name(grid.axis));
  table.header.emplace_back("scaling");
  table.label_columns = table.header.size();
  for (const std::string& metric : grid.metrics) {
    table.header.push_back(metric);
    table.notes.push_back(metric_heading(grid, metric, form));
  }
  for (std::size_t label = 0; label < grid.axis_labels.size(); ++label) {
    for (std::size_t scaling = 0; scaling < grid.scaling_labels.size(); ++scaling) {
      std::vector<std::string>& cells = table.rows.emplace_back();
      if (has_axis) cells.push_back(grid.axis_labels[label]);
      cells.push_back(grid.scaling_labels[scaling]);
      for (std::size_t metric = 0; metric < grid.metrics.size(); ++metric) {
        cells.push_back(cell_text(grid.at(label, scaling, metric), form));
      }
    }
  }
  return {table};
}

// Metrics down and scalings across, for a single cell of many metrics.
std::vector<ScreenTable> one_row_per_metric(const ResultGrid& grid, CellForm form) {
  ScreenTable table;
  table.header = {"metric"};
  for (const std::string& scaling : grid.scaling_labels) table.header.push_back(scaling);
  CellContents contents;
  for (std::size_t metric = 0; metric < grid.metrics.size(); ++metric) {
    const CellContents here = contents_of(grid, grid.metrics[metric], form);
    contents = {contents.medians || here.medians, contents.errors || here.errors,
                contents.exact_values || here.exact_values};
    std::vector<std::string>& cells = table.rows.emplace_back(1, grid.metrics[metric]);
    for (std::size_t scaling = 0; scaling < grid.scaling_labels.size(); ++scaling) {
      cells.push_back(cell_text(grid.at(0, scaling, metric), form));
    }
  }
  table.caption =
      estimate_heading(contents, form) + (contents.medians ? "; of slopes the median (mean)" : "");
  return {table};
}

// Tables and what their cells show.
struct GridTables {
  std::vector<ScreenTable> tables;
  CellForm form = kCellForms.front();
};

// The first layout that fits, or the last.
GridTables tables_of(const ResultGrid& grid, std::size_t width) {
  constexpr std::size_t kMostAcross = 5;
  std::vector layouts{one_table_per_metric, one_table_of_metrics};
  if (grid.axis == GridAxis::kNothing) layouts = {one_table_of_metrics, one_row_per_metric};
  if (grid.axis == GridAxis::kNothing && grid.metrics.size() > kMostAcross)
    layouts.erase(layouts.begin());
  GridTables made;
  for (const auto layout : layouts) {
    for (const CellForm form : kCellForms) {
      made = {layout(grid, form), form};
      const auto fits = [width](const ScreenTable& table) { return text_width(table) <= width; };
      if (std::ranges::all_of(made.tables, fits)) return made;
    }
  }
  return made;
}

// Rows of the lesson's metrics in a grid of several cells, and the names of the others.
struct ScreenRows {
  std::vector<ResultRow> rows;
  std::vector<std::string> left_out;
};

ScreenRows screen_rows(const ResultGrid& grid) {
  constexpr std::array<std::string_view, 3> kLesson{"logit_sd", "top_weight", "slope"};
  const auto is_shown = [&](const std::string& metric) {
    return std::ranges::find(kLesson, metric) != kLesson.end();
  };
  ScreenRows screen;
  if (grid.axis == GridAxis::kNothing || std::ranges::none_of(grid.metrics, is_shown)) {
    return screen;
  }
  for (const ResultRow* row : grid.rows) {
    if (is_shown(row->metric)) screen.rows.push_back(*row);
  }
  std::ranges::copy_if(grid.metrics, std::back_inserter(screen.left_out), std::not_fn(is_shown));
  return screen;
}

std::int64_t count_of(const ResultGrid& grid, LineStatus status) {
  return std::ranges::count(grid.rows, status, &ResultRow::status);
}

// Says where the exact values are if the tables had no room for them.
void point_to_exact_values(const ResultGrid& grid, GridTables& made) {
  const auto has_exact_value = [](const ResultRow* row) { return row->reference.has_value(); };
  const auto is_shown = [&](const std::string& metric) {
    return contents_of(grid, metric, made.form).exact_values;
  };
  if (std::ranges::none_of(grid.rows, has_exact_value)) return;
  if (std::ranges::any_of(grid.metrics, is_shown)) return;
  made.tables.back().notes.emplace_back(
      "exact values: in summary.csv, or attnscale show --format markdown");
}

// Says how many values reached the precision target, if there is one.
void note_precision(const ResultGrid& grid, ScreenTable& last) {
  const std::int64_t converged = count_of(grid, LineStatus::kConverged);
  const std::int64_t stopped = count_of(grid, LineStatus::kMaxQueries);
  if (converged + stopped == 0) return;
  last.notes.push_back(fmt::format(
      "precision target: {} reached it (converged), {} did not (max_queries)", converged, stopped));
}

// Says why a drawn number that varies is shown without an error. A fraction of 0 or 1 has no error
// but an interval; given numbers, which belong to no law, have neither.
void explain_missing_errors(const ResultGrid& grid, ScreenTable& last) {
  const auto lacks_error = [](const ResultRow* row) {
    return !row->key.entries.empty() && row->status == LineStatus::kOk && row->estimate &&
           !row->std_error && !row->ci_low;
  };
  const auto found = std::ranges::find_if(grid.rows, lacks_error);
  if (found == grid.rows.end()) return;
  const ResultKey& key = (*found)->key;
  last.notes.push_back(fmt::format("no error bar for {}: {} has too few moments", (*found)->metric,
                                   name_with_value(key.entries, key.entries_value)));
}

// Says what statuses mean, if any but ok is shown.
void explain_statuses(const ResultGrid& grid, ScreenTable& last) {
  for (std::size_t i = 0; i < kLineStatuses.size(); ++i) {
    const auto& [name, means] = kLineStatuses[i];
    if (means.empty() || count_of(grid, LineStatus{static_cast<int>(i)}) == 0) continue;
    last.notes.push_back(fmt::format("{}: {}", name, means));
  }
}

}  // namespace

std::vector<MetricTables> metric_tables(std::span<const ResultRow> rows, std::size_t width,
                                        MetricsShown shown) {
  std::vector<MetricTables> all;
  for (const ResultGrid& whole : grids_of(rows)) {
    const ScreenRows screen = shown == MetricsShown::kAll ? ScreenRows{} : screen_rows(whole);
    const ResultGrid grid = screen.rows.empty() ? whole : grids_of(screen.rows).front();
    GridTables made = tables_of(grid, width);
    point_to_exact_values(grid, made);
    note_precision(grid, made.tables.back());
    explain_missing_errors(grid, made.tables.back());
    explain_statuses(grid, made.tables.back());
    if (!screen.left_out.empty()) {
      std::string& note = made.tables.back().notes.emplace_back(
          fmt::format("{} more metrics with attnscale show DIR --metric NAME, or all:",
                      screen.left_out.size()));
      for (const std::string& name : screen.left_out) note += " " + name;
    }
    all.push_back({caption_of(grid), std::move(made.tables)});
  }
  return all;
}

}  // namespace attnscale
