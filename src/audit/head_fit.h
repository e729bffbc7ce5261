// How the logarithms of one head's weights follow its scores: least squares with a constant of its
// own for each query, for a straight line and for what else may be between q.k and the weights.
// Knows nothing of names and files.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace attnscale {

/// Scores and logits of some queries of a head. A cell that is not used holds NaN as its logit.
struct ScoreCells {
  std::size_t rows = 0;
  std::size_t keys = 0;
  std::vector<double> scores;    ///< q.k [row * keys + key]
  std::vector<double> logits;    ///< ln w, or what enters the softmax
  std::vector<double> distance;  ///< i - j of each key of each row
  std::vector<double> cosines;   ///< q.k / |q| |k|
};

/// Rows of the same cells, evenly apart, so many that they have about `most` cells.
ScoreCells thinned(const ScoreCells& cells, std::size_t most);

/// logit = cap tanh(factor x / cap) + slope * distance + constant of the row, where x is q.k or its
/// cosine. A straight line has no cap and no slope.
struct LineFit {
  double factor = 0;
  double factor_error = 0;
  double bend = 0;  ///< 1 / cap^2
  double bend_error = std::numeric_limits<double>::infinity();
  double slope = 0;  ///< of the distance
  double slope_error = 0;
  bool of_cosines = false;
  double residual = 0;   ///< root of the mean square
  double count = 0;      ///< cells, less the rows
  double curvature = 0;  ///< sum of squares of the centred scores
};

/// Fits of several heads or rows as one, each weighing as much as it has cells.
class PooledFits {
 public:
  PooledFits() = default;
  explicit PooledFits(const std::vector<LineFit>& fits);
  void add(const LineFit& fit);

  double residual() const;      ///< root of the mean square; 0 of no cell, as the others
  double spread() const;        ///< of the logits that the lines explain
  double score_spread() const;  ///< of the scores within rows

 private:
  double squares_ = 0;
  double fitted_ = 0;
  double curvature_ = 0;
  double count_ = 0;
};

/// The middle number, the higher of two; 0 of none.
double median(std::vector<double> numbers);

/// What the fit makes of a cell, without the constant of its row.
double fitted_logit(const LineFit& fit, const ScoreCells& cells, std::size_t cell);

/// The logits that the fit expects of all cells, with the constant of each row; NaN in rows without
/// a cell that is used.
std::vector<double> expected_logits(const LineFit& fit, const ScoreCells& cells);

/// A straight line on scores.
LineFit fit_line(const ScoreCells& cells);
LineFit fit_cosines(const ScoreCells& cells);

/// The line and a slope of the distance.
LineFit fit_distance(const ScoreCells& cells);

/// A cap beside the slope of `start`, by Gauss and Newton from there.
LineFit fit_soft_cap(const ScoreCells& cells, const LineFit& start);

/// A cap and a slope, in turn until they agree.
LineFit fit_cap_and_slope(const ScoreCells& cells, const LineFit& start);

/// A line of its own for each row: the residual, infinite where no row has more than 8 cells, and
/// the factors of rows.
struct RowFits {
  double residual = 0;
  std::vector<double> factors;  ///< NaN of a row with too few cells
};
RowFits fit_rows(const ScoreCells& cells);

/// The residual of a line beside which each distance, or each key, has a constant of its own; what
/// `group` says of a cell.
LineFit fit_groups(const ScoreCells& cells, const std::vector<double>& group);

}  // namespace attnscale
