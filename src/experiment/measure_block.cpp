#include "experiment/measure_block.h"

#include <algorithm>
#include <limits>

#include "experiment/histogram.h"

namespace attnscale {

std::vector<const MetricRow*> per_query_metrics(const Experiment& experiment) {
  std::vector<const MetricRow*> metrics;
  std::copy_if(experiment.metrics.begin(), experiment.metrics.end(), std::back_inserter(metrics),
               [](const MetricRow* row) { return row->kind == MetricKind::kPerQuery; });
  return metrics;
}

int logit_powers(const Experiment& experiment) {
  int powers = 0;
  for (const MetricRow* row : experiment.metrics) {
    if (row->kind != MetricKind::kLogitStatistic) continue;
    powers = std::max(powers, row->name == "logit_kurtosis" ? 4 : 2);
  }
  return powers;
}

double logit_centre(const Scaling& scaling, const Draw& draw) {
  double centre = score_moments(draw.entries, draw.d, draw.keys).mean;
  apply_scaling(scaling, draw.d, {&centre, 1}, {&centre, 1});
  return centre;
}

BlockMeasurer::BlockMeasurer(const Experiment& experiment, const Cell& cell, std::uint64_t seed)
    : experiment_(experiment),
      cell_(cell),
      seed_(seed),
      metrics_(per_query_metrics(experiment)),
      powers_(logit_powers(experiment)),
      states_(experiment.scalings.size()) {
  for (const MetricRow* row : metrics_) {
    level_ = std::max(level_, row->level);
    if (row->measure_aligned) aligned_keys_ = aligned_of(cell.draw.entries, cell.draw.keys);
  }
  for (std::size_t s = 0; s < states_.size(); ++s) {
    states_[s].logit_per_score = multiplier_at(experiment.scalings[s], cell.draw.d);
    states_[s].centre = logit_centre(experiment.scalings[s], cell.draw);
  }
  values_.metrics.assign(states_.size(), std::vector<std::vector<double>>(metrics_.size()));
  values_.complements = values_.metrics;
  values_.logit_powers.assign(states_.size(),
                              std::vector<std::vector<double>>(static_cast<std::size_t>(powers_)));
}

const BlockValues* BlockMeasurer::measure(std::int64_t block, const StopSignal& stop) {
  start_block(cell_.queries_in(block));
  bool abandoned = false;
  const BlockAddress address{seed_, cell_.identity, static_cast<std::uint64_t>(block)};
  experiment_.sampler->draw_block(cell_.draw, address, values_.queries, [&](const ScoreTile& tile) {
    add_tile(tile);
    abandoned = stop && stop();
    return !abandoned;
  });
  if (abandoned) return nullptr;
  count_metrics();
  return &values_;
}

// Columns of the block's length, whose numbers are filled in group by group.
void BlockMeasurer::start_block(std::int64_t queries) {
  values_.queries = queries;
  const auto size = static_cast<std::size_t>(queries);
  for (std::size_t s = 0; s < states_.size(); ++s) {
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      values_.metrics[s][m].resize(size);
      if (metrics_[m]->complement) values_.complements[s][m].resize(size);
    }
    for (std::vector<double>& column : values_.logit_powers[s]) column.resize(size);
  }
  values_.histograms.assign(states_.size() * experiment_.histogram.size(), {});
}

void BlockMeasurer::add_tile(const ScoreTile& tile) {
  const Draw& draw = cell_.draw;
  logits_.resize(tile.scores.size());
  for (std::size_t s = 0; s < states_.size(); ++s) {
    ScalingState& state = states_[s];
    if (tile.first_key == 0) {
      state.softmax.start(tile.queries, level_);
      state.aligned.start(tile.queries, SoftmaxLevel::kWeights);
      state.powers.start(tile.queries, powers_);
    }
    apply_scaling(experiment_.scalings[s], draw.d, tile.scores, logits_);
    count_tile(s, tile);
    state.softmax.add_keys(logits_, tile.keys);
    const std::int64_t aligned = std::min(aligned_keys_ - tile.first_key, tile.keys);
    if (aligned > 0) state.aligned.add_keys(logits_, aligned);
    state.powers.add_keys(logits_, tile.keys, state.centre);
    if (tile.first_key + tile.keys == draw.keys) {
      state.softmax.finish();
      measure_group(tile.first_query, s);
    }
  }
}

