#include "experiment/experiment.h"

#include <algorithm>
#include <iterator>

namespace attnscale {
namespace {

// True where running sums of a softmax in float64 say what the weights are.
bool has_running_sums(const WeightRule& rule) {
  return rule.precision == Precision::kFloat64 && rule.normaliser.kind != NormaliserKind::kSigmoid;
}

}  // namespace

std::vector<const MetricRow*> per_query_metrics(const Experiment& experiment) {
  std::vector<const MetricRow*> metrics;
  std::ranges::copy_if(experiment.metrics, std::back_inserter(metrics),
                       [](const MetricRow* row) { return row->kind == MetricKind::kPerQuery; });
  return metrics;
}

int logit_powers(const Experiment& experiment) {
  int powers = 0;
  for (const MetricRow* row : experiment.metrics) {
    if (row->kind == MetricKind::kPerQuery) continue;
    powers = std::max(powers, row->kind == MetricKind::kLogitKurtosis ? 4 : 2);
  }
  return powers;
}

bool needs_all_logits(const MetricRow& metric, const ScalingRule& rule) {
  if (metric.kind != MetricKind::kPerQuery) return false;
  return !has_running_sums(rule.weights) || !(metric.measure || metric.measure_aligned);
}

bool needs_all_logits(const Experiment& experiment) {
  return std::ranges::any_of(experiment.scalings, [&](const Scaling& scaling) {
    return std::ranges::any_of(experiment.metrics, [&](const MetricRow* metric) {
      return needs_all_logits(*metric, scaling.rule);
    });
  });
}

}  // namespace attnscale
