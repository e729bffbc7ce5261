#include "estimate/tally.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "numerics/column.h"

namespace attnscale {
namespace {

// The columns of a block that one number is estimated from, under one scaling.
using Columns = std::vector<std::span<const double>>;

Moments logit_moments(const BlockValues& values, std::size_t scaling) {
  const auto& powers = values.logit_powers[scaling];
  return moments_of_finite({powers.begin(), powers.end()}, powers.size());
}

Moments logit_contrast_moments(const BlockValues& values, std::size_t scaling) {
  Columns columns;
  for (const std::size_t one : {std::size_t{0}, scaling}) {
    const auto& powers = values.logit_powers[one];
    columns.insert(columns.end(), powers.begin(), powers.end());
  }
  return moments_of_finite(std::move(columns), values.logit_powers[0].size());
}

std::vector<double> squares_of(std::span<const double> numbers) {
  std::vector<double> squares;
  for (const double number : numbers) squares.push_back(number * number);
  return squares;
}

Moments metric_moments(const BlockValues& values, std::size_t scaling, std::size_t metric) {
  const std::vector<double>& own = values.metrics[scaling][metric];
  if (!values.is_root_mean_square(metric)) return moments_of_finite({own}, 1);
  const std::vector<double> squares = squares_of(own);
  return moments_of_finite({own, squares}, 1);
}

Moments metric_contrast_moments(const BlockValues& values, std::size_t scaling,
                                std::size_t metric) {
  const std::vector<double>& own = values.metrics[scaling][metric];
  const std::vector<double>& baseline = values.metrics[0][metric];
  if (values.is_root_mean_square(metric)) {
    const std::vector<double> squares = squares_of(own);
    const std::vector<double> baseline_squares = squares_of(baseline);
    return moments_of_finite({baseline, baseline_squares, own, squares}, 1);
  }
  std::vector<double> difference(own.size());
  std::ranges::transform(own, baseline, difference.begin(), std::minus<>());
  return moments_of_finite({difference}, 1);
}

// The numbers of a column where `values` has a finite one.
std::vector<double> kept(std::span<const double> column, std::span<const double> values) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (std::isfinite(values[i])) numbers.push_back(column[i]);
  }
  return numbers;
}

// Adds the finite numbers of a column.
void add_column(std::span<const double> values, std::span<const double> complements,
                MetricCounts& counts) {
  if (!all_finite(values)) {
    add_column(kept(values, values), kept(complements, values), counts);
    return;
  }
  const auto [least, largest] = extremes_of(values);
  // Which zero comes first depends on the order: added to 0, both are 0.
  counts.min = std::min(counts.min, least + 0.0);
  counts.max = std::max(counts.max, largest + 0.0);
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
  const std::size_t scalings = values.metrics.size();
  for (std::size_t s = 0; s < scalings; ++s) {
    if (!values.logit_powers[s].empty()) moments.push_back(logit_moments(values, s));
    for (std::size_t m = 0; m < values.metrics[s].size(); ++m) {
      moments.push_back(metric_moments(values, s, m));
    }
  }
  for (std::size_t s = 1; s < scalings; ++s) {
    if (!values.logit_powers[s].empty()) moments.push_back(logit_contrast_moments(values, s));
    for (std::size_t m = 0; m < values.metrics[s].size(); ++m) {
      moments.push_back(metric_contrast_moments(values, s, m));
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

std::size_t contrast_group_of(const Experiment& experiment, std::size_t scaling,
                              const MetricRow& metric) {
  return group_of(experiment, experiment.scalings.size() + scaling - 1, metric);
}

void FoldTree::add(FoldNode node, CellMoments moments) {
  while (true) {
    const auto sibling = pending_.find({node.level, node.index ^ 1});
    if (sibling == pending_.end()) break;
    const bool is_left = node.index % 2 == 0;
    moments = is_left ? merge(moments, sibling->second) : merge(sibling->second, moments);
    pending_.erase(sibling);
    node = {node.level + 1, node.index / 2};
  }
  pending_.emplace(node, std::move(moments));
}

CellMoments FoldTree::fold() const {
  CellMoments folded;
  // Once every block of a prefix is in, at most one node a level is pending: the binary digits of
  // the number of blocks, the smallest level furthest right.
  for (const auto& [node, moments] : pending_) {
    folded = folded.empty() ? moments : merge(moments, folded);
  }
  return folded;
}

}  // namespace attnscale
