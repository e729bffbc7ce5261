#include "estimate/tally.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "experiment/expected_logits.h"

namespace attnscale {
namespace {

Moments logit_moments(const BlockValues& values, std::size_t scaling) {
  std::vector<std::span<const double>> columns;
  if (scaling > 0) columns.assign(values.logit_powers[0].begin(), values.logit_powers[0].end());
  columns.insert(columns.end(), values.logit_powers[scaling].begin(),
                 values.logit_powers[scaling].end());
  return moments_of(columns);
}

Moments metric_moments(const BlockValues& values, std::size_t scaling, std::size_t metric) {
  const std::vector<double>& own = values.metrics[scaling][metric];
  std::vector<std::span<const double>> columns{own};
  std::vector<double> difference;
  if (scaling > 0) {
    const std::vector<double>& baseline = values.metrics[0][metric];
    std::transform(own.begin(), own.end(), baseline.begin(), std::back_inserter(difference),
                   std::minus<>());
    columns.emplace_back(difference);
  }
  return moments_of(columns);
}

// Smallest and largest number of a column; empty if a number is not finite.
std::optional<std::pair<double, double>> extremes_of(std::span<const double> values) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::size_t kParts = 8;  // interleaved, for the compiler to keep in vectors
  std::array<double, kParts> low;
  std::array<double, kParts> high;
  std::array<double, kParts> zero{};  // not zero once a number was not finite
  low.fill(kInfinity);
  high.fill(-kInfinity);
  const auto take = [&](std::size_t part, double value) {
    low[part] = value < low[part] ? value : low[part];
    high[part] = value > high[part] ? value : high[part];
    zero[part] += value - value;
  };
  std::size_t i = 0;
  for (; i + kParts <= values.size(); i += kParts) {
    for (std::size_t part = 0; part < kParts; ++part) take(part, values[i + part]);
  }
  for (; i < values.size(); ++i) take(0, values[i]);
  if (std::ranges::any_of(zero, [](double part) { return part != 0; })) return std::nullopt;
  return std::pair{std::ranges::min(low), std::ranges::max(high)};
}

// A column with a number that is not finite is left out: the moments carry that, and the line is
// `nonfinite`.
void add_column(std::span<const double> values, std::span<const double> complements,
                MetricCounts& counts) {
  const auto extremes = extremes_of(values);
  if (!extremes) return;
  // Which zero comes first depends on the order: added to 0, both are 0.
  counts.min = std::min(counts.min, extremes->first + 0.0);
  counts.max = std::max(counts.max, extremes->second + 0.0);
  if (complements.empty()) {
    counts.sketch.add(values);
  } else {
    counts.sketch.add_with_complements(values, complements);
  }
}

void add_counts(const std::vector<std::vector<std::int64_t>>& from,
                std::vector<std::vector<std::int64_t>>& to) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i].resize(std::max(to[i].size(), from[i].size()));
    for (std::size_t bin = 0; bin < from[i].size(); ++bin) to[i][bin] += from[i][bin];
  }
}

}  // namespace

CellMoments merge(const CellMoments& earlier, const CellMoments& later) {
  CellMoments merged;
  merged.reserve(earlier.size());
  for (std::size_t i = 0; i < earlier.size(); ++i) merged.push_back(merge(earlier[i], later[i]));
  return merged;
}

void MetricCounts::merge(const MetricCounts& other) {
  sketch.merge(other.sketch);
  min = std::min(min, other.min);
  max = std::max(max, other.max);
}

void CellCounts::add(const BlockValues& values) {
  const std::size_t per_scaling = values.metrics.empty() ? 0 : values.metrics[0].size();
  metrics.resize(values.metrics.size() * per_scaling);
  for (std::size_t s = 0; s < values.metrics.size(); ++s) {
    for (std::size_t m = 0; m < per_scaling; ++m) {
      add_column(values.metrics[s][m], values.complements[s][m], metrics[s * per_scaling + m]);
    }
  }
  add_counts(values.histograms, histograms);
}

void CellCounts::merge(const CellCounts& other) {
  metrics.resize(std::max(metrics.size(), other.metrics.size()));
  for (std::size_t i = 0; i < other.metrics.size(); ++i) metrics[i].merge(other.metrics[i]);
  add_counts(other.histograms, histograms);
}

CellMoments moments_of(const BlockValues& values) {
  CellMoments moments;
  for (std::size_t s = 0; s < values.metrics.size(); ++s) {
    if (!values.logit_powers[s].empty()) moments.push_back(logit_moments(values, s));
    for (std::size_t m = 0; m < values.metrics[s].size(); ++m) {
      moments.push_back(metric_moments(values, s, m));
    }
  }
  return moments;
}

std::size_t group_of(const Experiment& experiment, std::size_t scaling, const MetricRow& metric) {
  const auto metrics = per_query_metrics(experiment);
  const std::size_t logit_groups = logit_powers(experiment) > 0 ? 1 : 0;
  const std::size_t first = scaling * (logit_groups + metrics.size());
  if (metric.kind != MetricKind::kPerQuery) return first;
  const auto place = std::ranges::find(metrics, &metric) - metrics.begin();
  return first + logit_groups + static_cast<std::size_t>(place);
}

LogitPowers own_powers(const Experiment& experiment, const Draw& draw, std::size_t scaling) {
  const auto first = static_cast<std::size_t>(scaling > 0 ? logit_powers(experiment) : 0);
  return {first, power_scale(experiment.scalings[scaling].logit, draw)};
}

}  // namespace attnscale
