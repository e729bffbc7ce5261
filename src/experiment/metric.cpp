#include "experiment/metric.h"

#include <array>
#include <cmath>

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

constexpr MetricRow statistic(std::string_view name, std::string_view help,
                              std::string_view title) {
  return {
      name,    "logit", help, title, MetricKind::kLogitStatistic, false, false, Resolution::kValue,
      nullptr, nullptr};
}

constexpr MetricRow of_weights(std::string_view name, std::string_view unit, std::string_view help,
                               std::string_view title,
                               double (*measure)(const Query&, const Context&)) {
  return {name,    unit,   help, title, MetricKind::kPerQuery, true, false, Resolution::kValue,
          measure, nullptr};
}

constexpr MetricRow near_one(MetricRow row, double (*complement)(const Query&, const Context&)) {
  row.resolution = Resolution::kValueAndComplement;
  row.complement = complement;
  return row;
}

constexpr MetricRow fraction(MetricRow row) {
  row.is_fraction = true;
  return row;
}

constexpr MetricRow of_one_key(MetricRow row) {
  row.needs_two_keys = false;
  return row;
}

constexpr std::array kMetrics{
    statistic("logit_mean", "mean of all logits", "mean of the logits"),
    statistic("logit_sd", "standard deviation of all logits", "spread of the logits"),
    statistic("logit_kurtosis", "kurtosis of all logits; 3 for a normal law",
              "kurtosis of the logits"),
    near_one(of_weights("top_weight", "1", "largest weight, max p", "largest weight", top_weight),
             others_weight),
    of_weights("slope", "1", "p(1-p) of the top weight p: how it answers its own logit",
               "slope p(1-p) of the largest weight", slope),
    of_weights("score_slope", "1", "slope times d logit / d score: what reaches q.k",
               "slope towards the raw score", score_slope),
    of_weights("entropy", "nat", "-sum p ln p", "entropy of the weights", entropy),
    near_one(of_weights("sum_p2", "1", "sum p^2; 1/sum_p2 is the effective number of keys",
                        "sum of squared weights", sum_p2),
             pairs_weight),
    fraction(of_weights("saturated", "1", "1 where the top weight is above saturated_above, else 0",
                        "share of saturated queries", saturated)),
    of_weights("margin", "logit", "top logit minus the next", "margin of the top logit", margin),
    of_one_key(of_weights("max_logit", "logit", "largest absolute logit", "largest absolute logit",
                          max_logit)),
    of_weights("jacobian_norm", "1", "Frobenius norm of diag(p) - p p^T",
               "norm of the softmax Jacobian", jacobian_norm),
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
