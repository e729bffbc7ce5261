// The tables of drawn experiments, metric by metric.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "experiment/result_row.h"
#include "report/screen_table.h"

namespace attnscale {

/// All metrics in the rows, or of several cells the lesson's alone with a line on how to see the
/// others.
enum class MetricsShown { kAll, kLesson };

/// The tables of one grid (result_grid.h) of an experiment under one heading.
struct MetricTables {
  std::string heading;
  std::vector<ScreenTable> tables;
};

/// Tables for every experiment in `rows`, if possible none wider than `width`. A cell is "estimate
/// +- standard error", with the exact value in brackets if there is one and room for it; a slope is
/// "median (mean)". A cell shows its status unless that is ok or converged; a note below counts the
/// converged values. Where room is short, errors are in brackets, as 0.8740(17); where that is not
/// enough, exact values are left out. Scalings go down and metrics across if one table per metric
/// would be too wide, or if an experiment has one cell; of many metrics of one cell each has a
/// line.
std::vector<MetricTables> metric_tables(std::span<const ResultRow> rows, std::size_t width,
                                        MetricsShown shown);

}  // namespace attnscale
