// Rows of a small run of the lesson's exercise, for the tests of what a reader sees.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "experiment/result_row.h"

namespace attnscale {

inline ResultRow lesson_row(const std::string& experiment, std::int64_t d, std::int64_t keys,
                            const std::string& scaling, const std::string& metric) {
  ResultRow row;
  row.key.run = "try_this";
  row.key.experiment = experiment;
  row.key.entries = "normal";
  row.key.d = d;
  row.key.keys = keys;
  row.key.scaling = scaling;
  row.metric = metric;
  row.queries = 10000;
  row.status = LineStatus::kOk;
  return row;
}

/// The spread of experiment `spread` at one size: `ratio` times the exact value.
inline ResultRow spread_row(std::int64_t d, const std::string& scaling, double exact,
                            double ratio) {
  ResultRow row = lesson_row("spread", d, 1, scaling, "logit_sd");
  row.estimate = exact * ratio;
  row.std_error = exact / std::sqrt(20000.0);
  row.reference = exact;
  return row;
}

inline ResultRow query_row(std::int64_t d, const std::string& scaling, const std::string& metric,
                           double mean, double median) {
  ResultRow row = lesson_row("softmax", d, 8, scaling, metric);
  row.estimate = mean;
  row.std_error = 0.0012;
  row.median = median;
  return row;
}

inline CrossingRow crossing_row(const std::string& statistic, double level, std::optional<double> d,
                                CrossingStatus status) {
  CrossingRow row;
  row.key = lesson_row("softmax", 4, 8, "none", "").key;
  row.key.d.reset();
  row.metric = "top_weight";
  row.statistic = statistic;
  row.level = level;
  row.d = d;
  row.status = status;
  return row;
}

/// Spreads at three sizes and, for 8 keys, top weight and slope at two.
inline Results lesson_run() {
  Results run;
  for (const std::int64_t d : {4, 64, 1024}) {
    const double root = std::sqrt(static_cast<double>(d));
    const double ratio = d == 4 ? 1 : d == 64 ? 1.004 : 0.998;
    run.rows.push_back(spread_row(d, "none", root, ratio));
    run.rows.push_back(spread_row(d, "div_sqrt_d", 1, ratio));
    run.rows.push_back(spread_row(d, "div_d", 1 / root, ratio));
  }
  run.rows.push_back(query_row(4, "none", "top_weight", 0.58, 0.56));
  run.rows.push_back(query_row(4, "none", "slope", 0.19, 0.21));
  run.rows.push_back(query_row(4, "div_sqrt_d", "top_weight", 0.36, 0.34));
  run.rows.push_back(query_row(4, "div_sqrt_d", "slope", 0.215, 0.222));
  run.rows.push_back(query_row(4, "div_d", "top_weight", 0.23, 0.22));
  run.rows.push_back(query_row(4, "div_d", "slope", 0.175, 0.17));
  run.rows.push_back(query_row(1024, "none", "top_weight", 0.968, 1));
  run.rows.push_back(query_row(1024, "none", "slope", 0.0163, 7.7e-07));
  run.rows.push_back(query_row(1024, "div_sqrt_d", "top_weight", 0.361, 0.34));
  run.rows.push_back(query_row(1024, "div_sqrt_d", "slope", 0.214, 0.2213));
  run.rows.push_back(query_row(1024, "div_d", "top_weight", 0.1311, 0.131));
  run.rows.push_back(query_row(1024, "div_d", "slope", 0.114, 0.1138));
  run.crossings = {crossing_row("mean", 0.5, std::nullopt, CrossingStatus::kBelow),
                   crossing_row("mean", 0.9, 100.9, CrossingStatus::kOk),
                   crossing_row("median", 0.9, 33.4, CrossingStatus::kOk)};
  return run;
}

}  // namespace attnscale
