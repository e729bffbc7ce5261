// What is kept of a cell's queries: floating moments, which must be merged in one fixed order, and
// counts, extremes and sketches, which may be merged in any.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "estimate/logit_statistics.h"
#include "experiment/measure_block.h"
#include "numerics/moments.h"
#include "numerics/quantile_sketch.h"

namespace attnscale {

/// Order-sensitive part of a tally: for each scaling, first the powers of its logits (if the
/// experiment measures logits), then each per-query metric. From the second scaling on a group also
/// holds what its contrast with the first scaling needs: the first scaling's powers before its own;
/// the difference of the metric after the metric.
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

  /// Adds the queries of one block.
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

/// Where a scaling's own powers are in its group, and what they were taken of.
LogitPowers own_powers(const Experiment& experiment, const Draw& draw, std::size_t scaling);

}  // namespace attnscale
