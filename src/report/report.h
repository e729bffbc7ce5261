// What a reader sees after a run and from `attnscale show`: the tables of drawn experiments, those
// of given numbers, and what to look for. Knows the rows, and nothing of where they came from.
#pragma once

#include <cstddef>
#include <string>

#include "experiment/result_row.h"
#include "report/metric_tables.h"
#include "report/screen_table.h"

namespace attnscale {

struct ReportStyle {
  TableFormat form = TableFormat::kTable;  ///< or kMarkdown
  std::size_t width = 100;                 ///< of the screen; markdown is as wide as it is
  MetricTitle metric_title = [](const std::string& metric) { return metric; };
};

/// The whole report of one run, ending with a line end; empty where there are no rows.
std::string report(const Results& run, const ReportStyle& style);

}  // namespace attnscale
