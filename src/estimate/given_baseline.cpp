#include "estimate/given_baseline.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "estimate/logit_statistics.h"
#include "estimate/tally.h"
#include "experiment/expected_logits.h"
#include "experiment/given_scores.h"
#include "experiment/plan.h"
#include "numerics/central_sums.h"
#include "numerics/entry_kernel.h"
#include "numerics/portable_math.h"
#include "numerics/random_stream.h"
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

RandomNumbers random_numbers(const ResultRow& given, const DrawnEstimate& found) {
  const auto& [drawn, queries] = found;
  constexpr double kClearOfZero = 4;  // standard errors
  RandomNumbers random;
  random.queries = queries;
  if (!std::isfinite(drawn.value)) return random;
  random.estimate = drawn.value;
  const bool has_error = drawn.std_error > 0;
  if (has_error) random.std_error = drawn.std_error;
  const bool is_clear = std::abs(drawn.value) > kClearOfZero * (has_error ? drawn.std_error : 0);
  if (given.estimate && is_clear) random.ratio = *given.estimate / drawn.value;
  return random;
}

std::optional<DrawnLayers> measure_layers(const Config& config, const Experiment& experiment,
                                          const StopSignal& stop) {
  DrawnLayers drawn;
  drawn.layers = layers_of(*experiment.given);
  drawn.plan = make_plan(drawn_config(config, experiment, drawn.layers));
  for (const Cell& cell : drawn.plan.cells) {
    auto moments = measure_cell(drawn.experiment(), cell, config.seed, stop);
    if (!moments) return std::nullopt;
    drawn.moments.push_back(std::move(*moments));
  }
  return drawn;
}

// Of all entries of a head.
EntryShape shape_of_head(const GivenMatrix& matrix, std::int64_t head) {
  CentralSums sums;
  std::vector<double> row;
  for (std::int64_t i = 0; i < matrix.row_count(); ++i) {
    matrix.read_row(head, i, row);
    sums.add(CentralSums::of(row));
  }
  return {sums.mean,
          std::sqrt(sums.square / static_cast<double>(sums.count)) * sums.unit,
          EntryKind::kNormal,
          {}};
}

// Random entries in place of a matrix's, of the shape of their head; `block` names the copy.
GivenMatrix matched_matrix(const GivenMatrix& like, std::uint64_t seed, std::string_view name,
                           std::int64_t block) {
  const std::int64_t rows = like.row_count();
  const std::int64_t d = like.columns(0);
  const auto size = static_cast<std::size_t>(like.heads() * rows * d);
  const std::shared_ptr<double[]> numbers(new double[size]);
  std::vector<double> drawn(static_cast<std::size_t>(entry_rows(d) * kLanes));
  for (std::int64_t head = 0; head < like.heads(); ++head) {
    const EntryShape shape = shape_of_head(like, head);
    const StreamKey key = stream_key({seed, hash_text(fmt::format("matched {};{}", name, head)),
                                      static_cast<std::uint64_t>(block)},
                                     StreamPurpose::kEntries);
    for (std::int64_t row = 0; row < rows; ++row) {
      if (row % kLanes == 0) draw_entries(key, row, 0, shape, d, drawn);
      double* const out = numbers.get() + (head * rows + row) * d;
      for (std::int64_t i = 0; i < d; ++i) {
        out[i] = drawn[static_cast<std::size_t>(i * kLanes + row % kLanes)];
      }
    }
  }
  const std::shared_ptr<const std::byte> bytes(numbers,
                                               reinterpret_cast<const std::byte*>(numbers.get()));
  Matrix matrix = matrix_in_rows(like.heads(), rows, d, NumberFormat::kFloat64, bytes);
  matrix.heads_per_batch = like.heads_per_batch();
  matrix.strides.batch = like.heads_per_batch() * rows * d;
  matrix.order = std::endian::native;
  return {{}, GivenFile{{}, {}, std::move(matrix)}};
}

// Each metric under each scaling, as the lines of the given numbers are; empty if stopped.
std::vector<DrawnEstimate> measure_copies(const Config& config, const Experiment& experiment,
                                          const GivenOptions& options) {
  Experiment copy = experiment;
  copy.by.clear();
  copy.given->weights = false;
  const std::int64_t copies = matched_copies(*experiment.given);
  std::vector<std::vector<double>> values;  // of each line, copy by copy
  std::int64_t queries = 0;
  for (std::int64_t i = 0; i < copies; ++i) {
    const Given& given = *experiment.given;
    copy.given->queries = matched_matrix(given.queries, config.seed, "queries", i);
    copy.given->keys = matched_matrix(given.keys, config.seed, "keys", i);
    const auto found = measure_given(config, copy, options);
    if (!found) return {};
    values.resize(found->rows.size());
    for (std::size_t line = 0; line < values.size(); ++line) {
      values[line].push_back(found->rows[line].estimate.value_or(kNan));
    }
    queries += head_count(given) * query_count(given);
  }
  std::vector<DrawnEstimate> estimates;
  for (const std::vector<double>& of_line : values) {
    const CentralSums sums = CentralSums::of(of_line);
    const auto n = static_cast<double>(copies);
    const double error = std::sqrt(sums.square / (n - 1) / n) * sums.unit;
    const bool varies = std::ranges::adjacent_find(of_line, std::not_equal_to{}) != of_line.end();
    estimates.push_back({{sums.mean, varies ? error : 0}, queries});  // not that of rounding
  }
  return estimates;
}

}  // namespace

const SamplerRow& baseline_sampler() {
  return *find_sampler("direct");
}

std::int64_t matched_copies(const Given& given) {
  constexpr std::int64_t kScores = std::int64_t{1} << 27;
  const std::int64_t scores = head_count(given) * query_count(given) * all_keys(given);
  return std::clamp<std::int64_t>(kScores / scores, 4, 32);
}

std::optional<std::vector<BaselineRow>> measure_baseline(const Config& config,
                                                         const Experiment& experiment,
                                                         std::span<const ResultRow> rows,
                                                         const GivenOptions& options) {
  std::vector<BaselineRow> found;
  for (const ResultRow& row : rows) {
    found.push_back({row.key, row.metric, row.queries, row.estimate, {}, {}});
  }
  if (experiment.given->baseline.normal) {
    const auto layers = measure_layers(config, experiment, options.stop);
    if (!layers) return std::nullopt;
    const std::size_t metrics = experiment.metrics.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      found[i].normal = random_numbers(rows[i], layers->estimate(i / metrics, i % metrics));
    }
  }
  if (experiment.given->baseline.matched) {
    const std::vector<DrawnEstimate> copies = measure_copies(config, experiment, options);
    if (copies.empty()) return std::nullopt;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      found[i].matched = random_numbers(rows[i], copies[i]);
    }
  }
  return found;
}

double expected_baseline_seconds(const Experiment& experiment) {
  const Given& given = *experiment.given;
  if (!given.baseline.matched) return 0;
  return static_cast<double>(matched_copies(given)) * expected_given_seconds(experiment);
}

double expected_normal_seconds(const Experiment& experiment) {
  if (!experiment.given->baseline.normal) return 0;
  const Layers layers = layers_of(*experiment.given);
  const std::vector<double> seconds =
      expected_seconds(make_plan(drawn_config({}, experiment, layers)));
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

}  // namespace attnscale
