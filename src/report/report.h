// What a reader sees after a run and from `attnscale show`: the tables of drawn experiments and of
// given numbers, the answers to the lesson's questions, and the formulas of the scalings. Knows
// nothing of where the rows come from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/result_row.h"
#include "report/metric_tables.h"
#include "report/screen_table.h"

namespace attnscale {

/// "EXPERIMENT: SCALING = FORMULA" for every scaling of every experiment.
std::vector<std::string> formula_lines(const Config& config);

/// "EXPERIMENT: ..." for every experiment of given numbers whose heads share others', or whose
/// numbers hide keys: how many of each.
std::vector<std::string> given_lines(const Config& config);

/// What the tables do not show: formula_lines and given_lines.
struct ReportWords {
  std::vector<std::string> logits = {};
  std::vector<std::string> given = {};

  friend bool operator==(const ReportWords&, const ReportWords&) = default;
};

/// What a reader wants: the report, or the metrics in the rows alone.
enum class Asked { kReport, kMetrics };

/// The whole report of one run as text or markdown, for a screen of that size; markdown is as wide
/// and as long as it is. Ends with a line end; empty if there are no rows. The words follow,
/// formulas if there are scalings other than the lesson's three. Metrics that were asked for come
/// alone, without answers and words. With more than 8 metrics of an experiment the lesson's stand
/// for all, and tables are cut so that they and the answers fill the screen but for two lines; a
/// line says how to see the rest. Markdown has all of them.
std::string report_text(const Results& run, const ReportWords& words, TableFormat format,
                        ScreenSize screen, Asked asked = Asked::kReport);

}  // namespace attnscale
