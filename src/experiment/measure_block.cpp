#include "experiment/measure_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/histogram.h"
#include "numerics/power_sums.h"

namespace attnscale {
namespace {

// Where the softmax of one scaling stands within the current group of queries.
struct ScalingState {
  double logit_per_score = 0;
  double centre = 0;
  SoftmaxSums softmax;
  PowerSums powers;
};

// Measures the queries of a finished group into their places of the block's columns.
void measure_group(const std::vector<const MetricRow*>& metrics, const Experiment& experiment,
                   std::int64_t keys, std::int64_t first_query, const ScalingState& state,
                   std::size_t scaling, BlockValues& values) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const QueryContext context{keys, state.logit_per_score, experiment.saturated_above};
  for (std::int64_t i = 0; i < state.softmax.queries(); ++i) {
    const SoftmaxQuery query = state.softmax.query(i);
    const bool finite = is_finite(query);
    const auto place = static_cast<std::size_t>(first_query + i);
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      values.metrics[scaling][m][place] = finite ? metrics[m]->measure(query, context) : kNan;
      if (metrics[m]->complement) {
        values.complements[scaling][m][place] =
            finite ? metrics[m]->complement(query, context) : kNan;
      }
    }
    for (std::size_t k = 0; k < values.logit_powers[scaling].size(); ++k) {
      values.logit_powers[scaling][k][place] = finite ? state.powers.mean(k, i) : kNan;
    }
  }
}

BlockValues empty_values(std::int64_t queries, std::size_t scalings,
                         const std::vector<const MetricRow*>& metrics, int powers,
                         std::size_t quantities) {
  const std::vector<double> column(static_cast<std::size_t>(queries));
  BlockValues values;
  values.queries = queries;
  values.metrics.assign(scalings, std::vector(metrics.size(), column));
  values.complements.assign(scalings, std::vector<std::vector<double>>(metrics.size()));
  for (auto& complements : values.complements) {
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      if (metrics[m]->complement) complements[m] = column;
    }
  }
  values.histograms.resize(scalings * quantities);
  values.logit_powers.assign(scalings, std::vector(static_cast<std::size_t>(powers), column));
  return values;
}

// Counts the scores and logits of a tile where their histograms are asked for.
void count_tile(const Experiment& experiment, const Cell& cell, std::size_t scaling,
                const ScoreTile& tile, std::span<const double> logits, BlockValues& values) {
  for (std::size_t i = 0; i < experiment.histogram.size(); ++i) {
    const std::string& quantity = experiment.histogram[i];
    if (quantity != "score" && quantity != "logit") continue;
    const HistogramBins bins(quantity, cell, experiment.scalings[scaling]);
    const std::span<const double> numbers = quantity == "score" ? tile.scores : logits;
    const auto stride = static_cast<std::size_t>(padded(tile.queries));
    for (std::size_t start = 0; start < numbers.size(); start += stride) {
      bins.count(numbers.subspan(start, static_cast<std::size_t>(tile.queries)),
                 values.histograms[scaling * experiment.histogram.size() + i]);
    }
  }
}

// Counts the finished columns of metrics where their histograms are asked for.
void count_metrics(const Experiment& experiment, const Cell& cell,
                   const std::vector<const MetricRow*>& metrics, BlockValues& values) {
  std::size_t place = 0;
  for (std::size_t s = 0; s < experiment.scalings.size(); ++s) {
    for (const std::string& quantity : experiment.histogram) {
      std::vector<std::int64_t>& counts = values.histograms[place++];
      const auto metric = std::find(metrics.begin(), metrics.end(), find_metric(quantity));
      if (metric == metrics.end()) continue;
      const auto column = static_cast<std::size_t>(metric - metrics.begin());
      HistogramBins(quantity, cell, experiment.scalings[s])
          .count(values.metrics[s][column], counts);
    }
  }
}

}  // namespace

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
  double centre = score_moments(draw.entries, draw.d).mean;
  apply_scaling(scaling, draw.d, {&centre, 1}, {&centre, 1});
  return centre;
}

std::optional<BlockValues> measure_block(const Experiment& experiment, const Cell& cell,
                                         std::uint64_t seed, std::int64_t block,
                                         const StopSignal& stop) {
  const Draw& draw = cell.draw;
  const auto metrics = per_query_metrics(experiment);
  const int powers = logit_powers(experiment);
  const std::int64_t queries = cell.queries_in(block);

  BlockValues values = empty_values(queries, experiment.scalings.size(), metrics, powers,
                                    experiment.histogram.size());
  std::vector<ScalingState> states(experiment.scalings.size());
  for (std::size_t s = 0; s < states.size(); ++s) {
    states[s].logit_per_score = multiplier_at(experiment.scalings[s], draw.d);
    states[s].centre = logit_centre(experiment.scalings[s], draw);
  }

  std::vector<double> logits;
  bool abandoned = false;
  const BlockAddress address{seed, cell.identity, static_cast<std::uint64_t>(block)};
  experiment.sampler->draw_block(draw, address, queries, [&](const ScoreTile& tile) {
    logits.resize(tile.scores.size());
    for (std::size_t s = 0; s < states.size(); ++s) {
      ScalingState& state = states[s];
      if (tile.first_key == 0) {
        state.softmax.start(tile.queries);
        state.powers.start(tile.queries, powers);
      }
      apply_scaling(experiment.scalings[s], draw.d, tile.scores, logits);
      count_tile(experiment, cell, s, tile, logits, values);
      state.softmax.add_keys(logits, tile.keys);
      state.powers.add_keys(logits, tile.keys, state.centre);
      if (tile.first_key + tile.keys == draw.keys) {
        state.softmax.finish();
        measure_group(metrics, experiment, draw.keys, tile.first_query, state, s, values);
      }
    }
    abandoned = stop && stop();
    return !abandoned;
  });
  if (abandoned) return std::nullopt;
  count_metrics(experiment, cell, metrics, values);
  return values;
}

}  // namespace attnscale
