// The science on one page: draw a block, scale it, weigh it, measure it. A pure function of the
// plan, the seed and the block number; nothing parallel is visible here.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "experiment/histogram.h"
#include "experiment/plan.h"
#include "experiment/scaling_measurer.h"

namespace attnscale {

/// What was measured of the queries of one block. Outer index: scaling. Columns have one number per
/// query; a query with a logit that is not finite has NaN in every metric except those that count
/// such queries.
struct BlockValues {
  std::int64_t queries = 0;
  /// metrics[scaling][metric]: the value of each per-query metric.
  std::vector<std::vector<std::vector<double>>> metrics;
  /// complements[scaling][metric]: 1 - value; empty for metrics that have none.
  std::vector<std::vector<std::vector<double>>> complements;
  /// The metrics whose estimate is a root mean square; by their places.
  std::vector<bool> root_mean_squares;
  /// logit_powers[scaling][k]: mean over keys of power k + 1 of what power_scale makes of a logit.
  std::vector<std::vector<std::vector<double>>> logit_powers;
  /// histograms[scaling * quantities + quantity]: counts as HistogramBins makes them.
  std::vector<std::vector<std::int64_t>> histograms;

  bool is_root_mean_square(std::size_t metric) const {
    return metric < root_mean_squares.size() && root_mean_squares[metric];
  }
};

/// Asked between tiles; true abandons the block.
using StopSignal = std::function<bool()>;

/// Measures blocks of one drawn cell one after another, in memory that it keeps from block to
/// block: asking the system for it again would take as long as the softmax. What it measures of a
/// block depends on no other block.
class BlockMeasurer {
 public:
  /// `experiment` and `cell` must outlive the measurer.
  BlockMeasurer(const Experiment& experiment, const Cell& cell, std::uint64_t seed);

  /// What was measured of block `block`, until the next call; nullptr if `stop` abandoned it.
  const BlockValues* measure(std::int64_t block, const StopSignal& stop = nullptr);

 private:
  void start_block(std::int64_t queries);
  void add_tile(const ScoreTile& tile);
  void hold(const ScoreTile& tile);
  FormulaScores held() const {
    return {scores_, stride_, 0, squared_query_norms_, squared_key_norms_, query_sums_, key_sums_};
  }
  GroupColumns columns_of(const ScoreTile& tile, std::size_t scaling);
  void count_tile(std::size_t scaling, const ScoreTile& tile);
  void count_metrics();

  const Experiment& experiment_;
  const Cell& cell_;
  std::uint64_t seed_;
  std::vector<const MetricRow*> metrics_;
  std::vector<ScalingMeasurer> scalings_;
  std::vector<HistogramBins> bins_;  ///< scaling by scaling, as the counts are
  bool holds_scores_;
  std::vector<double> scores_;  ///< of all keys of the current group, if they are held
  std::vector<std::vector<double>> products_;  ///< the rounded ones of the same keys
  std::size_t stride_ = 1;
  std::vector<double> squared_query_norms_;
  std::vector<double> squared_key_norms_;
  std::vector<double> query_sums_;
  std::vector<double> key_sums_;
  BlockValues values_;
};

}  // namespace attnscale
