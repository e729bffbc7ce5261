#include "experiment/metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "numerics/portable_math.h"
#include "numerics/softmax_query.h"
#include "numerics/weight_errors.h"
#include "numerics/weight_jacobian.h"
#include "numerics/weight_sums.h"
#include "theory/exact_pair.h"

namespace attnscale {
namespace {

using Weights = QueryWeights;
using Query = SoftmaxQuery;
using Context = QueryContext;

// By weights, under any rule. A formula of one line is in its row.

double top_of(const Weights& w) {
  return w.weights()[w.top()];
}

double others_of(const Weights& w) {
  return w.complements()[w.top()];
}

double slope(const Weights& w) {
  return w.slope(w.top());
}

double margin_of(const Weights& w) {
  return w.logits()[w.top()] - w.logits()[w.next()];
}

double max_logit_of(const Weights& w) {
  const auto [low, high] = std::ranges::minmax(w.logits());
  return std::max(-low, high);
}

// Of exact weights p1 - p2 = p1 (1 - e^(logit2 - logit1)), for sigmoids times 1 - p2; rounded ones
// are subtracted as they are.
double weight_margin_of(const Weights& w) {
  if (w.next() == w.top()) return top_of(w);
  if (!w.rule().precision.has_exact_weights()) return top_of(w) - w.weights()[w.next()];
  const bool is_sigmoid = w.rule().normaliser.kind == NormaliserKind::kSigmoid;
  const double share = is_sigmoid ? w.complements()[w.next()] : 1;
  return -top_of(w) * share * plain::expm1(-margin_of(w));
}

double log_of_sum(const Weights& w) {
  return w.log_sum();
}

double lost_keys_of(const Weights& w) {
  const auto lost = std::ranges::count(w.weights(), 0.0);
  return static_cast<double>(lost) / static_cast<double>(w.weights().size());
}

double aligned_top_of(const Weights& w) {
  return std::cmp_less(w.top(), w.aligned_keys()) ? 1 : 0;
}

double aligned_weight_of(const Weights& w) {
  const auto aligned = w.weights().first(static_cast<std::size_t>(w.aligned_keys()));
  const double sum = std::accumulate(aligned.begin(), aligned.end(), 0.0);
  // Weights of a softmax are a share of 1, which a rounded sum may exceed.
  return w.rule().normaliser.kind == NormaliserKind::kSigmoid ? sum : std::min(sum, 1.0);
}

// Against the same query in float64. Exact weights may be equal where logits are not; rounded ones
// are told apart by nothing else.
double wrong_top(const Weights& w, const Context& c) {
  if (c.exact == nullptr) return 0;
  const auto top = std::ranges::max_element(w.weights()) - w.weights().begin();
  return std::cmp_equal(top, c.exact->top()) ? 0 : 1;
}

template <double (*kError)(const Weights& rounded, const Weights& exact)>
constexpr WeightsFormula kAgainstExact =
    [](const Weights& w, const Context& c) { return kError(w, c.exact != nullptr ? *c.exact : w); };

// By running sums.

double no_error(const Query&) {
  return 0;
}

double slope(const Query& q) {
  return top_weight(q) * others_weight(q);
}

double saturated(const Query& q, const Context& c) {
  return top_weight(q) > c.saturated_above ? 1 : 0;
}

double margin(const Query& q) {
  return q.top - q.next;
}

double max_logit(const Query& q) {
  return q.max_abs;
}

double log_of_sum(const Query& q) {
  return q.top + plain::log1p(q.rest);
}

double weight_margin(const Query& q) {
  return -top_weight(q) * plain::expm1(q.next - q.top);
}

double overflowed(const Query& q) {
  return is_finite(q) ? 0 : 1;
}

// Of keys with equal logits the first is the top one, and aligned keys come first.
double aligned_top(const Query& all, const Query& aligned) {
  return aligned.top == all.top ? 1 : 0;
}

// Both sums are relative to their own top.
double aligned_weight(const Query& all, const Query& aligned) {
  const double beside = all.share * plain::exp_of_negative(aligned.top - all.top);
  const double weight = (1 + aligned.rest) * beside / total(all);
  return std::min(weight, 1.0);  // the two sums round apart
}

// By either.

double perplexity(const auto& query) {
  return plain::exp(sum_entropy(query));
}

double entropy_bits(const auto& query) {
  return sum_entropy(query) * std::numbers::log2e;
}

double score_slope(const auto& query, const Context& c) {
  return slope(query) * c.logit_per_score;
}

double zero_slope(const auto& query) {
  return slope(query) == 0 ? 1 : 0;
}

template <QueryFormula::OfQuery kFormula>
constexpr QueryFormula kWithContext = QueryFormula::of<kFormula>();

double mean_distance(const Weights& weights, const Context& c) {
  double total = 0;
  double sum = 0;
  for (std::size_t key = 0; key < weights.weights().size(); ++key) {
    total += weights.weights()[key];
    sum += weights.weights()[key] * c.distance(key);
  }
  return total > 0 ? sum / total : 0;
}

// Formulas that ask for no context, as a row has them.
template <double (*kFormula)(const Query&)>
constexpr QueryFormula kBySums =
    QueryFormula::of<[](const Query& q, const Context&) { return kFormula(q); }>();
template <double (*kFormula)(const Weights&)>
constexpr WeightsFormula kByWeights = [](const Weights& w, const Context&) { return kFormula(w); };

// Each row stays a few lines: its name, what it says, how it is computed.
// clang-format off
constexpr auto kMetrics = std::to_array<MetricRow>({
    {.name = "logit_mean", .unit = "logit", .title = "mean of the logits",
     .help = "mean of all logits",
     .kind = MetricKind::kLogitMean, .moments = 2},
    {.name = "logit_sd", .unit = "logit", .title = "spread of the logits",
     .help = "standard deviation of all logits",
     .kind = MetricKind::kLogitSd, .moments = 4},
    {.name = "logit_kurtosis", .unit = "1", .title = "kurtosis of the logits",
     .help = "kurtosis of all logits; 3 for a normal law",
     .kind = MetricKind::kLogitKurtosis, .moments = 8},
    {.name = "top_weight", .unit = "1", .title = "largest weight",
     .help = "largest weight, max p",
     .of_weights = kByWeights<top_of>, .complement_of_weights = kByWeights<others_of>,
     .measure = kBySums<top_weight>, .complement = kBySums<others_weight>,
     .needs_two_keys = true, .exact_mean = ExactMean::kTopWeight},
    {.name = "slope", .unit = "1", .title = "slope p(1-p) of the largest weight",
     .help = "p(1-p) of the top weight p: how it answers its own logit",
     .of_weights = kByWeights<slope>, .measure = kBySums<slope>,
     .needs_two_keys = true, .shown_by_median = true, .axis = HistogramAxis::kLog10,
     .exact_mean = ExactMean::kSlope},
    {.name = "score_slope", .unit = "1", .title = "slope towards the raw score",
     .help = "slope times d logit / d score: what reaches q.k "
             "(under a norm, the product after it)",
     .of_weights = score_slope, .measure = kWithContext<score_slope>, .needs_slope = true,
     .needs_two_keys = true, .shown_by_median = true, .axis = HistogramAxis::kLog10,
     .exact_mean = ExactMean::kScoreSlope},
    {.name = "entropy", .unit = "nat", .title = "entropy of the weights",
     .help = "-sum p ln p of the weights as they are, with 0 ln 0 = 0",
     .of_weights = kByWeights<sum_entropy>, .measure = kBySums<sum_entropy>,
     .level = SoftmaxLevel::kEntropy, .needs_two_keys = true, .axis = HistogramAxis::kEntropy,
     .exact_mean = ExactMean::kEntropy},
    {.name = "entropy_bits", .unit = "bit", .title = "entropy of the weights in bits",
     .help = "-sum p log2 p of the weights as they are, with 0 log2 0 = 0",
     .of_weights = kByWeights<entropy_bits>, .measure = kBySums<entropy_bits>,
     .level = SoftmaxLevel::kEntropy, .needs_two_keys = true, .axis = HistogramAxis::kBits,
     .exact_mean = ExactMean::kEntropy, .exact_unit = std::numbers::log2e},
    {.name = "sum_p2", .unit = "1", .title = "sum of squared weights",
     .help = "sum p^2; 1/sum_p2 is the effective number of keys",
     .of_weights = kByWeights<sum_squares>,
     .complement_of_weights = kByWeights<sum_without_squares>, .measure = kBySums<sum_squares>,
     .complement = kBySums<sum_without_squares>, .level = SoftmaxLevel::kPowers,
     .needs_two_keys = true, .axis = HistogramAxis::kSum, .exact_mean = ExactMean::kSumP2},
    {.name = "saturated", .unit = "1", .title = "share of saturated queries",
     .help = "1 where the top weight is above saturated_above, else 0",
     .of_weights = [](auto& w, auto& c) { return top_of(w) > c.saturated_above ? 1.0 : 0.0; },
     .measure = kWithContext<saturated>,
     .needs_two_keys = true, .is_fraction = true, .exact_fraction = exact_saturated},
    {.name = "margin", .unit = "logit", .title = "margin of the top logit",
     .help = "top logit minus the next",
     .of_weights = kByWeights<margin_of>, .measure = kBySums<margin>, .needs_two_keys = true,
     .axis = HistogramAxis::kLogit, .exact_mean = ExactMean::kMargin, .moments = 2},
    {.name = "max_logit", .unit = "logit", .title = "largest absolute logit",
     .help = "largest absolute logit",
     .of_weights = kByWeights<max_logit_of>, .measure = kBySums<max_logit>,
     .axis = HistogramAxis::kLogit, .moments = 2},
    {.name = "logsumexp", .unit = "logit", .title = "log of the sum of exponentials",
     .help = "ln sum e^logit over the keys, as kernels return it",
     .of_weights = kByWeights<log_of_sum>, .measure = kBySums<log_of_sum>,
     .axis = HistogramAxis::kLogSum, .moments = 2},
    {.name = "jacobian_norm", .unit = "1", .title = "norm of the softmax Jacobian",
     .help = "Frobenius norm of d weight / d logit, of a softmax diag(p) - p p^T",
     .of_weights = kByWeights<jacobian_norm>, .measure = kBySums<jacobian_norm>,
     .level = SoftmaxLevel::kPowers, .needs_two_keys = true},
    {.name = "jacobian_spectral", .unit = "1",
     .title = "largest eigenvalue of the softmax Jacobian",
     .help = "largest eigenvalue of d weight / d logit: the most one logit step moves",
     .of_weights = kByWeights<jacobian_spectral>,
     .needs_two_keys = true, .axis = HistogramAxis::kLog10},
    {.name = "effective_keys", .unit = "1", .title = "effective number of keys",
     .help = "(sum p)^2 / sum p^2: how many equal weights would spread as far",
     .of_weights = kByWeights<count_effective_keys>, .measure = kBySums<count_effective_keys>,
     .level = SoftmaxLevel::kPowers, .needs_two_keys = true, .axis = HistogramAxis::kKeys,
     .exact_mean = ExactMean::kEffectiveKeys},
    {.name = "perplexity", .unit = "1", .title = "perplexity of the weights",
     .help = "e^entropy: how many equal weights would have as much entropy",
     .of_weights = kByWeights<perplexity>, .measure = kBySums<perplexity>,
     .level = SoftmaxLevel::kEntropy, .needs_two_keys = true, .axis = HistogramAxis::kKeys},
    {.name = "output_sd", .unit = "1", .title = "spread of an output component",
     .help = "sqrt(mean of sum p^2) over queries: sd of an output over values of unit variance",
     .of_weights = kByWeights<root_of_squares>, .measure = kBySums<root_of_squares>,
     .level = SoftmaxLevel::kPowers, .is_root_mean_square = true, .needs_two_keys = true,
     .axis = HistogramAxis::kRootOfSum, .exact_mean = ExactMean::kSumP2},
    {.name = "weight_margin", .unit = "1", .title = "margin of the top weight",
     .help = "top weight minus the next",
     .of_weights = kByWeights<weight_margin_of>, .measure = kBySums<weight_margin>,
     .needs_two_keys = true, .exact_mean = ExactMean::kWeightMargin},
    {.name = "total_weight", .unit = "1", .title = "total weight of the keys",
     .help = "sum p over the keys: 1 for a softmax, less beside a sink, any for a sigmoid",
     .of_weights = kByWeights<sum_weights>, .complement_of_weights = kByWeights<sum_kept_back>,
     .measure = kBySums<sum_weights>, .complement = kBySums<sum_kept_back>,
     .needs = MetricNeeds::kKeptBackWeight, .axis = HistogramAxis::kSum,
     .exact_mean = ExactMean::kTotalWeight},
    {.name = "sink_weight", .unit = "1", .title = "weight of the sink",
     .help = "weight that a sink keeps back; 0 without one",
     .of_weights = [](auto& w, auto&) { return w.sink(); }, .measure = kBySums<sum_kept_back>,
     .needs = MetricNeeds::kKeptBackWeight, .exact_mean = ExactMean::kSinkWeight},
    {.name = "top_distance", .unit = "1", .title = "distance of the top key",
     .help = "places from the query back to its top key, i - j",
     .of_weights = [](auto& w, auto& c) { return c.distance(w.top()); },
     .needs = MetricNeeds::kPlaces, .axis = HistogramAxis::kKeys},
    {.name = "mean_distance", .unit = "1", .title = "mean distance of keys",
     .help = "places from the query back to its keys, sum p (i - j) / sum p",
     .of_weights = mean_distance, .needs = MetricNeeds::kPlaces, .axis = HistogramAxis::kKeys},
    {.name = "overflowed", .unit = "1", .title = "share of queries that overflowed",
     .help = "1 where a logit or the weights are not finite, else 0",
     .of_weights = [](auto& w, auto&) { return w.overflowed() ? 1.0 : 0.0; },
     .measure = kBySums<overflowed>,
     .needs = MetricNeeds::kPrecision, .is_fraction = true, .takes_nonfinite = true},
    {.name = "zero_slope", .unit = "1", .title = "share of queries with slope 0",
     .help = "1 where the slope is exactly 0 in its precision, else 0",
     .of_weights = kByWeights<zero_slope>, .measure = kBySums<zero_slope>,
     .needs = MetricNeeds::kPrecision, .needs_two_keys = true, .is_fraction = true},
    {.name = "lost_keys", .unit = "1", .title = "share of keys with weight 0",
     .help = "share of keys whose weight is exactly 0 in its precision",
     .of_weights = kByWeights<lost_keys_of>,
     .needs = MetricNeeds::kPrecision, .needs_two_keys = true},
    {.name = "weight_error", .unit = "1", .title = "error of the weights",
     .help = "half the sum of |p - p of float64| over the keys",
     .of_weights = kAgainstExact<weight_error>, .measure = kBySums<no_error>,
     .needs = MetricNeeds::kPrecision, .needs_two_keys = true, .against_exact = true,
     .axis = HistogramAxis::kSum},
    {.name = "largest_weight_error", .unit = "1", .title = "largest error of a weight",
     .help = "largest |p - p of float64| of a query's keys",
     .of_weights = kAgainstExact<largest_weight_error>, .measure = kBySums<no_error>,
     .needs = MetricNeeds::kPrecision, .needs_two_keys = true, .against_exact = true},
    {.name = "wrong_top", .unit = "1", .title = "share of queries with a wrong top key",
     .help = "1 where the first of the largest weights is not float64's, else 0: ties count",
     .of_weights = wrong_top, .measure = kBySums<no_error>,
     .needs = MetricNeeds::kPrecision, .needs_two_keys = true, .against_exact = true,
     .is_fraction = true},
    {.name = "entropy_error", .unit = "nat", .title = "error of the entropy",
     .help = "|entropy - entropy in float64|",
     .of_weights = kAgainstExact<entropy_error>, .measure = kBySums<no_error>,
     .needs = MetricNeeds::kPrecision, .needs_two_keys = true, .against_exact = true,
     .axis = HistogramAxis::kEntropy},
    {.name = "output_error", .unit = "1", .title = "relative error of an output",
     .help = "sqrt(mean square error of an output over values of unit variance / its variance): "
             "of sum (p - p of float64)^2, and of the step output's rounding",
     .of_weights = kAgainstExact<output_error>, .measure = kBySums<no_error>,
     .needs = MetricNeeds::kPrecision, .needs_two_keys = true, .against_exact = true},
    {.name = "logit_error", .unit = "logit", .title = "error of a logit",
     .help = "sqrt(mean (logit - logit in float64)^2) over all keys and queries",
     .of_weights = kAgainstExact<logit_error>, .measure = kBySums<no_error>,
     .needs = MetricNeeds::kPrecision, .is_root_mean_square = true, .against_exact = true,
     .axis = HistogramAxis::kLogit, .moments = 4},
    {.name = "aligned_top", .unit = "1", .title = "share of queries whose top key is aligned",
     .help = "1 where the top key is an aligned one, else 0",
     .of_weights = kByWeights<aligned_top_of>, .measure_aligned = aligned_top,
     .needs = MetricNeeds::kAlignedKeys, .needs_two_keys = true, .is_fraction = true},
    {.name = "aligned_weight", .unit = "1", .title = "weight of the aligned keys",
     .help = "total weight of the aligned keys",
     .of_weights = kByWeights<aligned_weight_of>, .measure_aligned = aligned_weight,
     .needs = MetricNeeds::kAlignedKeys, .needs_two_keys = true, .axis = HistogramAxis::kSum},
});
// clang-format on

}  // namespace

std::span<const MetricRow> metric_table() {
  return kMetrics;
}

const MetricRow* find_metric(std::string_view name) {
  const auto* row = std::ranges::find(kMetrics, name, &MetricRow::name);
  return row == kMetrics.end() ? nullptr : row;
}

double measure_weights(const MetricRow& metric, const QueryWeights& query,
                       const QueryContext& context) {
  if (query.overflowed() && !metric.takes_nonfinite) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return metric.of_weights(query, context);
}

}  // namespace attnscale
