#include "estimate/reference.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimate/interval.h"
#include "experiment/expected_logits.h"
#include "theory/carrying_share.h"
#include "theory/exact_crossing.h"
#include "theory/exact_logit_moments.h"

namespace attnscale {
namespace {

bool is_aligned(const Draw& draw) {
  return draw.entries.alignment != 0 && aligned_of(draw.entries, draw.keys) > 0;
}

// A scaling in a cell whose logits are multiples of scores, or those bent by a soft-cap.
struct KnownLogit {
  VectorNorm norm = VectorNorm::kNone;
  CappedLogit bend;

  double multiplier(const Draw& draw) const { return bend.slope.at(static_cast<double>(draw.d)); }
};

std::optional<KnownLogit> known_logit(const Draw& draw, const Scaling& scaling) {
  const FormulaSize size = size_of(draw);
  const auto bend = capped_logit(scaling.logit, size);
  const FormulaProgram program(scaling.logit, size);
  const bool is_wide = program.query_width() != size.d || program.key_width() != size.d;
  if (!bend || is_wide) return std::nullopt;
  return KnownLogit{program.norm(), *bend};
}

// What a norm leaves free of a vector: a mean takes one direction away.
double free_entries(const Draw& draw, const KnownLogit& logit) {
  return static_cast<double>(draw.d) - (logit.norm == VectorNorm::kLayer ? 1 : 0);
}

// True if the scores of a query's keys are independent and of one normal law given the query, whose
// norm is chi; or, under a norm, cosines of independent directions. For any number of keys.
bool has_known_law(const Draw& draw, const KnownLogit& logit, const WeightRule& weights) {
  const Entries& entries = draw.entries;
  const bool has_norm = logit.norm != VectorNorm::kNone;
  // What alignment adds to all scores of a query alike changes no weight of a softmax without a
  // sink; a cap bends it, and beside a sink or in a sigmoid it counts.
  const bool forgets_shifts =
      !has_norm && !logit.bend.cap && weights.normaliser.kind == NormaliserKind::kSoftmax;
  const bool of_one_law =
      !is_aligned(draw) || (forgets_shifts && aligned_of(entries, draw.keys) == draw.keys);
  return weights.precision.is_exact() && of_one_law &&
         free_entries(draw, logit) > (has_norm ? 1 : 0) && is_centred_normal(entries);
}

// The same, and weights say something: the weight of a softmax's only key is 1.
bool has_exact_means(const Draw& draw, const std::optional<KnownLogit>& logit,
                     const WeightRule& weights) {
  const bool is_sigmoid = weights.normaliser.kind == NormaliserKind::kSigmoid;
  return logit && has_known_law(draw, *logit, weights) && draw.keys >= (is_sigmoid ? 1 : 2);
}

// Spread of the scores of such a query over its norm, about what alignment adds to all of them.
double entry_sd(const Draw& draw) {
  const Entries& entries = draw.entries;
  const double spread = entries.queries.sd * entries.keys.sd;
  return entries.alignment == 0 ? spread : spread * kept_share(entries.alignment);
}

WeighingCase weighing_of(const Draw& draw, const KnownLogit& logit, const WeightRule& weights) {
  WeighingCase weighing{draw.keys};
  if (logit.bend.cap) weighing.softcap = logit.bend.cap->at(static_cast<double>(draw.d));
  const Normaliser& normaliser = weights.normaliser;
  if (normaliser.kind == NormaliserKind::kSink) weighing.sink = normaliser.bias;
  if (normaliser.kind == NormaliserKind::kSigmoid) weighing.sigmoid_bias = normaliser.bias;
  return weighing;
}

// What a norm multiplies a cosine by.
double cosine_factor(const Draw& draw, const KnownLogit& logit) {
  const bool is_cosine = logit.norm == VectorNorm::kNone || logit.norm == VectorNorm::kUnit;
  return is_cosine ? 1 : static_cast<double>(draw.d);
}

ExactRequest request_of(const Draw& draw, const KnownLogit& logit, const WeightRule& weights) {
  return {.d = free_entries(draw, logit),
          .weighing = weighing_of(draw, logit, weights),
          .multiplier = logit.multiplier(draw) * cosine_factor(draw, logit),
          .entry_sd = entry_sd(draw),
          .law = logit.norm == VectorNorm::kNone ? ScoreLaw::kNormal : ScoreLaw::kCosine};
}

// If logits are no multiples of the scores: their moments for centred normal entries.
std::optional<double> bent_logit_reference(const MetricRow& metric, const Draw& draw,
                                           const KnownLogit& logit, const WeightRule& weights) {
  if (!has_known_law(draw, logit, weights) || is_aligned(draw)) return std::nullopt;
  if (metric.kind == MetricKind::kLogitMean) return 0;
  const LogitMoments moments = exact_logit_moments(request_of(draw, logit, weights));
  return metric.kind == MetricKind::kLogitSd ? moments.sd : moments.kurtosis;
}

std::optional<double> logit_reference(const MetricRow& metric, const Draw& draw,
                                      const KnownLogit& logit, const WeightRule& weights) {
  if (!weights.precision.is_exact()) return std::nullopt;
  if (logit.bend.cap || logit.norm != VectorNorm::kNone) {
    return bent_logit_reference(metric, draw, logit, weights);
  }
  const ScoreMoments score = score_moments(draw.entries, draw.d, draw.keys);
  const double multiplier = logit.multiplier(draw);
  if (metric.kind == MetricKind::kLogitMean) return multiplier * score.mean;
  if (metric.kind == MetricKind::kLogitSd) return std::abs(multiplier) * score.sd;
  // All logits are equal where the multiplier is 0.
  return multiplier == 0 ? std::nullopt : std::optional(score.kurtosis);
}

// The exact mean of what the aligned keys hold, if they are all keys or are like the others. Their
// share of the weight is known if all weight is the keys'; that of top keys if no two logits are
// equal, as the first of equals is an aligned one.
std::optional<double> aligned_share(const MetricRow& metric, const Draw& draw,
                                    const Scaling& scaling) {
  const std::int64_t aligned = aligned_of(draw.entries, draw.keys);
  const bool are_all = aligned == draw.keys;
  const FormulaProgram program(scaling.logit, size_of(draw));
  const bool has_ties = has_atoms(draw.entries) || !program.factor();
  const bool is_plain = scaling.weights == WeightRule{} && !mentions(scaling.logit, "j");
  const bool known = metric.is_fraction ? are_all || (is_plain && !has_ties) : is_plain;
  if (!known || (is_aligned(draw) && !are_all)) return std::nullopt;
  return static_cast<double>(aligned) / static_cast<double>(draw.keys);
}

// The request for the exact means of a scaling in a cell; empty if theory has none.
std::optional<ExactRequest> known_request(const Draw& draw, const Scaling& scaling) {
  const std::optional<KnownLogit> logit = known_logit(draw, scaling);
  if (!has_exact_means(draw, logit, scaling.weights)) return std::nullopt;
  return request_of(draw, *logit, scaling.weights);
}

// True if logits are the same and all that differs is what a sink keeps back.
bool differ_by_sink(const Scaling& a, const Scaling& b) {
  const auto without_sink = [](WeightRule weights) {
    if (weights.normaliser.kind == NormaliserKind::kSink) weights.normaliser = {};
    return weights;
  };
  return a.logit == b.logit && a.weights != b.weights &&
         without_sink(a.weights) == without_sink(b.weights);
}

std::string left_out(int count, const char* one, const char* many) {
  return fmt::format(
      "{} {} left out: together they would take more work than the exact values of one run may",
      count, count == 1 ? one : many);
}

}  // namespace

template <typename Value>
std::invoke_result_t<Value> ExactValues::within_work(const ExactMeansTable& table, double expected,
                                                     int& skipped, const Value& value) {
  try {
    if (expected <= table.work_left()) return value();
  } catch (const OutOfWork&) {
    // It took more than was expected.
  }
  ++skipped;
  return std::nullopt;
}

std::optional<ExactMeans> ExactValues::find_means(const Experiment& experiment,
                                                  const ExactRequest& request) {
  const auto known = means_.find(request);
  if (known != means_.end()) return known->second;
  const auto found_in = [&](ExactMeansTable& table, int& skipped) {
    return within_work(table, table.pending_work(request), skipped,
                       [&] { return std::optional(exact_means(table, request)); });
  };
  std::optional<ExactMeans> means = found_in(table_, skipped_means_);
  if (!means) return means;
  const auto is_of_pairs = [](const MetricRow* metric) {
    return metric->exact_mean && ExactMeansTable::is_of_pairs(*metric->exact_mean);
  };
  if (std::ranges::any_of(experiment.metrics, is_of_pairs)) {
    const std::optional<ExactMeans> pairs = found_in(pairs_, skipped_pairs_);
    for (const ExactMean mean : ExactMeansTable::kOfPairs) {
      (*means)[mean] = pairs ? (*pairs)[mean] : std::numeric_limits<double>::quiet_NaN();
    }
  }
  means_.emplace(request, *means);
  return means;
}

std::vector<std::optional<double>> ExactValues::of(const Experiment& experiment, const Cell& cell,
                                                   const Scaling& scaling) {
  std::vector<std::optional<double>> values(experiment.metrics.size());
  if (mode_ == ReferenceMode::kOff) return values;
  const Draw& draw = cell.draw;
  const WeightRule& weights = scaling.weights;
  const std::optional<KnownLogit> logit = known_logit(draw, scaling);
  const bool is_known = has_exact_means(draw, logit, weights);
  std::optional<ExactMeans> means;
  const bool wanted = std::ranges::any_of(
      experiment.metrics, [](const MetricRow* metric) { return metric->exact_mean.has_value(); });
  if (wanted && is_known) {
    means = find_means(experiment, request_of(draw, *logit, weights));
    // Per cosine; the score is the product after the norm.
    if (means) (*means)[ExactMean::kScoreSlope] /= cosine_factor(draw, *logit);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const MetricRow& metric = *experiment.metrics[i];
    if (metric.kind != MetricKind::kPerQuery) {
      if (logit) values[i] = logit_reference(metric, draw, *logit, weights);
    } else if (metric.needs == MetricNeeds::kAlignedKeys) {
      values[i] = aligned_share(metric, draw, scaling);
    } else if (metric.exact_fraction && is_known) {
      values[i] =
          metric.exact_fraction(request_of(draw, *logit, weights), experiment.saturated_above);
    } else if (metric.exact_mean && means) {
      const double mean = (*means)[*metric.exact_mean] * metric.exact_unit;
      values[i] = metric.is_root_mean_square ? std::sqrt(mean) : mean;
    }
    // Infinite moments, and what double cannot hold: equal logits have no kurtosis.
    if (values[i] && !std::isfinite(*values[i])) values[i].reset();
  }
  return values;
}

const ExactValues::FoundMeans::value_type* ExactValues::means_of(const Draw& draw,
                                                                 const Scaling& scaling) const {
  const std::optional<ExactRequest> request = known_request(draw, scaling);
  const auto found = request ? means_.find(*request) : means_.end();
  return found == means_.end() ? nullptr : &*found;
}

std::vector<double> ExactValues::carrying_shares(const Experiment& experiment, const Cell& cell,
                                                 const Scaling& scaling) const {
  const auto* const found = means_of(cell.draw, scaling);
  std::vector<double> shares;
  for (const MetricRow* metric : experiment.metrics) {
    if (metric->kind != MetricKind::kPerQuery) {
      shares.push_back(logit_carrying_share(*metric, cell.draw, scaling.logit));
    } else if (found && metric->exact_mean) {
      shares.push_back(carrying_share(*metric->exact_mean, found->second, found->first));
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
  if (differ_by_sink(scaling, baseline)) {
    for (const Scaling* one : {&scaling, &baseline}) {
      const auto* const found = means_of(cell.draw, *one);
      if (found == nullptr || found->second[ExactMean::kSinkWeight] <= most) continue;
      most = found->second[ExactMean::kSinkWeight];
      sink_share = carrying_share(ExactMean::kSinkWeight, found->second, found->first);
    }
  }
  // Of the queries whose sink has weight, about so many times fewer carry what it does to entropy.
  constexpr double kFewer = 3;
  std::vector<double> shares;
  for (const MetricRow* metric : experiment.metrics) {
    if (metric->kind != MetricKind::kPerQuery) {
      shares.push_back(logit_contrast_share(*metric, cell.draw, scaling.logit, baseline.logit));
    } else {
      const bool is_entropy = metric->exact_mean == ExactMean::kEntropy;
      shares.push_back(sink_share < 1 && is_entropy ? sink_share / kFewer : sink_share);
    }
  }
  return shares;
}

std::optional<ExactRequest> exact_request(const Draw& draw, const Scaling& scaling) {
  const std::optional<KnownLogit> logit = known_logit(draw, scaling);
  if (!has_exact_means(draw, logit, scaling.weights)) return std::nullopt;
  return request_of(draw, *logit, scaling.weights);
}

std::optional<CrossingRequest> exact_request_along_d(const Draw& draw, const Scaling& scaling) {
  const std::optional<KnownLogit> logit = known_logit(draw, scaling);
  const bool is_known =
      has_exact_means(draw, logit, scaling.weights) && logit->norm == VectorNorm::kNone;
  if (!is_known) return std::nullopt;
  const auto& [slope, cap] = logit->bend;
  if (!slope.for_all_d || (cap && (!cap->for_all_d || cap->power != 0))) return std::nullopt;
  return CrossingRequest{weighing_of(draw, *logit, scaling.weights), slope.multiplier, slope.power,
                         entry_sd(draw)};
}

std::optional<double> ExactValues::crossing(const Cell& cell, const Scaling& scaling,
                                            double level) {
  const auto along_d = exact_request_along_d(cell.draw, scaling);
  if (mode_ == ReferenceMode::kOff || !along_d) return std::nullopt;
  const CrossingRequest& request = *along_d;
  return within_work(table_, pending_work(table_, request), skipped_crossings_, [&] {
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
  if (skipped_pairs_ > 0) {
    sentences.push_back(
        left_out(skipped_pairs_, "cell and scaling has its exact effective_keys and weight_margin",
                 "cells and scalings have their exact effective_keys and weight_margin"));
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
