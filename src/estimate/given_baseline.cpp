#include "estimate/given_baseline.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "estimate/logit_statistics.h"
#include "estimate/tally.h"
#include "experiment/expected_logits.h"
#include "experiment/given_scores.h"
#include "experiment/plan.h"
#include "numerics/unit.h"

namespace attnscale {
namespace {

constexpr std::int64_t kQueries = 8192;
constexpr std::int64_t kMostScores = std::int64_t{1} << 26;
constexpr std::int64_t kMostLayers = 256;

// Numbers of keys, and the share of the given queries that see so many.
using Layers = std::map<std::int64_t, double>;

Layers layers_of(const Given& given) {
  std::vector<std::int64_t> counts = seen_counts(given);
  std::sort(counts.begin(), counts.end());
  Layers layers;
  for (const std::int64_t keys : counts) layers[keys] += 1.0 / static_cast<double>(counts.size());
  if (std::ssize(layers) <= kMostLayers) return layers;
  layers.clear();
  for (std::int64_t i = 0; i < kMostLayers; ++i) {
    const std::int64_t middle = (2 * i + 1) * std::ssize(counts) / (2 * kMostLayers);
    layers[counts[static_cast<std::size_t>(middle)]] += 1.0 / kMostLayers;
  }
  return layers;
}

std::int64_t queries_of_layer(const Layers& layers) {
  std::int64_t keys = 0;
  for (const auto& [count, share] : layers) keys += count;
  const std::int64_t queries = std::min(kQueries / std::ssize(layers), kMostScores / keys);
  return std::max(queries / kLanes, std::int64_t{1}) * kLanes;
}

// The config that draws the layers, one cell each in their order.
Config drawn_config(const Config& config, const Experiment& experiment, const Layers& layers) {
  Experiment drawn = experiment;
  drawn.given.reset();
  drawn.sampler = &baseline_sampler();
  Law normal;
  normal.row = find_law("normal");
  drawn.entries = {{.name = "normal", .value = {}, .queries = normal, .keys = normal}};
  drawn.d = {*size_of(*experiment.given)};
  drawn.keys.clear();
  for (const auto& [keys, share] : layers) drawn.keys.push_back(keys);
  drawn.queries = queries_of_layer(layers);
  Config alone = config;
  alone.experiments = {std::move(drawn)};
  return alone;
}

std::optional<CellMoments> measure_cell(const Experiment& experiment, const Cell& cell,
                                        std::uint64_t seed, const StopSignal& stop) {
  BlockMeasurer measurer(experiment, cell, seed);
  CellMoments moments;
  for (std::int64_t block = 0; block < cell.blocks; ++block) {
    const BlockValues* const values = measurer.measure(block, stop);
    if (values == nullptr) return std::nullopt;
    moments = block == 0 ? moments_of(*values) : merge(moments, moments_of(*values));
  }
  return moments;
}

// Moments whose mean is the weighted mean over layers, and whose covariance over the count is the
// covariance of that mean. `weights` add up to 1.
Moments pooled(const std::vector<CellMoments>& layers, std::size_t group,
               const std::vector<double>& weights) {
  const std::size_t size = layers.front()[group].dimension();
  Moments all;
  all.mean.assign(size, 0);
  all.unit.assign(size, kLeastUnit);
  all.central.assign(size * (size + 1) / 2, 0);
  for (const CellMoments& layer : layers) {
    all.count += layer[group].count;
    for (std::size_t i = 0; i < size; ++i) {
      all.unit[i] = std::max(all.unit[i], layer[group].unit[i]);
    }
  }
  const auto n = static_cast<double>(all.count);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const Moments& moments = layers[layer][group];
    const double weight = weights[layer];
    const auto queries = static_cast<double>(moments.count);
    for (std::size_t i = 0; i < size; ++i) all.mean[i] += weight * moments.mean[i];
    const double covariance_share = n * (n - 1) * weight * weight / queries / (queries - 1);
    const std::vector<double> central = moments.central_in(all.unit);
    for (std::size_t i = 0; i < central.size(); ++i) {
      all.central[i] += covariance_share * central[i];
    }
  }
  return all;
}

// How much each layer counts: by its queries, or by their logits.
enum class LayerUnit { kQuery, kLogit };

std::vector<double> weights_of(const Layers& layers, LayerUnit unit) {
  std::vector<double> weights;
  double total = 0;
  for (const auto& [keys, share] : layers) {
    weights.push_back(unit == LayerUnit::kLogit ? share * static_cast<double>(keys) : share);
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

struct DrawnEstimate {
  Estimate estimate;
  std::int64_t queries;  // that it is of
};

// The drawn layers, measured.
struct DrawnLayers {
  Plan plan;
  Layers layers;
  std::vector<CellMoments> moments;

  const Experiment& experiment() const { return plan.config.experiments.front(); }

  // Of metric number `m` under scaling number `s`.
  DrawnEstimate estimate(std::size_t s, std::size_t m) const {
    const MetricRow& metric = *experiment().metrics[m];
    const LayerUnit unit =
        metric.kind == MetricKind::kPerQuery ? LayerUnit::kQuery : LayerUnit::kLogit;
    const Moments all =
        pooled(moments, group_of(experiment(), s, metric), weights_of(layers, unit));
    // Normal entries have mean score 0: the powers of any number of keys have the same scale.
    const PowerScale scale = power_scale(experiment().scalings[s].logit, plan.cells.front().draw);
    return {metric_estimate(metric, all, scale), all.count};
  }
};

BaselineRow baseline_row(const ResultRow& given, const DrawnEstimate& found) {
  const auto& [drawn, queries] = found;
  constexpr double kClearOfZero = 4;  // standard errors
  BaselineRow row;
  row.key = given.key;
  row.metric = given.metric;
  row.queries = given.queries;
  row.estimate = given.estimate;
  row.baseline_queries = queries;
  if (!std::isfinite(drawn.value)) return row;
  row.baseline = drawn.value;
  const bool has_error = drawn.std_error > 0;
  if (has_error) row.baseline_std_error = drawn.std_error;
  const bool is_clear = std::abs(drawn.value) > kClearOfZero * (has_error ? drawn.std_error : 0);
  if (row.estimate && is_clear) row.ratio = *row.estimate / drawn.value;
  return row;
}

}  // namespace

const SamplerRow& baseline_sampler() {
  return *find_sampler("direct");
}

std::optional<std::vector<BaselineRow>> measure_baseline(const Config& config,
                                                         const Experiment& experiment,
                                                         std::span<const ResultRow> rows,
                                                         const StopSignal& stop) {
  DrawnLayers drawn;
  drawn.layers = layers_of(*experiment.given);
  drawn.plan = make_plan(drawn_config(config, experiment, drawn.layers));
  for (const Cell& cell : drawn.plan.cells) {
    auto moments = measure_cell(drawn.experiment(), cell, config.seed, stop);
    if (!moments) return std::nullopt;
    drawn.moments.push_back(std::move(*moments));
  }
  std::vector<BaselineRow> found;
  const std::size_t metrics = experiment.metrics.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found.push_back(baseline_row(rows[i], drawn.estimate(i / metrics, i % metrics)));
  }
  return found;
}

}  // namespace attnscale
