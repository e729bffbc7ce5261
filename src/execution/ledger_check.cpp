#include "execution/ledger_check.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "experiment/histogram.h"
#include "numerics/unit.h"

namespace attnscale {
namespace {

// Whether the tree holds the moments of the ledger's blocks, each once, of all their queries.
bool holds_blocks(const CellLedger& ledger, const Cell& cell) {
  BlockSet held;
  std::int64_t number = 0;
  for (const auto& [node, moments] : ledger.tree.pending()) {
    const std::int64_t width = std::int64_t{1} << node.level;
    const BlockRange blocks{node.index * width, (node.index + 1) * width};
    const std::int64_t queries = queries_in(cell, BlockSet(blocks));
    const auto has_another_count = [&](const Moments& group) {
      return group.count + group.left_out != queries;
    };
    if (std::ranges::any_of(moments, has_another_count)) return false;
    held.add(blocks);
    number += width;
  }
  return held == ledger.done && number == ledger.done.size();
}

bool bins_are_possible(const std::vector<std::int64_t>& bins, std::int64_t values) {
  const std::int64_t counted = std::accumulate(bins.begin(), bins.end(), std::int64_t{0});
  return bins.size() <= kHistogramBins + 2 && counted <= values;
}

// False where sums of squares of a metric may overflow.
bool has_squares(const MetricCounts& counts) {
  constexpr double kMost = 1e150;
  return std::max(std::abs(counts.min), std::abs(counts.max)) < kMost;
}

// Whether the moments of a variable can be those of numbers from `low` to `high`.
bool sums_are_possible(const Moments& moments, std::size_t variable, double low, double high) {
  const double slack = 1e-9 * std::max(std::abs(low), std::abs(high));
  const double mean = moments.mean[variable];
  const double squares = moments.central_sum(variable, variable);
  const double width = high - low + slack;
  return mean >= low - slack && mean <= high + slack && squares >= 0 &&
         squares <= static_cast<double>(moments.count) * width * width;
}

// The same for the moments of a metric under a scaling, of which `counts` were counted.
bool metric_is_possible(const Moments& group, const MetricCounts& counts,
                        const MetricCounts& /*baseline*/) {
  return group.count == 0 || !has_squares(counts) ||
         sums_are_possible(group, 0, counts.min, counts.max);
}

// The same for those of its contrast with the first scaling.
bool contrast_is_possible(const Moments& group, const MetricCounts& counts,
                          const MetricCounts& baseline) {
  if (group.count == 0 || !has_squares(counts) || !has_squares(baseline)) return true;
  if (group.dimension() == 1) {
    return sums_are_possible(group, 0, counts.min - baseline.max, counts.max - baseline.min);
  }
  return sums_are_possible(group, 0, baseline.min, baseline.max) &&
         sums_are_possible(group, group.dimension() / 2, counts.min, counts.max);
}

bool units_are_possible(const Moments& group) {
  return std::ranges::all_of(group.unit, [](double unit) {
    return std::isfinite(unit) && unit >= kLeastUnit && unit == unit_of(unit);
  });
}

// Sums of high powers may overflow, but the logits of the queries that count are finite, and so is
// their mean.
bool logits_are_possible(const Moments& group) {
  for (std::size_t i = 0; i < group.dimension(); ++i) {
    if (group.central_sum(i, i) < 0) return false;
  }
  return group.count == 0 || std::isfinite(group.mean.front());
}

bool moments_are_possible(const CellMoments& moments, const std::vector<MetricCounts>& counts,
                          const Experiment& experiment) {
  const std::size_t metrics = per_query_metrics(experiment).size();
  auto group = moments.begin();
  const auto are_possible = [&](std::size_t scaling, const auto& is_possible) {
    if (logit_powers(experiment) > 0 && !logits_are_possible(*group++)) return false;
    for (std::size_t m = 0; m < metrics; ++m) {
      if (!is_possible(*group++, counts[scaling * metrics + m], counts[m])) return false;
    }
    return true;
  };
  for (std::size_t s = 0; s < experiment.scalings.size(); ++s) {
    if (!are_possible(s, metric_is_possible)) return false;
  }
  for (std::size_t s = 1; s < experiment.scalings.size(); ++s) {
    if (!are_possible(s, contrast_is_possible)) return false;
  }
  return true;
}

// Whether as many queries are in the moments of each metric as were counted.
bool counts_are_possible(const CellLedger& ledger, const Experiment& experiment) {
  std::vector<std::int64_t> counted;
  for (const MetricCounts& counts : ledger.counts.metrics) {
    if (!counts.sketch.can_reach(counts.min, counts.max)) return false;
    counted.push_back(counts.sketch.count());
  }
  const auto metrics = per_query_metrics(experiment);
  for (const auto& [node, moments] : ledger.tree.pending()) {
    for (std::size_t i = 0; i < counted.size(); ++i) {
      const std::size_t scaling = i / metrics.size();
      counted[i] -= moments[group_of(experiment, scaling, *metrics[i % metrics.size()])].count;
    }
  }
  return std::ranges::all_of(counted, [](std::int64_t count) { return count == 0; });
}

}  // namespace

LedgerShape shape_of(const Experiment& experiment) {
  const auto powers = static_cast<std::size_t>(logit_powers(experiment));
  const std::size_t scalings = experiment.scalings.size();
  const auto metrics = per_query_metrics(experiment);
  LedgerShape shape{{}, scalings * metrics.size(), scalings * experiment.histogram.size()};
  const auto add_groups = [&](std::size_t of_powers, std::size_t of_mean, std::size_t of_root) {
    if (powers > 0) shape.dimensions.push_back(of_powers);
    for (const MetricRow* row : metrics) {
      shape.dimensions.push_back(row->is_root_mean_square ? of_root : of_mean);
    }
  };
  for (std::size_t scaling = 0; scaling < scalings; ++scaling) add_groups(powers, 1, 2);
  for (std::size_t scaling = 1; scaling < scalings; ++scaling) add_groups(2 * powers, 1, 4);
  return shape;
}

bool is_possible(const CellLedger& ledger, const Experiment& experiment, const Cell& cell) {
  const BlockSet all(BlockRange{0, cell.blocks});
  if (all.common_with(ledger.done) != ledger.done || !holds_blocks(ledger, cell)) return false;
  const std::int64_t values = queries_in(cell, ledger.done) * cell.draw.keys;
  const auto has_possible_moments = [&](const auto& node) {
    return std::ranges::all_of(node.second, units_are_possible) &&
           moments_are_possible(node.second, ledger.counts.metrics, experiment);
  };
  const auto has_possible_bins = [&](const std::vector<std::int64_t>& bins) {
    return bins_are_possible(bins, values);
  };
  return counts_are_possible(ledger, experiment) &&
         std::ranges::all_of(ledger.counts.histograms, has_possible_bins) &&
         std::ranges::all_of(ledger.tree.pending(), has_possible_moments);
}

}  // namespace attnscale
