// What is measured. One row of the table is one metric; the config, the schema, `attnscale list
// metrics`, the lines written and the table-wide tests all read that table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "numerics/softmax.h"

namespace attnscale {

struct SoftmaxReference;

/// A metric is one number per query, or one statistic of all logits of a cell and scaling.
enum class MetricKind { kPerQuery, kLogitStatistic };

/// Over what a histogram of the metric's values is laid out.
enum class HistogramAxis {
  kUnit,     ///< 0 to 1
  kEntropy,  ///< 0 to ln keys
  kLogit,    ///< 0 to five expected standard deviations of the logits
  kLog10,    ///< log10 of the value, -20 to 0
};

/// What a per-query metric may look at beside the softmax sums of its query.
struct QueryContext {
  std::int64_t keys;
  double logit_per_score;  ///< derivative of the top logit with respect to its score
  double saturated_above;  ///< threshold of the metric `saturated`
};

struct MetricRow {
  std::string_view name;
  std::string_view unit;   ///< "1", "nat" or "logit"
  std::string_view help;   ///< one line, with the formula
  std::string_view title;  ///< heading of a table, in the lesson's words
  MetricKind kind = MetricKind::kPerQuery;
  /// The number of one query; nullptr for a statistic of logits.
  double (*measure)(const SoftmaxQuery& query, const QueryContext& context) = nullptr;
  /// 1 - measure without cancellation, for numbers that crowd at 1; nullptr for others.
  double (*complement)(const SoftmaxQuery& query, const QueryContext& context) = nullptr;
  bool needs_two_keys = false;  ///< says nothing with one key, whose weight is 1
  bool is_fraction = false;     ///< 0 or 1 per query: its mean is a fraction
  HistogramAxis axis = HistogramAxis::kUnit;
  /// The exact mean over queries, where theory knows it; nullptr for others.
  double SoftmaxReference::*exact_mean = nullptr;
  /// The order of the moments of scores that its standard error rests on; 0 where it is bounded.
  int moments = 0;
};

std::span<const MetricRow> metric_table();

/// The row of that name, or nullptr.
const MetricRow* find_metric(std::string_view name);

}  // namespace attnscale
