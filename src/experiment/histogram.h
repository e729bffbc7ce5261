// How the values of a metric, the scores or the logits spread over equal bins. The bins are fixed
// by theory before anything is drawn, so that counts merge in any order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "experiment/plan.h"
#include "experiment/result_row.h"

namespace attnscale {

inline constexpr std::size_t kHistogramBins = 100;

/// Bins of one quantity of one cell and scaling: kHistogramBins equal ones between two ends, on the
/// axis of the quantity or of its log10, and one beyond each end.
class HistogramBins {
 public:
  /// Scores and logits are binned within five expected standard deviations of their expected value,
  /// metrics over the range that their row names.
  HistogramBins(const HistogramQuantity& quantity, const Cell& cell, const Scaling& scaling);

  /// Adds finite values to counts[0 ... kHistogramBins + 1], whose first and last are beyond the
  /// ends.
  void count(std::span<const double> values, std::vector<std::int64_t>& counts) const;

  /// Edges as the file shows them: log10 of the values if that is the axis.
  const std::vector<double>& edges() const { return shown_edges_; }

 private:
  std::vector<double> edges_;  // in the quantity's own unit, kHistogramBins + 1 of them
  std::vector<double> shown_edges_;
};

/// The lines of histogram.csv of one cell: scaling by scaling, quantities in the experiment's
/// order.
std::vector<HistogramRow> histogram_cell(const Plan& plan, const Cell& cell,
                                         const std::vector<std::vector<std::int64_t>>& counts);

}  // namespace attnscale
