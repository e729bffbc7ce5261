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
  double logit_per_score;  ///< derivative of the top logit with respect to its score
  double saturated_above;  ///< threshold of the metric `saturated`
};

/// A number of one query, and of every query of a group by the same formula.
class QueryFormula {
 public:
  using OfQuery = double (*)(const SoftmaxQuery& query, const QueryContext& context);

  constexpr QueryFormula() = default;

  /// The formula as a constant, so that the loop over queries holds it instead of calling it.
  template <OfQuery kFormula>
  static constexpr QueryFormula of() {
    QueryFormula formula;
    formula.of_query_ = kFormula;
    formula.of_queries_ = [](const SoftmaxSums& sums, const QueryContext& context, double* out) {
      for (std::int64_t i = 0; i < sums.queries(); ++i) out[i] = kFormula(sums.query(i), context);
    };
    return formula;
  }

  /// False where the metric has no such number.
  explicit operator bool() const { return of_query_ != nullptr; }

  double operator()(const SoftmaxQuery& query, const QueryContext& context) const {
    return of_query_(query, context);
  }

  /// Fills `out`, of length sums.queries().
  void operator()(const SoftmaxSums& sums, const QueryContext& context,
                  std::span<double> out) const {
    of_queries_(sums, context, out.data());
  }

 private:
  OfQuery of_query_ = nullptr;
  void (*of_queries_)(const SoftmaxSums& sums, const QueryContext& context, double* out) = nullptr;
};

struct MetricRow {
  std::string_view name;
  std::string_view unit;   ///< "1", "nat" or "logit"
  std::string_view help;   ///< one line, with the formula
  std::string_view title;  ///< heading of a table, in the lesson's words
  MetricKind kind = MetricKind::kPerQuery;
  QueryFormula measure = {};  ///< the number of a query; none for a statistic of logits,
                              ///< nor beside `measure_aligned`
  /// 1 - measure without cancellation, for numbers that crowd at 1; none for others.
  QueryFormula complement = {};
  /// The number of a query from its softmax over all keys and over its aligned keys alone, in place
  /// of `measure`; nullptr for metrics that do not ask which keys are aligned.
  double (*measure_aligned)(const SoftmaxQuery& all, const SoftmaxQuery& aligned) = nullptr;
  SoftmaxLevel level = SoftmaxLevel::kWeights;  ///< what the formulas look at
  bool needs_two_keys = false;                  ///< says nothing with one key, whose weight is 1
  bool is_fraction = false;                     ///< 0 or 1 per query: its mean is a fraction
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
