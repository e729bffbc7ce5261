#include "experiment/scaling_measurer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/expected_logits.h"
#include "numerics/portable_math.h"

namespace attnscale {
namespace {

double sink_logit(const Normaliser& normaliser) {
  return normaliser.kind == NormaliserKind::kSink ? normaliser.bias
                                                  : -std::numeric_limits<double>::infinity();
}

// The formula of the products that the draw gives.
Formula program_of(const Scaling& scaling, const Draw& draw) {
  if (scaling.weights.precision.scaled_queries == Precision::kFloat64) return scaling.logit;
  return bare_queries(scaling.logit, size_of(draw))->logit;
}

std::optional<std::size_t> place_of_products(const std::optional<ProductRule>& rule,
                                             const Draw& draw) {
  if (!rule) return std::nullopt;
  return std::ranges::find(draw.products, *rule) - draw.products.begin();
}

FormulaScores with_products(FormulaScores scores, std::optional<std::size_t> place,
                            const auto& products) {
  if (place && *place < products.size()) scores.scores = products[*place];
  return scores;
}

}  // namespace

ScalingMeasurer::ScalingMeasurer(const Experiment& experiment, const Draw& draw,
                                 const Scaling& scaling)
    : rule_(scaling.weights),
      program_(program_of(scaling, draw), size_of(draw)),
      exact_program_(scaling.logit, size_of(draw)),
      product_(place_of_products(product_rule(scaling, size_of(draw)), draw)),
      exact_product_(place_of_products(exact_product_rule(scaling), draw)),
      draw_(draw),
      wider_(vectors_of(scaling, draw.d)),
      saturated_above_(experiment.saturated_above),
      metrics_(per_query_metrics(experiment)),
      powers_(logit_powers(experiment)),
      power_scale_(power_scale(scaling.logit, draw)),
      compares_(asks_for_exact_weights(experiment) && !rule_.precision.is_exact()) {
  for (const MetricRow* row : metrics_) {
    level_ = std::max(level_, row->level);
    if (row->needs_slope) top_scores_.emplace(scaling.logit, size_of(draw));
    if (row->measure_aligned) aligned_keys_ = aligned_of(draw.entries, draw.keys);
  }
}

// Wider norms are kept from tile to tile, as all logits of a query may be asked for.
FormulaScores ScalingMeasurer::scores_of(const ScoreTile& tile) {
  FormulaScores scores{tile.scores,
                       static_cast<std::size_t>(tile.stride),
                       static_cast<double>(tile.first_key),
                       tile.squared_query_norms,
                       tile.squared_key_norms,
                       tile.query_sums,
                       tile.key_sums};
  if (wider_.query == draw_.d && wider_.key == draw_.d) return scores;
  if (tile.first_key == 0) wider_key_norms_.clear();
  wider_query_norms_.resize(scores.stride);
  wider_key_norms_.resize(wider_key_norms_.size() + tile.scores.size());
  const std::span<double> keys = std::span(wider_key_norms_).last(tile.scores.size());
  draw_wider_norms(draw_, address_, wider_, tile, wider_query_norms_, keys);
  scores.squared_query_norms = wider_query_norms_;
  scores.squared_key_norms = keys;
  return scores;
}

void ScalingMeasurer::add_tile(const ScoreTile& tile) {
  if (tile.first_key == 0) {
    softmax_.start(tile.queries, level_);
    aligned_.start(tile.queries, SoftmaxLevel::kWeights);
    power_sums_.start(tile.queries, powers_);
    hides_overflow_.assign(static_cast<std::size_t>(tile.queries), false);
    if (top_scores_) top_scores_->start(static_cast<std::size_t>(tile.stride));
  }
  const FormulaScores plain_scores = scores_of(tile);
  const FormulaScores scores = with_products(plain_scores, product_, tile.products);
  logits_.resize(tile.scores.size());
  const bool may_hide = !rule_.precision.has_exact_logits() && !program_.linear();
  if (may_hide) peaks_.assign(logits_.size(), 0);
  program_.evaluate(scores, rule_.precision, logits_, peaks_);
  for (std::size_t n = 0; n < peaks_.size(); ++n) {
    const std::size_t query = n % scores.stride;
    if (std::isinf(peaks_[n]) && query < hides_overflow_.size()) hides_overflow_[query] = true;
  }
  if (top_scores_) top_scores_->add_keys(plain_scores, logits_);
  softmax_.add_keys(logits_, tile.keys);
  const std::int64_t aligned = std::min(aligned_keys_ - tile.first_key, tile.keys);
  if (aligned > 0) aligned_.add_keys(logits_, aligned);
  power_sums_.add_keys(logits_, tile.keys, power_scale_);
}

void ScalingMeasurer::measure_group(const FormulaScores& scores,
                                    std::span<const std::vector<double>> products,
                                    const GroupColumns& columns) {
  softmax_.finish(sink_logit(rule_.normaliser));
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
    measure_all_logits(with_products(scores, product_, products),
                       with_products(scores, exact_product_, products), columns);
  }
}

