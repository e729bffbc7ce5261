// One scaling at work: from the scores of a group of queries, tile by tile, to the metrics of each
// query. What running sums suffice for is taken from them as the tiles come, in memory that does
// not grow with keys; the rest (sigmoids, emulated precision and its error, the spectrum of the
// Jacobian) is weighed query by query from all the group's scores.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/top_scores.h"
#include "numerics/power_sums.h"
#include "numerics/query_weights.h"
#include "numerics/softmax.h"

namespace attnscale {

/// Where the numbers of a group of queries go: columns of its length, the block's part of it.
struct GroupColumns {
  std::vector<std::span<double>> metrics;
  std::vector<std::span<double>> complements;  ///< empty for metrics that have none
  std::vector<std::span<double>> logit_powers;
};

class ScalingMeasurer {
 public:
  /// `experiment` must outlive the measurer.
  ScalingMeasurer(const Experiment& experiment, const Draw& draw, const Scaling& scaling);

  /// The block of the tiles to come.
  void start_block(const BlockAddress& address) { address_ = address; }

  /// Takes the next tile of a group; the first one starts it.
  void add_tile(const ScoreTile& tile);

  /// Logits of the last tile.
  std::span<const double> logits() const { return logits_; }

  /// Fills the columns of a group whose tiles have all been added. `scores` are those of all its
  /// keys, and `products` the rounded ones, if a metric needs all logits. All numbers of a query
  /// with a score or logit that is not finite are NaN, except in metrics that count such queries.
  void measure_group(const FormulaScores& scores, std::span<const std::vector<double>> products,
                     const GroupColumns& columns);

 private:
  FormulaScores scores_of(const ScoreTile& tile);
  void fill_contexts();
  bool overflowed(std::int64_t query) const;
  void measure_sums(std::size_t metric, const GroupColumns& columns) const;
  void measure_all_logits(const FormulaScores& scores, const FormulaScores& exact_scores,
                          const GroupColumns& columns);
  void weigh_query(const FormulaScores& scores, const FormulaScores& exact_scores,
                   std::int64_t query);
  void evaluate_query(const FormulaProgram& program, const FormulaScores& scores,
                      std::int64_t query, const PrecisionSteps& precision,
                      std::vector<double>& logits);

  const WeightRule& rule_;
  FormulaProgram program_;
  FormulaProgram exact_program_;        ///< with what stands on queries, where they are scaled
  std::optional<std::size_t> product_;  ///< place of the rounded products, if they are used
  std::optional<std::size_t> exact_product_;  ///< of those of the same stored entries in float64
  Draw draw_;
  WiderVectors wider_;
  BlockAddress address_;
  std::vector<double> wider_query_norms_;  ///< of the group, if vectors are wider than the head
  std::vector<double> wider_key_norms_;
  double saturated_above_;
  std::vector<const MetricRow*> metrics_;
  SoftmaxLevel level_ = SoftmaxLevel::kWeights;
  int powers_;
  std::int64_t aligned_keys_ = 0;  ///< of a query, if any metric asks for them
  PowerScale power_scale_;
  std::vector<double> logits_;
  std::vector<double> peaks_;  ///< of each logit, where a bend may hide an overflow
  SoftmaxSums softmax_;
  SoftmaxSums aligned_;  ///< over the aligned keys alone, if a metric asks for them
  PowerSums power_sums_;
  std::vector<bool> hides_overflow_;     ///< of each query, if there are peaks
  std::optional<TopScores> top_scores_;  ///< if a metric takes their slope
  std::vector<QueryContext> contexts_;
  std::vector<double> query_scores_;
  std::vector<double> query_key_norms_;
  std::vector<double> query_key_sums_;
  std::vector<double> query_logits_;
  QueryWeights weights_;
  bool compares_;  ///< with the same query in float64, if the rule is narrower
  std::vector<double> exact_logits_;
  QueryWeights exact_weights_;
};

}  // namespace attnscale
