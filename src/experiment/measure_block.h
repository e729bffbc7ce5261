// The science on one page: draw a block, scale it, weigh it, measure it. A pure function of the
// plan, the seed and the block number; nothing parallel is visible here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "experiment/plan.h"
#include "numerics/power_sums.h"
#include "numerics/softmax.h"

namespace attnscale {

/// The per-query metrics of an experiment, in the order it names them.
std::vector<const MetricRow*> per_query_metrics(const Experiment& experiment);

/// How many powers of a logit the experiment's statistics of logits need: 0, 2 or 4.
int logit_powers(const Experiment& experiment);

/// What the logits of a cell and scaling are measured from: the logit of the expected score, so
/// that powers of the difference never cancel.
double logit_centre(const Scaling& scaling, const Draw& draw);

/// What was measured of the queries of one block. Outer index: scaling. Columns have one number per
/// query; a query with a logit that is not finite has NaN in all of them.
struct BlockValues {
  std::int64_t queries = 0;
  /// metrics[scaling][metric]: the value of each per-query metric.
  std::vector<std::vector<std::vector<double>>> metrics;
  /// complements[scaling][metric]: 1 - value; empty for metrics that have none.
  std::vector<std::vector<std::vector<double>>> complements;
  /// logit_powers[scaling][k]: mean over keys of (logit - logit_centre)^(k + 1).
  std::vector<std::vector<std::vector<double>>> logit_powers;
  /// histograms[scaling * quantities + quantity]: counts as HistogramBins makes them.
  std::vector<std::vector<std::int64_t>> histograms;
};

/// Asked between tiles; true abandons the block.
using StopSignal = std::function<bool()>;

/// Measures blocks of one drawn cell one after another, in memory that it keeps from block to
/// block: to ask the system for it again would take as long as the softmax. What it measures of a
/// block depends on no other block.
class BlockMeasurer {
 public:
  /// `experiment` and `cell` must outlive the measurer.
  BlockMeasurer(const Experiment& experiment, const Cell& cell, std::uint64_t seed);

  /// What was measured of block `block`, until the next call; nullptr where `stop` said so.
  const BlockValues* measure(std::int64_t block, const StopSignal& stop = nullptr);

 private:
  /// Where the softmax of one scaling stands within the current group of queries.
  struct ScalingState {
    double logit_per_score = 0;
    double centre = 0;
    SoftmaxSums softmax;
    SoftmaxSums aligned;  ///< over the aligned keys alone, where a metric asks for them
    PowerSums powers;
  };

  void start_block(std::int64_t queries);
  void add_tile(const ScoreTile& tile);
  void measure_group(std::int64_t first_query, std::size_t scaling);
  void measure_aligned_keys(const MetricRow& metric, const ScalingState& state,
                            std::span<double> column) const;
  void count_tile(std::size_t scaling, const ScoreTile& tile);
  void count_metrics();

  const Experiment& experiment_;
  const Cell& cell_;
  std::uint64_t seed_;
  std::vector<const MetricRow*> metrics_;
  SoftmaxLevel level_ = SoftmaxLevel::kWeights;
  int powers_;
  std::int64_t aligned_keys_ = 0;  ///< of a query, if any metric asks for them
  std::vector<ScalingState> states_;
  std::vector<double> logits_;
  BlockValues values_;
};

/// Measures one block. Nothing where `stop` said so.
std::optional<BlockValues> measure_block(const Experiment& experiment, const Cell& cell,
                                         std::uint64_t seed, std::int64_t block,
                                         const StopSignal& stop = nullptr);

}  // namespace attnscale
