#include "experiment/experiment.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace attnscale {
namespace {

// True if the rule is a softmax in float64, whose running sums say what the weights are.
bool has_running_sums(const WeightRule& rule) {
  return rule.precision.is_exact() && rule.normaliser.kind != NormaliserKind::kSigmoid;
}

}  // namespace

std::string_view HistogramQuantity::name() const {
  if (of == HistogramOf::kMetric) return metric->name;
  return of == HistogramOf::kScores ? "score" : "logit";
}

std::optional<HistogramQuantity> find_histogram_quantity(std::string_view name) {
  if (name == "score") return HistogramQuantity{HistogramOf::kScores};
  if (name == "logit") return HistogramQuantity{HistogramOf::kLogits};
  const MetricRow* const metric = find_metric(name);
  if (metric == nullptr || metric->kind != MetricKind::kPerQuery) return std::nullopt;
  return HistogramQuantity{HistogramOf::kMetric, metric};
}

NormRequest norms_for(const Scaling& scaling) {
  const VectorNorm norm = FormulaProgram(scaling.logit, {}).norm();
  if (norm == VectorNorm::kNone) return NormRequest::kNone;
  return norm == VectorNorm::kLayer ? NormRequest::kSums : NormRequest::kSquaredNorms;
}

std::optional<ProductRule> product_rule(const Scaling& scaling, const FormulaSize& size) {
  const PrecisionSteps& steps = scaling.weights.precision;
  if (!steps.takes_entries()) return std::nullopt;
  ProductRule rule{steps.entries, steps.scaled_queries, steps.quantised, steps.product_sum};
  if (steps.scaled_queries != Precision::kFloat64) {
    rule.query_factor = bare_queries(scaling.logit, size)->factor;
  }
  return rule;
}

std::optional<ProductRule> exact_product_rule(const Scaling& scaling) {
  const Precision entries = scaling.weights.precision.entries;
  if (entries == Precision::kFloat64) return std::nullopt;
  return ProductRule{entries};
}

WiderVectors vectors_of(const Scaling& scaling, std::int64_t d) {
  const FormulaProgram program(scaling.logit, {static_cast<double>(d)});
  const auto entries = [](double width) {
    const bool is_one = width >= 1 && width <= kWidestVector && std::floor(width) == width;
    return is_one ? static_cast<std::int64_t>(width) : 0;
  };
  return {entries(program.query_width()), entries(program.key_width())};
}

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

bool needs_all_logits(const MetricRow& metric, const WeightRule& rule) {
  if (metric.kind != MetricKind::kPerQuery) return false;
  return !has_running_sums(rule) || !(metric.measure || metric.measure_aligned);
}

bool asks_for_exact_weights(const Experiment& experiment) {
  return std::ranges::any_of(experiment.metrics, &MetricRow::against_exact);
}

bool is_split_by(const Experiment& experiment, GivenPart part) {
  return std::ranges::find(experiment.by, part) != experiment.by.end();
}

bool needs_all_logits(const Experiment& experiment) {
  return std::ranges::any_of(experiment.scalings, [&](const Scaling& scaling) {
    return std::ranges::any_of(experiment.metrics, [&](const MetricRow* metric) {
      return needs_all_logits(*metric, scaling.weights);
    });
  });
}

}  // namespace attnscale
