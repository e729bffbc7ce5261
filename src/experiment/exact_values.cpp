#include "experiment/exact_values.h"

#include <algorithm>
#include <cmath>

namespace attnscale {
namespace {

/// True where theory has the logits and weights of such a rule.
bool is_known(const ScalingRule& rule) {
  return rule.weights.precision == Precision::kFloat64 && rule.norm == Norm::kNone &&
         rule.weights.normaliser.kind != NormaliserKind::kSigmoid;
}

/// True where the scores of a query's keys are independent and of one normal law given the query,
/// whose norm is chi.
bool has_exact_means(const Draw& draw, const ScalingRule& rule) {
  if (!is_known(rule)) return false;
  const Entries& entries = draw.entries;
  const bool of_one_law = entries.alignment == 0 || aligned_of(entries, draw.keys) == draw.keys;
  return draw.keys >= 2 && of_one_law && is_centred_normal(entries.queries) &&
         is_centred_normal(entries.keys);
}

/// Spread of the scores of such a query over its norm. What alignment adds to all of them alike
/// changes no weight.
double entry_sd(const Draw& draw) {
  const Entries& entries = draw.entries;
  const double spread = entries.queries.sd * entries.keys.sd;
  return entries.alignment == 0 ? spread : spread * kept_share(entries.alignment);
}

ReferenceRow row_of(const Draw& draw, const ScalingRule& rule) {
  ReferenceRow row{draw.keys};
  if (rule.softcap) row.softcap = *rule.softcap;
  const Normaliser& normaliser = rule.weights.normaliser;
  if (normaliser.kind == NormaliserKind::kSink) row.sink = normaliser.bias;
  return row;
}

ReferenceRequest request_of(const Draw& draw, const Scaling& scaling) {
  return {static_cast<double>(draw.d), row_of(draw, scaling.rule),
          multiplier_at(scaling.rule, {draw.d, draw.keys}), entry_sd(draw)};
}

std::optional<double> if_finite(double number) {
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<double> logit_reference(const MetricRow& metric, const Draw& draw,
                                      const Scaling& scaling) {
  if (!is_known(scaling.rule) || scaling.rule.softcap) return std::nullopt;
  const ScoreMoments score = score_moments(draw.entries, draw.d, draw.keys);
  const double multiplier = multiplier_at(scaling.rule, {draw.d, draw.keys});
  if (metric.name == "logit_mean") return if_finite(multiplier * score.mean);
  if (metric.name == "logit_sd") return if_finite(std::abs(multiplier) * score.sd);
  // All logits are equal where the multiplier is 0.
  return multiplier == 0 ? std::nullopt : if_finite(score.kurtosis);
}

/// The exact mean of what the aligned keys hold, where they are like the other keys or are all.
std::optional<double> aligned_share(const Draw& draw) {
  const std::int64_t aligned = aligned_of(draw.entries, draw.keys);
  if (draw.entries.alignment != 0 && aligned < draw.keys) return std::nullopt;
  return static_cast<double>(aligned) / static_cast<double>(draw.keys);
}

std::string sentence(int count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many) +
         " left out: together they would take more work than the exact values of one run may";
}

}  // namespace

std::optional<SoftmaxReference> ExactValues::softmax_means(const ReferenceRequest& request) {
  const double work = table_.pending_work(request);
  if (work > left_) {
    ++skipped_means_;
    return std::nullopt;
  }
  left_ -= work;
  return softmax_reference(table_, request);
}

std::vector<std::optional<double>> ExactValues::of(const Experiment& experiment, const Cell& cell,
                                                   const Scaling& scaling) {
  std::vector<std::optional<double>> values(experiment.metrics.size());
  if (mode_ == ReferenceMode::kOff) return values;
  std::optional<SoftmaxReference> means;
  const bool wanted = std::any_of(experiment.metrics.begin(), experiment.metrics.end(),
                                  [](const MetricRow* metric) { return metric->exact_mean; });
  if (wanted && has_exact_means(cell.draw, scaling.rule)) {
    means = softmax_means(request_of(cell.draw, scaling));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const MetricRow& metric = *experiment.metrics[i];
    if (metric.kind == MetricKind::kLogitStatistic) {
      values[i] = logit_reference(metric, cell.draw, scaling);
    } else if (metric.measure_aligned) {
      values[i] = aligned_share(cell.draw);
    } else if (metric.name == "saturated" && has_exact_means(cell.draw, scaling.rule)) {
      values[i] = saturated_reference(request_of(cell.draw, scaling), experiment.saturated_above);
    } else if (metric.exact_mean && means) {
      values[i] = (*means).*metric.exact_mean;
    }
  }
  return values;
}

std::optional<double> ExactValues::crossing(const Cell& cell, const Scaling& scaling,
                                            double level) {
  if (mode_ == ReferenceMode::kOff || !has_exact_means(cell.draw, scaling.rule))
    return std::nullopt;
  const PowerLaw factor = power_law(scaling.rule, cell.draw.keys);
  const CrossingRequest request{row_of(cell.draw, scaling.rule), factor.multiplier, factor.power,
                                entry_sd(cell.draw)};
  const double work = table_.pending_work(request);
  if (work > left_) {
    ++skipped_crossings_;
    return std::nullopt;
  }
  const std::optional<double> d = exact_crossing(table_, request, level);
  left_ -= work - table_.pending_work(request);
  return d;
}

std::vector<std::string> ExactValues::warnings() const {
  std::vector<std::string> sentences;
  if (skipped_means_ > 0) {
    sentences.push_back(sentence(skipped_means_, "cell and scaling has its exact means",
                                 "cells and scalings have their exact means"));
  }
  if (skipped_crossings_ > 0) {
    sentences.push_back(sentence(skipped_crossings_, "exact crossing is", "exact crossings are"));
  }
  return sentences;
}

}  // namespace attnscale
