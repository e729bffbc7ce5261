#include "estimate/reference.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "estimate/interval_rule.h"
#include "theory/carrying_share.h"
#include "theory/exact_crossing.h"
#include "theory/exact_logit_moments.h"

namespace attnscale {
namespace {

bool is_aligned(const Draw& draw) {
  return draw.entries.alignment != 0 && aligned_of(draw.entries, draw.keys) > 0;
}

// True if the scores of a query's keys are independent and of one normal law given the query, whose
// norm is chi; or, if the rule has a norm, cosines of independent directions. For any number of
// keys.
bool has_known_law(const Draw& draw, const ScalingRule& rule) {
  const Entries& entries = draw.entries;
  const bool has_norm = rule.norm != Norm::kNone;
  // What alignment adds to all scores of a query alike changes no weight of a softmax without a
  // sink; a cap bends it, and beside a sink or in a sigmoid it counts.
  const bool forgets_shifts =
      !has_norm && !rule.softcap && rule.weights.normaliser.kind == NormaliserKind::kSoftmax;
  const bool of_one_law =
      !is_aligned(draw) || (forgets_shifts && aligned_of(entries, draw.keys) == draw.keys);
  return rule.weights.precision == Precision::kFloat64 && of_one_law &&
         draw.d > (has_norm ? 1 : 0) && is_centred_normal(entries.queries) &&
         is_centred_normal(entries.keys);
}

// The same, and weights say something: the weight of a softmax's only key is 1.
bool has_exact_means(const Draw& draw, const ScalingRule& rule) {
  const bool is_sigmoid = rule.weights.normaliser.kind == NormaliserKind::kSigmoid;
  return has_known_law(draw, rule) && draw.keys >= (is_sigmoid ? 1 : 2);
}

// Spread of the scores of such a query over its norm, about what alignment adds to all of them.
double entry_sd(const Draw& draw) {
  const Entries& entries = draw.entries;
  const double spread = entries.queries.sd * entries.keys.sd;
  return entries.alignment == 0 ? spread : spread * kept_share(entries.alignment);
}

WeighingCase weighing_of(const Draw& draw, const ScalingRule& rule) {
  WeighingCase weighing{draw.keys};
  if (rule.softcap) weighing.softcap = *rule.softcap;
  const Normaliser& normaliser = rule.weights.normaliser;
  if (normaliser.kind == NormaliserKind::kSink) weighing.sink = normaliser.bias;
  if (normaliser.kind == NormaliserKind::kSigmoid) weighing.sigmoid_bias = normaliser.bias;
  return weighing;
}

// What an RMS norm multiplies a cosine by.
double cosine_factor(const Draw& draw, const ScalingRule& rule) {
  return rule.norm == Norm::kRms ? static_cast<double>(draw.d) : 1;
}

ExactRequest request_of(const Draw& draw, const ScalingRule& rule) {
  return {.d = static_cast<double>(draw.d),
          .weighing = weighing_of(draw, rule),
          .multiplier = multiplier_at(rule, {draw.d, draw.keys}) * cosine_factor(draw, rule),
          .entry_sd = entry_sd(draw),
          .law = rule.norm == Norm::kNone ? ScoreLaw::kNormal : ScoreLaw::kCosine};
}

// If logits are no multiples of the scores: their moments for centred normal entries.
std::optional<double> bent_logit_reference(const MetricRow& metric, const Draw& draw,
                                           const ScalingRule& rule) {
  if (!has_known_law(draw, rule) || is_aligned(draw)) return std::nullopt;
  if (metric.kind == MetricKind::kLogitMean) return 0;
  const LogitMoments moments = exact_logit_moments(request_of(draw, rule));
  return metric.kind == MetricKind::kLogitSd ? moments.sd : moments.kurtosis;
}

std::optional<double> logit_reference(const MetricRow& metric, const Draw& draw,
                                      const ScalingRule& rule) {
  if (rule.weights.precision != Precision::kFloat64) return std::nullopt;
  if (rule.softcap || rule.norm != Norm::kNone) return bent_logit_reference(metric, draw, rule);
  const ScoreMoments score = score_moments(draw.entries, draw.d, draw.keys);
  const double multiplier = multiplier_at(rule, {draw.d, draw.keys});
  if (metric.kind == MetricKind::kLogitMean) return multiplier * score.mean;
  if (metric.kind == MetricKind::kLogitSd) return std::abs(multiplier) * score.sd;
  // All logits are equal where the multiplier is 0.
  return multiplier == 0 ? std::nullopt : std::optional(score.kurtosis);
}

// The exact mean of what the aligned keys hold, if they are all keys or are like the others. Their
// share of the weight is known if all weight is the keys'; that of top keys if no two logits are
// equal, as the first of equals is an aligned one.
std::optional<double> aligned_share(const MetricRow& metric, const Draw& draw,
                                    const ScalingRule& rule) {
  const std::int64_t aligned = aligned_of(draw.entries, draw.keys);
  const bool are_all = aligned == draw.keys;
  const bool has_ties =
      draw.entries.queries.row->has_atoms || draw.entries.keys.row->has_atoms || rule.softcap;
  const bool is_plain = rule.weights == WeightRule{};
  const bool known = metric.is_fraction ? are_all || (is_plain && !has_ties) : is_plain;
  if (!known || (is_aligned(draw) && !are_all)) return std::nullopt;
  return static_cast<double>(aligned) / static_cast<double>(draw.keys);
}

// True if logits are the same and all that differs is what a sink keeps back.
bool differ_by_sink(const ScalingRule& a, const ScalingRule& b) {
  const auto without_sink = [](ScalingRule rule) {
    if (rule.weights.normaliser.kind == NormaliserKind::kSink) rule.weights.normaliser = {};
    return rule;
  };
  return a != b && without_sink(a) == without_sink(b);
}

std::string left_out(int count, const char* one, const char* many) {
  return fmt::format(
      "{} {} left out: together they would take more work than the exact values of one run may",
      count, count == 1 ? one : many);
}

}  // namespace

template <typename Value>
std::invoke_result_t<Value> ExactValues::within_work(double expected, int& skipped,
                                                     const Value& value) {
  try {
    if (expected <= table_.work_left()) return value();
  } catch (const OutOfWork&) {
    // It took more than was expected.
  }
  ++skipped;
  return std::nullopt;
}

std::vector<std::optional<double>> ExactValues::of(const Experiment& experiment, const Cell& cell,
                                                   const Scaling& scaling) {
  std::vector<std::optional<double>> values(experiment.metrics.size());
  if (mode_ == ReferenceMode::kOff) return values;
  const Draw& draw = cell.draw;
  const ScalingRule& rule = scaling.rule;
  const bool is_known = has_exact_means(draw, rule);
  std::optional<ExactMeans> means;
  const bool wanted = std::ranges::any_of(
      experiment.metrics, [](const MetricRow* metric) { return metric->exact_mean.has_value(); });
  if (wanted && is_known) {
    const ExactRequest request = request_of(draw, rule);
    const auto known = means_.find(request);
    means = known != means_.end() ? std::optional(known->second)
                                  : within_work(table_.pending_work(request), skipped_means_, [&] {
                                      return std::optional(exact_means(table_, request));
                                    });
    if (means) {
      means_.emplace(request, *means);
      // Per cosine; the score is the product after the norm.
      (*means)[ExactMean::kScoreSlope] /= cosine_factor(draw, rule);
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const MetricRow& metric = *experiment.metrics[i];
    if (metric.kind != MetricKind::kPerQuery) {
      values[i] = logit_reference(metric, draw, rule);
    } else if (metric.needs == MetricNeeds::kAlignedKeys) {
      values[i] = aligned_share(metric, draw, rule);
    } else if (metric.exact_fraction && is_known) {
      values[i] = metric.exact_fraction(request_of(draw, rule), experiment.saturated_above);
    } else if (metric.exact_mean && means) {
      values[i] = (*means)[*metric.exact_mean];
    }
    // Infinite moments, and what double cannot hold: equal logits have no kurtosis.
    if (values[i] && !std::isfinite(*values[i])) values[i].reset();
  }
  return values;
}

const ExactMeans* ExactValues::means_of(const Draw& draw, const ScalingRule& rule) const {
  if (!has_exact_means(draw, rule)) return nullptr;
  const auto found = means_.find(request_of(draw, rule));
  return found == means_.end() ? nullptr : &found->second;
}

std::vector<double> ExactValues::carrying_shares(const Experiment& experiment, const Cell& cell,
                                                 const Scaling& scaling) const {
  const ExactMeans* means = means_of(cell.draw, scaling.rule);
  std::vector<double> shares;
  for (const MetricRow* metric : experiment.metrics) {
    if (metric->kind != MetricKind::kPerQuery) {
      shares.push_back(logit_carrying_share(*metric, cell.draw, scaling.rule));
    } else if (means && metric->exact_mean) {
      shares.push_back(
          carrying_share(*metric->exact_mean, *means, request_of(cell.draw, scaling.rule)));
    } else {
      shares.push_back(1);
    }
  }
  return shares;
}

std::vector<double> ExactValues::contrast_shares(const Experiment& experiment, const Cell& cell,
                                                 const Scaling& scaling) const {
  const Scaling& baseline = experiment.scalings.front();
  double sink_share = 1;
  double most = 0;  // of the two sinks' weights
  if (differ_by_sink(scaling.rule, baseline.rule)) {
    for (const ScalingRule& rule : {scaling.rule, baseline.rule}) {
      const ExactMeans* means = means_of(cell.draw, rule);
      if (means == nullptr || (*means)[ExactMean::kSinkWeight] <= most) continue;
      most = (*means)[ExactMean::kSinkWeight];
      sink_share = carrying_share(ExactMean::kSinkWeight, *means, request_of(cell.draw, rule));
    }
  }
  // Of the queries whose sink has weight, about so many times fewer carry what it does to entropy.
  constexpr double kFewer = 3;
  std::vector<double> shares;
  for (const MetricRow* metric : experiment.metrics) {
    if (metric->kind != MetricKind::kPerQuery) {
      shares.push_back(logit_contrast_share(*metric, cell.draw, scaling.rule, baseline.rule));
    } else {
      const bool is_entropy = metric->exact_mean == ExactMean::kEntropy;
      shares.push_back(sink_share < 1 && is_entropy ? sink_share / kFewer : sink_share);
    }
  }
  return shares;
}

std::optional<double> ExactValues::crossing(const Cell& cell, const Scaling& scaling,
                                            double level) {
  const ScalingRule& rule = scaling.rule;
  const bool is_known = has_exact_means(cell.draw, rule) && rule.norm == Norm::kNone;
  if (mode_ == ReferenceMode::kOff || !is_known) return std::nullopt;
  const PowerLaw factor = power_law(rule, cell.draw.keys);
  const CrossingRequest request{weighing_of(cell.draw, rule), factor.multiplier, factor.power,
                                entry_sd(cell.draw)};
  return within_work(pending_work(table_, request), skipped_crossings_, [&] {
    const std::optional<double> d = exact_crossing(table_, request, level);
    if (!d && is_cut_short(request)) ++cut_crossings_;
    return d;
  });
}

std::vector<std::string> ExactValues::warnings() const {
  std::vector<std::string> sentences;
  if (skipped_means_ > 0) {
    sentences.push_back(left_out(skipped_means_, "cell and scaling has its exact means",
                                 "cells and scalings have their exact means"));
  }
  if (skipped_crossings_ > 0) {
    sentences.push_back(left_out(skipped_crossings_, "exact crossing is", "exact crossings are"));
  }
  if (cut_crossings_ > 0) {
    sentences.push_back(fmt::format(
        "{} not found where logits are within reach of the integrals; it may lie at a larger d",
        cut_crossings_ == 1 ? "1 exact crossing was"
                            : fmt::format("{} exact crossings were", cut_crossings_)));
  }
  return sentences;
}

}  // namespace attnscale
