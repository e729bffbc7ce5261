// What is measured. One row of the table is one metric; the config, the schema, `attnscale list
// metrics`, the lines written and the table-wide tests all read that table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "numerics/softmax.h"

namespace attnscale {

/// A metric is one number per query, or one statistic of all logits of a cell and scaling.
enum class MetricKind { kPerQuery, kLogitStatistic };

/// How a metric's values are binned for quantiles: as they are, or, where they crowd at 0 and at 1,
/// together with their complement.
enum class Resolution { kValue, kValueAndComplement };

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
  std::string_view title;  ///< heading of a table on the screen, in the lesson's words
  MetricKind kind;
  bool needs_two_keys;  ///< says nothing with one key, whose weight is always 1
  bool is_fraction;     ///< 0 or 1 per query: its mean is a fraction
  Resolution resolution;
  /// The number of one query; nullptr for a statistic of logits.
  double (*measure)(const SoftmaxQuery& query, const QueryContext& context);
  /// 1 - measure without cancellation; nullptr unless resolution is kValueAndComplement.
  double (*complement)(const SoftmaxQuery& query, const QueryContext& context);
};

std::span<const MetricRow> metric_table();

/// The row of that name, or nullptr.
const MetricRow* find_metric(std::string_view name);

}  // namespace attnscale
