// What is measured. One row of the table is one metric; the config, the schema, `attnscale list
// metrics`, the lines written and the table-wide tests all read that table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "numerics/query_weights.h"
#include "numerics/softmax.h"
#include "theory/exact_means.h"

namespace attnscale {

struct ExactRequest;

/// A metric is one number per query, or else one statistic of all logits of a cell and scaling.
enum class MetricKind { kPerQuery, kLogitMean, kLogitSd, kLogitKurtosis };

/// Over what a histogram of the metric's values is laid out.
enum class HistogramAxis {
  kUnit,       ///< 0 to 1
  kSum,        ///< 0 to the most that weights add up to: 1, or the number of keys for a sigmoid
  kRootOfSum,  ///< 0 to its square root
  kEntropy,    ///< 0 to the most that weights have: ln keys, or keys / e for a sigmoid
  kBits,       ///< the same in bits
  kLogit,      ///< 0 to five expected standard deviations of the logits
  kLogSum,     ///< five of them to either side of ln keys
  kLog10,      ///< log10 of the value, -20 to 0
  kKeys,       ///< 0 to the number of keys
};

/// What a metric needs in order to mean anything; `"metrics": "all"` leaves out a metric whose need
/// is not met.
enum class MetricNeeds {
  kNothing,
  kAlignedKeys,     ///< entries that say which keys are aligned
  kKeptBackWeight,  ///< a scaling whose weights need not add up to 1: a sink or a sigmoid
  kPrecision,       ///< a scaling that is computed in a narrower precision
  kPlaces,          ///< a scaling in which it matters where a key stands
};

/// What a per-query metric may look at besides the weights or sums of its query.
struct QueryContext {
  /// Derivative of the top logit with respect to its score, under a norm to the product after it.
  /// A soft-cap makes it differ from query to query.
  double logit_per_score;
  double saturated_above;                   ///< threshold of the metric `saturated`
  double place = 0;                         ///< i of the query
  std::span<const std::int64_t> keys = {};  ///< places j of its keys; empty if they count from 0
  /// The same query in float64, for metrics against it; nullptr where it is itself.
  const QueryWeights* exact = nullptr;

  /// i - j of a key.
  double distance(std::size_t key) const {
    return place - static_cast<double>(keys.empty() ? key : static_cast<std::size_t>(keys[key]));
  }
};

/// A number of one query by its weights, under whatever rule they were computed.
using WeightsFormula = double (*)(const QueryWeights& query, const QueryContext& context);

/// A number of one query with a softmax in float64, with or without a sink, by its running sums;
/// and of every query of a group by the same formula.
class QueryFormula {
 public:
  using OfQuery = double (*)(const SoftmaxQuery& query, const QueryContext& context);

  constexpr QueryFormula() = default;

  /// The formula as a constant, so that the loop over queries holds it instead of calling it.
  template <OfQuery kFormula>
  static constexpr QueryFormula of() {
    QueryFormula formula;
    formula.of_query_ = kFormula;
    formula.of_queries_ = [](const SoftmaxSums& sums, const QueryContext* contexts, double* out) {
      for (std::int64_t i = 0; i < sums.queries(); ++i) {
        out[i] = kFormula(sums.query(i), contexts[i]);
      }
    };
    return formula;
  }

  /// False if the metric has no such number.
  explicit operator bool() const { return of_query_ != nullptr; }

  double operator()(const SoftmaxQuery& query, const QueryContext& context) const {
    return of_query_(query, context);
  }

  /// Fills `out`: both spans have the length sums.queries().
  void operator()(const SoftmaxSums& sums, std::span<const QueryContext> contexts,
                  std::span<double> out) const {
    of_queries_(sums, contexts.data(), out.data());
  }

 private:
  OfQuery of_query_ = nullptr;
  void (*of_queries_)(const SoftmaxSums&, const QueryContext*, double*) = nullptr;
};

/// A per-query metric is defined by `of_weights`; the formulas over running sums, if it has any,
/// give the same number faster.
struct MetricRow {
  std::string_view name;
  std::string_view unit;   ///< "1", "nat", "bit" or "logit"
  std::string_view title;  ///< heading of a table, in the lesson's words
  std::string_view help;   ///< one line, with the formula
  MetricKind kind = MetricKind::kPerQuery;
  WeightsFormula of_weights = nullptr;  ///< the number of a query; none for a statistic of logits
  /// 1 - of_weights without cancellation, for numbers that crowd at 1; nullptr for others.
  WeightsFormula complement_of_weights = nullptr;
  QueryFormula measure = {};     ///< of_weights from running sums, if they suffice
  QueryFormula complement = {};  ///< complement_of_weights likewise
  /// of_weights from the sums over all keys and those over the aligned keys alone, in place of
  /// `measure`; nullptr for metrics that do not ask which keys are aligned.
  double (*measure_aligned)(const SoftmaxQuery& all, const SoftmaxQuery& aligned) = nullptr;
  SoftmaxLevel level = SoftmaxLevel::kWeights;  ///< what the formulas over sums look at
  MetricNeeds needs = MetricNeeds::kNothing;
  /// Its estimate is the root of the mean of its squares over queries instead of their mean.
  bool is_root_mean_square = false;
  bool needs_slope = false;     ///< its formula takes the context's logit_per_score
  bool needs_two_keys = false;  ///< says nothing with one key, whose weight is 1
  bool against_exact = false;   ///< compares with the same query in float64
  bool is_fraction = false;     ///< 0 or 1 per query: its mean is a fraction
  /// Has a number also for queries whose logits or weights are not finite, for which others are
  /// NaN.
  bool takes_nonfinite = false;
  /// A few unsaturated queries carry the mean, and it hides what the lesson is about.
  bool shown_by_median = false;
  HistogramAxis axis = HistogramAxis::kUnit;
  /// The exact mean over queries, if theory knows it; of a root mean square that of the squares.
  std::optional<ExactMean> exact_mean = std::nullopt;
  double exact_unit = 1;  ///< of the exact mean, in the metric's own unit
  /// The exact fraction of queries above a threshold, if theory knows it; nullptr for others.
  std::optional<double> (*exact_fraction)(const ExactRequest& request, double threshold) = nullptr;
  /// The order of the moments of scores that its standard error rests on; 0 if it is bounded.
  int moments = 0;
};

std::span<const MetricRow> metric_table();

/// The metric of a query by its weights: NaN if these overflowed, unless the metric counts that.
double measure_weights(const MetricRow& metric, const QueryWeights& query,
                       const QueryContext& context);

/// The row of that name, or nullptr.
const MetricRow* find_metric(std::string_view name);

}  // namespace attnscale
