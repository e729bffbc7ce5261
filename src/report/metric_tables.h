// The numbers of drawn experiments as the lesson prints them: d down, scalings across, one table
// per metric. Knows a metric by its name and what the caller says it is called.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "experiment/result_row.h"
#include "report/screen_table.h"

namespace attnscale {

/// The heading of a metric in the lesson's words: logit_sd -> "spread of the logits".
using MetricTitle = std::string (*)(const std::string& metric);

/// The tables of one grid (result_grid.h) of an experiment under one heading.
struct MetricTables {
  std::string heading;
  std::vector<ScreenTable> tables;
};

/// Tables for every experiment in `rows`, none wider than `width` where that can be had. A cell is
/// "estimate +- standard error", with the exact value in brackets where there is one and room for
/// it; a slope is "median (mean)". A status other than ok stands in the cell; of `converged` a note
/// below counts them. Scalings go down and metrics across where one table per metric would be too
/// wide, or where an experiment has one cell.
std::vector<MetricTables> metric_tables(std::span<const ResultRow> rows, std::size_t width,
                                        MetricTitle title);

}  // namespace attnscale
