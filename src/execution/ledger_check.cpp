#include "execution/ledger_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
    const auto has_another_count = [&](const Moments& group) { return group.count != queries; };
    if (std::ranges::any_of(moments, has_another_count)) return false;
    held.add(blocks);
    number += width;
  }
  return held == ledger.done && number == ledger.done.size();
}

bool counts_are_possible(const MetricCounts& counts, std::int64_t queries) {
  return counts.sketch.count() <= queries && counts.sketch.can_reach(counts.min, counts.max);
}

bool bins_are_possible(const std::vector<std::int64_t>& bins, std::int64_t values) {
  const std::int64_t counted = std::accumulate(bins.begin(), bins.end(), std::int64_t{0});
  return bins.size() <= kHistogramBins + 2 && counted <= values;
}

// The largest magnitude of a metric; infinity unless all queries were counted, and where sums of
// squares may overflow.
double largest_of(const MetricCounts& counts, std::int64_t queries) {
  constexpr double kMost = 1e150;
  const double largest = std::max(std::abs(counts.min), std::abs(counts.max));
  const bool is_known = counts.sketch.count() == queries && largest < kMost;
  return is_known ? largest : std::numeric_limits<double>::infinity();
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

// The same for the moments of a metric under a scaling, which hold the difference from that under
// the first scaling too.
bool group_is_possible(const Moments& group, const MetricCounts& counts,
                       const MetricCounts& baseline, std::int64_t queries) {
  const double largest = largest_of(counts, queries);
  if (!std::isfinite(largest)) return true;
  if (!sums_are_possible(group, 0, counts.min, counts.max)) return false;
  if (group.dimension() == 1) return true;
  const double most = largest + largest_of(baseline, queries);
  return !std::isfinite(most) || sums_are_possible(group, 1, -most, most);
}

bool units_are_possible(const Moments& group) {
  return std::ranges::all_of(group.unit, [](double unit) {
    return std::isfinite(unit) && unit >= kLeastUnit && unit == unit_of(unit);
  });
}

// Sums of high powers may overflow, but where the weights of every query are known all its logits
// were finite, and so is their mean.
bool logits_are_possible(const Moments& group, bool are_finite) {
  for (std::size_t i = 0; i < group.dimension(); ++i) {
    if (group.central_sum(i, i) < 0) return false;
  }
  return !are_finite || std::isfinite(group.mean.front());
}

bool moments_are_possible(const CellLedger& ledger, const Experiment& experiment,
                          std::int64_t queries) {
  const auto metrics = per_query_metrics(experiment);
  const bool has_logits = logit_powers(experiment) > 0;
  for (const auto& [node, moments] : ledger.tree.pending()) {
    if (!std::ranges::all_of(moments, units_are_possible)) return false;
    auto group = moments.begin();
    for (std::size_t s = 0; s < experiment.scalings.size(); ++s) {
      const Moments* const logits = has_logits ? &*group++ : nullptr;
      bool are_finite = false;
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        const MetricCounts& counts = ledger.counts.metrics[s * metrics.size() + m];
        are_finite |= !metrics[m]->takes_nonfinite && counts.sketch.count() == queries;
        if (!group_is_possible(*group++, counts, ledger.counts.metrics[m], queries)) return false;
      }
      if (logits != nullptr && !logits_are_possible(*logits, are_finite)) return false;
    }
  }
  return true;
}

}  // namespace

LedgerShape shape_of(const Experiment& experiment) {
  const auto powers = static_cast<std::size_t>(logit_powers(experiment));
  const std::size_t scalings = experiment.scalings.size();
  const std::size_t metrics = per_query_metrics(experiment).size();
  LedgerShape shape{{}, scalings * metrics, scalings * experiment.histogram.size()};
  for (std::size_t scaling = 0; scaling < scalings; ++scaling) {
    const std::size_t factor = scaling == 0 ? 1 : 2;  // a contrast doubles the variables
    if (powers > 0) shape.dimensions.push_back(factor * powers);
    shape.dimensions.insert(shape.dimensions.end(), metrics, factor);
  }
  return shape;
}

bool is_possible(const CellLedger& ledger, const Experiment& experiment, const Cell& cell) {
  const BlockSet all(BlockRange{0, cell.blocks});
  if (all.common_with(ledger.done) != ledger.done || !holds_blocks(ledger, cell)) return false;
  const std::int64_t queries = queries_in(cell, ledger.done);
  return std::ranges::all_of(
             ledger.counts.metrics,
             [&](const MetricCounts& counts) { return counts_are_possible(counts, queries); }) &&
         std::ranges::all_of(ledger.counts.histograms,
                             [&](const std::vector<std::int64_t>& bins) {
                               return bins_are_possible(bins, queries * cell.draw.keys);
                             }) &&
         moments_are_possible(ledger, experiment, queries);
}

}  // namespace attnscale