bool ScalingMeasurer::overflowed(std::int64_t query) const {
  return !is_finite(softmax_.query(query)) || hides_overflow_[static_cast<std::size_t>(query)];
}

// All queries have the same context, group after group, unless a bend makes their slopes differ.
void ScalingMeasurer::fill_contexts() {
  const auto queries = static_cast<std::size_t>(softmax_.queries());
  const bool differ = top_scores_ && !top_scores_->is_same_for_all();
  if (!differ && contexts_.size() == queries) return;
  const double slope = top_scores_ ? top_scores_->slope(0) : kNan;
  contexts_.assign(queries, {slope, saturated_above_, size_of(draw_).i});
  if (!differ) return;
  for (std::size_t i = 0; i < queries; ++i) contexts_[i].logit_per_score = top_scores_->slope(i);
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

void ScalingMeasurer::measure_all_logits(const FormulaScores& scores,
                                         const FormulaScores& exact_scores,
                                         const GroupColumns& columns) {
  for (std::int64_t i = 0; i < softmax_.queries(); ++i) {
    weigh_query(scores, exact_scores, i);
    const auto place = static_cast<std::size_t>(i);
    QueryContext context = contexts_[place];
    if (compares_) context.exact = &exact_weights_;
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
void ScalingMeasurer::weigh_query(const FormulaScores& scores, const FormulaScores& exact_scores,
                                  std::int64_t query) {
  const auto keys = static_cast<std::size_t>(draw_.keys);
  const auto stride = static_cast<std::size_t>(padded(softmax_.queries()));
  if (logits_.size() == keys * stride) {  // one tile was all of the group
    query_logits_.resize(keys);
    for (std::size_t key = 0; key < keys; ++key) {
      query_logits_[key] = logits_[key * stride + static_cast<std::size_t>(query)];
    }
  } else {
    evaluate_query(program_, scores, query, rule_.precision, query_logits_);
  }
  weights_.weigh(query_logits_, rule_, aligned_keys_);
  if (overflowed(query)) weights_.mark_overflow();
  if (!compares_) return;
  evaluate_query(exact_program_, exact_scores, query, {}, exact_logits_);
  exact_weights_.weigh(exact_logits_, {rule_.normaliser}, aligned_keys_);
}

void ScalingMeasurer::evaluate_query(const FormulaProgram& program, const FormulaScores& scores,
                                     std::int64_t query, const PrecisionSteps& precision,
                                     std::vector<double>& logits) {
  const auto keys = static_cast<std::size_t>(draw_.keys);
  const auto stride = static_cast<std::size_t>(padded(softmax_.queries()));
  const auto place = static_cast<std::size_t>(query);
  const auto column_of = [&](std::span<const double> numbers, std::vector<double>& column) {
    if (numbers.empty()) return std::span<const double>();
    column.resize(keys);
    for (std::size_t key = 0; key < keys; ++key) column[key] = numbers[key * stride + place];
    return std::span<const double>(column);
  };
  const auto one_of = [&](std::span<const double> numbers) {
    return numbers.empty() ? numbers : numbers.subspan(place, 1);
  };
  logits.resize(keys);
  const bool is_wider = !wider_key_norms_.empty();
  program.evaluate(
      {column_of(scores.scores, query_scores_), 1, 0,
       one_of(is_wider ? wider_query_norms_ : scores.squared_query_norms),
       column_of(is_wider ? wider_key_norms_ : scores.squared_key_norms, query_key_norms_),
       one_of(scores.query_sums), column_of(scores.key_sums, query_key_sums_)},
      precision, logits);
}

}  // namespace attnscale
