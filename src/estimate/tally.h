// What is kept of a cell's queries: floating moments, which must be merged in one fixed order, a
// tree over block numbers, and counts, extremes and sketches, which may be merged in any.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "experiment/measure_block.h"
#include "numerics/moments.h"
#include "numerics/quantile_sketch.h"

namespace attnscale {

/// Order-sensitive part of a tally: for each scaling, first the powers of its logits (if the
/// experiment measures logits), then each per-query metric, with its square after it if its
/// estimate is a root mean square. Then, for each scaling but the first, what its contrasts with
/// the first need: the powers or squares of both, the first scaling's before its own; or else the
/// difference of the metric. A query with a number that is not finite is left out of the group.
using CellMoments = std::vector<Moments>;

/// Merges two disjoint sets of queries of one cell; `later` follows `earlier`.
CellMoments merge(const CellMoments& earlier, const CellMoments& later);

/// Order-free part of a tally: one metric under one scaling.
struct MetricCounts {
  QuantileSketch sketch;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();

  void merge(const MetricCounts& other);
  friend bool operator==(const MetricCounts&, const MetricCounts&) = default;
};

/// Order-free part of a cell's tally.
struct CellCounts {
  std::vector<MetricCounts> metrics;                  ///< scaling by scaling, per-query metrics
  std::vector<std::vector<std::int64_t>> histograms;  ///< scaling by scaling, quantities

  /// Adds the finite numbers of one block.
  void add(const BlockValues& values);
  void merge(const CellCounts& other);
  friend bool operator==(const CellCounts&, const CellCounts&) = default;
};

/// Everything that is kept of a cell.
struct CellTally {
  CellMoments moments;
  CellCounts counts;
};

CellMoments moments_of(const BlockValues& values);

/// The group in CellMoments that a metric of the experiment is estimated from under one scaling.
std::size_t group_of(const Experiment& experiment, std::size_t scaling, const MetricRow& metric);

/// The group of its contrast with the first scaling; scaling >= 1.
std::size_t contrast_group_of(const Experiment& experiment, std::size_t scaling,
                              const MetricRow& metric);

/// A canonical node: the blocks [index * 2^level, (index + 1) * 2^level).
struct FoldNode {
  int level = 0;
  std::int64_t index = 0;

  auto operator<=>(const FoldNode&) const = default;
};

/// Folds the moments of a cell's blocks in one fixed binary tree, whatever order they finish in, so
/// that the result never depends on who measured what.
class FoldTree {
 public:
  /// Adds a node whose blocks were not added before, and merges it with its sibling as long as
  /// there is one: at most (blocks in flight) x log(blocks) nodes are pending.
  void add(FoldNode node, CellMoments moments);

  /// The moments of blocks [0, blocks), all of which were added, pending nodes of the ragged right
  /// edge folded from the smallest to the largest.
  CellMoments fold() const;

  /// Nodes not yet merged, by level and index.
  const std::map<FoldNode, CellMoments>& pending() const { return pending_; }

  friend bool operator==(const FoldTree&, const FoldTree&) = default;

 private:
  std::map<FoldNode, CellMoments> pending_;
};

}  // namespace attnscale
