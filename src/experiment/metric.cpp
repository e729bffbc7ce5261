#include "experiment/metric.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numerics/plain_math.h"

#include "experiment/reference.h"

namespace attnscale {
namespace {

using Query = SoftmaxQuery;
using Context = QueryContext;

double top_weight(const Query& q, const Context&) {
  return 1 / (1 + q.rest);
}

double others_weight(const Query& q, const Context&) {
  return q.rest / (1 + q.rest);
}

double slope(const Query& q, const Context& c) {
  return top_weight(q, c) * others_weight(q, c);
}

double score_slope(const Query& q, const Context& c) {
  return slope(q, c) * c.logit_per_score;
}

// With p_j = e_j / total: -sum p ln p = ln total + sum p_j D_j.
double entropy(const Query& q, const Context&) {
  return q.log_total + q.rest_gap / (1 + q.rest);
}

double sum_p2(const Query& q, const Context&) {
  const double total = 1 + q.rest;
  return (1 + q.rest_power2) / (total * total);
}

// 1 - sum p^2 = sum over i != j of p_i p_j: twice the top against the rest, and the rest's pairs.
double pairs_weight(const Query& q, const Context&) {
  const double total = 1 + q.rest;
  return (2 * q.rest + (q.rest * q.rest - q.rest_power2)) / (total * total);
}

double saturated(const Query& q, const Context& c) {
  return top_weight(q, c) > c.saturated_above ? 1 : 0;
}

double margin(const Query& q, const Context&) {
  return q.top - q.next;
}

double max_logit(const Query& q, const Context&) {
  return q.max_abs;
}

// |diag(p) - p p^T|_F^2 = sum p_i^2 (1 - p_i)^2 + sum over i != j of p_i^2 p_j^2, each sum with the
// top key apart from the rest, whose weights are at most one half.
double jacobian_norm(const Query& q, const Context& c) {
  const double total = 1 + q.rest;
  const double p2 = q.rest_power2 / (total * total);
  const double p3 = q.rest_power3 / (total * total * total);
  const double p4 = q.rest_power4 / (total * total * total * total);
  const double top = top_weight(q, c);
  const double diagonal = slope(q, c) * slope(q, c) + (p2 - 2 * p3 + p4);
  const double pairs = 2 * top * top * p2 + (p2 * p2 - p4);
  return std::sqrt(diagonal + pairs);
}

// Of keys with equal logits the first is the top one, and aligned keys come first.
double aligned_top(const Query& all, const Query& aligned) {
  return aligned.top == all.top ? 1 : 0;
}

// Both sums are relative to their own top.
double aligned_weight(const Query& all, const Query& aligned) {
  const double weight = (1 + aligned.rest) * plain::exp(aligned.top - all.top) / (1 + all.rest);
  return std::min(weight, 1.0);  // the two sums round apart
}

template <QueryFormula::OfQuery kFormula>
constexpr QueryFormula formula = QueryFormula::of<kFormula>();

constexpr std::array kMetrics{
    MetricRow{.name = "logit_mean",
              .unit = "logit",
              .help = "mean of all logits",
              .title = "mean of the logits",
              .kind = MetricKind::kLogitStatistic,
              .moments = 2},
    MetricRow{.name = "logit_sd",
              .unit = "logit",
              .help = "standard deviation of all logits",
              .title = "spread of the logits",
              .kind = MetricKind::kLogitStatistic,
              .moments = 4},
    MetricRow{.name = "logit_kurtosis",
              .unit = "1",
              .help = "kurtosis of all logits; 3 for a normal law",
              .title = "kurtosis of the logits",
              .kind = MetricKind::kLogitStatistic,
              .moments = 8},
    MetricRow{.name = "top_weight",
              .unit = "1",
              .help = "largest weight, max p",
              .title = "largest weight",
              .measure = formula<top_weight>,
              .complement = formula<others_weight>,
              .needs_two_keys = true,
              .exact_mean = &SoftmaxReference::top_weight},
    MetricRow{.name = "slope",
              .unit = "1",
              .help = "p(1-p) of the top weight p: how it answers its own logit",
              .title = "slope p(1-p) of the largest weight",
              .measure = formula<slope>,
              .needs_two_keys = true,
              .axis = HistogramAxis::kLog10,
              .exact_mean = &SoftmaxReference::slope},
    MetricRow{.name = "score_slope",
              .unit = "1",
              .help = "slope times d logit / d score: what reaches q.k",
              .title = "slope towards the raw score",
              .measure = formula<score_slope>,
              .needs_two_keys = true,
              .axis = HistogramAxis::kLog10,
              .exact_mean = &SoftmaxReference::score_slope},
    MetricRow{.name = "entropy",
              .unit = "nat",
              .help = "-sum p ln p, with 0 ln 0 = 0",
              .title = "entropy of the weights",
              .measure = formula<entropy>,
              .level = SoftmaxLevel::kEntropy,
              .needs_two_keys = true,
              .axis = HistogramAxis::kEntropy,
              .exact_mean = &SoftmaxReference::entropy},
    MetricRow{.name = "sum_p2",
              .unit = "1",
              .help = "sum p^2; 1/sum_p2 is the effective number of keys",
              .title = "sum of squared weights",
              .measure = formula<sum_p2>,
              .complement = formula<pairs_weight>,
              .level = SoftmaxLevel::kPowers,
              .needs_two_keys = true,
              .exact_mean = &SoftmaxReference::sum_p2},
    MetricRow{.name = "saturated",
              .unit = "1",
              .help = "1 where the top weight is above saturated_above, else 0",
              .title = "share of saturated queries",
              .measure = formula<saturated>,
              .needs_two_keys = true,
              .is_fraction = true},
    MetricRow{.name = "margin",
              .unit = "logit",
              .help = "top logit minus the next",
              .title = "margin of the top logit",
              .measure = formula<margin>,
              .needs_two_keys = true,
              .axis = HistogramAxis::kLogit,
              .exact_mean = &SoftmaxReference::margin,
              .moments = 2},
    MetricRow{.name = "max_logit",
              .unit = "logit",
              .help = "largest absolute logit",
              .title = "largest absolute logit",
              .measure = formula<max_logit>,
              .axis = HistogramAxis::kLogit,
              .moments = 2},
    MetricRow{.name = "jacobian_norm",
              .unit = "1",
              .help = "Frobenius norm of diag(p) - p p^T",
              .title = "norm of the softmax Jacobian",
              .measure = formula<jacobian_norm>,
              .level = SoftmaxLevel::kPowers,
              .needs_two_keys = true},
    MetricRow{.name = "aligned_top",
              .unit = "1",
              .help = "1 where the top key is an aligned one, else 0",
              .title = "share of queries whose top key is aligned",
              .measure_aligned = aligned_top,
              .needs_two_keys = true,
              .is_fraction = true},
    MetricRow{.name = "aligned_weight",
              .unit = "1",
              .help = "total weight of the aligned keys",
              .title = "weight of the aligned keys",
              .measure_aligned = aligned_weight,
              .needs_two_keys = true},
};

}  // namespace

std::span<const MetricRow> metric_table() {
  return kMetrics;
}

const MetricRow* find_metric(std::string_view name) {
  for (const MetricRow& row : kMetrics) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace attnscale