// Measures the queries of a finished group into their places of the block's columns.
void BlockMeasurer::measure_group(std::int64_t first_query, std::size_t scaling) {
  const ScalingState& state = states_[scaling];
  const SoftmaxSums& sums = state.softmax;
  const QueryContext context{state.logit_per_score, experiment_.saturated_above};
  std::vector<std::span<double>> columns;
  const auto group_of = [&](std::vector<double>& column) {
    return columns.emplace_back(std::span(column).subspan(
        static_cast<std::size_t>(first_query), static_cast<std::size_t>(sums.queries())));
  };
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    const std::span<double> column = group_of(values_.metrics[scaling][m]);
    if (metrics_[m]->measure_aligned) {
      measure_aligned_keys(*metrics_[m], state, column);
    } else if (metrics_[m]->measure) {
      metrics_[m]->measure(sums, context, column);
    } else {
      std::fill(column.begin(), column.end(), std::numeric_limits<double>::quiet_NaN());
    }
    if (!metrics_[m]->complement) continue;
    metrics_[m]->complement(sums, context, group_of(values_.complements[scaling][m]));
  }
  for (std::size_t k = 0; k < values_.logit_powers[scaling].size(); ++k) {
    const std::span<double> column = group_of(values_.logit_powers[scaling][k]);
    for (std::int64_t i = 0; i < std::ssize(column); ++i) {
      column[static_cast<std::size_t>(i)] = state.powers.mean(k, i);
    }
  }

  for (std::int64_t i = 0; i < sums.queries(); ++i) {
    if (is_finite(sums.query(i))) continue;
    for (const std::span<double> column : columns) {
      column[static_cast<std::size_t>(i)] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

void BlockMeasurer::measure_aligned_keys(const MetricRow& metric, const ScalingState& state,
                                         std::span<double> column) const {
  for (std::int64_t i = 0; i < std::ssize(column); ++i) {
    column[static_cast<std::size_t>(i)] =
        metric.measure_aligned(state.softmax.query(i), state.aligned.query(i));
  }
}

// Counts the scores and logits of a tile where their histograms are asked for.
void BlockMeasurer::count_tile(std::size_t scaling, const ScoreTile& tile) {
  for (std::size_t i = 0; i < experiment_.histogram.size(); ++i) {
    const std::string& quantity = experiment_.histogram[i];
    if (quantity != "score" && quantity != "logit") continue;
    const HistogramBins bins(quantity, cell_, experiment_.scalings[scaling]);
    const std::span<const double> numbers = quantity == "score" ? tile.scores : logits_;
    const auto stride = static_cast<std::size_t>(padded(tile.queries));
    for (std::size_t start = 0; start < numbers.size(); start += stride) {
      bins.count(numbers.subspan(start, static_cast<std::size_t>(tile.queries)),
                 values_.histograms[scaling * experiment_.histogram.size() + i]);
    }
  }
}

// Counts the finished columns of metrics where their histograms are asked for.
void BlockMeasurer::count_metrics() {
  std::size_t place = 0;
  for (std::size_t s = 0; s < states_.size(); ++s) {
    for (const std::string& quantity : experiment_.histogram) {
      std::vector<std::int64_t>& counts = values_.histograms[place++];
      const auto metric = std::find(metrics_.begin(), metrics_.end(), find_metric(quantity));
      if (metric == metrics_.end()) continue;
      const auto column = static_cast<std::size_t>(metric - metrics_.begin());
      HistogramBins(quantity, cell_, experiment_.scalings[s])
          .count(values_.metrics[s][column], counts);
    }
  }
}

std::optional<BlockValues> measure_block(const Experiment& experiment, const Cell& cell,
                                         std::uint64_t seed, std::int64_t block,
                                         const StopSignal& stop) {
  BlockMeasurer measurer(experiment, cell, seed);
  const BlockValues* const values = measurer.measure(block, stop);
  return values ? std::optional(*values) : std::nullopt;
}

}  // namespace attnscale
