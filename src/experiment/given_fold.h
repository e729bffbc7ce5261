// What given queries come to, one after another: all of an experiment, those of a head, or one
// query. Knows nothing of how they were measured.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "experiment/metric.h"
#include "experiment/result_row.h"
#include "numerics/central_sums.h"

namespace attnscale {

/// One query under one scaling.
struct QueryNumbers {
  std::vector<double> values;  ///< of each metric; NaN for statistics of logits and what overflowed
  CentralSums logits;          ///< of its logits; none if one is not finite
};

/// The metrics of a line of heads.csv or queries.csv.
inline constexpr std::string_view kHeadMetrics[] = {"logit_sd", "max_logit",      "top_weight",
                                                    "entropy",  "effective_keys", "saturated"};

/// Takes query after query under one scaling.
class GivenFold {
 public:
  /// The values of a query are of `metrics`, in this order.
  explicit GivenFold(std::vector<const MetricRow*> metrics);

  void add(const QueryNumbers& query);

  /// The line of metric number `m`, all but its key. Statistics per query are of those that are
  /// finite.
  ResultRow row(std::size_t m) const;

  /// What the queries come to as a line of heads.csv; kHeadMetrics must be among the metrics.
  HeadNumbers head_numbers() const;

  /// Forgets all queries.
  void clear() { *this = GivenFold(std::move(metrics_)); }

 private:
  std::vector<const MetricRow*> metrics_;
  std::int64_t queries_ = 0;
  std::int64_t finite_queries_ = 0;  // whose logits are
  CentralSums logit_sums_;
  std::vector<std::vector<double>> values_;  // of each metric per query
};

}  // namespace attnscale
