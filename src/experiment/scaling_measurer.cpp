#include "experiment/scaling_measurer.h"

#include <algorithm>
#include <limits>

#include "experiment/expected_logits.h"
#include "numerics/portable_math.h"

namespace attnscale {
namespace {

double sink_logit(const Normaliser& normaliser) {
  return normaliser.kind == NormaliserKind::kSink ? normaliser.bias
                                                  : -std::numeric_limits<double>::infinity();
}

}  // namespace

ScalingMeasurer::ScalingMeasurer(const Experiment& experiment, const Draw& draw,
                                 const ScalingRule& rule)
    : rule_(rule),
      size_{draw.d, draw.keys},
      saturated_above_(experiment.saturated_above),
      metrics_(per_query_metrics(experiment)),
      powers_(logit_powers(experiment)),
      power_scale_(power_scale(rule, draw)),
      hidden_overflows_(rule) {
  for (const MetricRow* row : metrics_) {
    level_ = std::max(level_, row->level);
    if (row->measure_aligned) aligned_keys_ = aligned_of(draw.entries, draw.keys);
  }
}

void ScalingMeasurer::add_tile(const ScoreTile& tile) {
  if (tile.first_key == 0) {
    softmax_.start(tile.queries, level_);
    aligned_.start(tile.queries, SoftmaxLevel::kWeights);
    power_sums_.start(tile.queries, powers_);
    hidden_overflows_.start(tile.queries);
  }
  const Scores scores{tile.scores, tile.squared_query_norms, tile.squared_key_norms};
  hidden_overflows_.add(size_, scores, tile.stride);
  logits_.resize(tile.scores.size());
  apply_scaling(rule_, size_, scores, logits_);
  softmax_.add_keys(logits_, tile.keys);
  const std::int64_t aligned = std::min(aligned_keys_ - tile.first_key, tile.keys);
  if (aligned > 0) aligned_.add_keys(logits_, aligned);
  power_sums_.add_keys(logits_, tile.keys, power_scale_);
}

void ScalingMeasurer::measure_group(const Scores& scores, const GroupColumns& columns) {
  softmax_.finish(sink_logit(rule_.weights.normaliser));
  fill_contexts();
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    if (!needs_all_logits(*metrics_[m], rule_)) measure_sums(m, columns);
  }
  for (std::size_t k = 0; k < columns.logit_powers.size(); ++k) {
    const std::span<double> column = columns.logit_powers[k];
    for (std::int64_t i = 0; i < std::ssize(column); ++i) {
      column[static_cast<std::size_t>(i)] = power_sums_.mean(k, i);
    }
  }
  for (std::int64_t i = 0; i < softmax_.queries(); ++i) {
    if (!overflowed(i)) continue;
    const auto place = static_cast<std::size_t>(i);
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      if (!metrics_[m]->takes_nonfinite) columns.metrics[m][place] = kNan;
      if (metrics_[m]->complement) columns.complements[m][place] = kNan;
    }
    for (const std::span<double> column : columns.logit_powers) column[place] = kNan;
  }
  if (std::ranges::any_of(metrics_,
                          [&](const MetricRow* row) { return needs_all_logits(*row, rule_); })) {
    measure_all_logits(scores, columns);
  }
}

bool ScalingMeasurer::overflowed(std::int64_t query) const {
  return !is_finite(softmax_.query(query)) || hidden_overflows_.of(query);
}

// The first query's context holds for all unless a soft-cap makes them differ.
void ScalingMeasurer::fill_contexts() {
  const auto per_score = [&](std::int64_t query) {
    return logit_per_score(rule_, size_, softmax_.query(query).top);
  };
  contexts_.assign(static_cast<std::size_t>(softmax_.queries()), {per_score(0), saturated_above_});
  if (!rule_.softcap) return;
  for (std::int64_t i = 0; i < softmax_.queries(); ++i) {
    contexts_[static_cast<std::size_t>(i)].logit_per_score = per_score(i);
  }
}

void ScalingMeasurer::measure_sums(std::size_t metric, const GroupColumns& columns) const {
  const MetricRow& row = *metrics_[metric];
  const std::span<double> column = columns.metrics[metric];
  if (row.measure_aligned) {
    for (std::int64_t i = 0; i < std::ssize(column); ++i) {
      column[static_cast<std::size_t>(i)] =
          row.measure_aligned(softmax_.query(i), aligned_.query(i));
    }
  } else {
    row.measure(softmax_, contexts_, column);
  }
  if (row.complement) row.complement(softmax_, contexts_, columns.complements[metric]);
}

void ScalingMeasurer::measure_all_logits(const Scores& scores, const GroupColumns& columns) {
  for (std::int64_t i = 0; i < softmax_.queries(); ++i) {
    weigh_query(scores, i);
    const auto place = static_cast<std::size_t>(i);
    const QueryContext& context = contexts_[place];
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      const MetricRow& row = *metrics_[m];
      if (!needs_all_logits(row, rule_)) continue;
      columns.metrics[m][place] = measure_weights(row, weights_, context);
      if (!row.complement) continue;
      columns.complements[m][place] =
          weights_.overflowed() ? kNan : row.complement_of_weights(weights_, context);
    }
  }
}

// One query's column of what is laid out key by key.
void ScalingMeasurer::weigh_query(const Scores& scores, std::int64_t query) {
  const auto keys = static_cast<std::size_t>(size_.keys);
  const auto stride = static_cast<std::size_t>(padded(softmax_.queries()));
  const auto column_of = [&](std::span<const double> numbers, std::vector<double>& column) {
    column.resize(keys);
    for (std::size_t key = 0; key < keys; ++key) {
      column[key] = numbers[key * stride + static_cast<std::size_t>(query)];
    }
  };
  const bool has_them = logits_.size() == keys * stride;  // one tile was all of the group
  if (has_them) {
    column_of(logits_, query_logits_);
  } else {
    column_of(scores.scores, query_scores_);
    Scores column{query_scores_};
    if (needs_norms(rule_)) {
      column_of(scores.squared_key_norms, query_key_norms_);
      column.squared_query_norms =
          scores.squared_query_norms.subspan(static_cast<std::size_t>(query), 1);
      column.squared_key_norms = query_key_norms_;
    }
    query_logits_.resize(keys);
    apply_scaling(rule_, size_, column, query_logits_);
  }
  weights_.weigh(query_logits_, rule_.weights, aligned_keys_);
  if (overflowed(query)) weights_.mark_overflow();
}

}  // namespace attnscale
