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

/// logit = factor * x + constant of the row, with what a second number adds.
struct LineFit {
  double factor = 0;
  double factor_error = 0;
  double second = 0;  ///< the slope of the distance, or 1 / cap^2
  double second_error = std::numeric_limits<double>::infinity();
  double residual = 0;   ///< root of the mean square
  double count = 0;      ///< cells, less the rows
  double curvature = 0;  ///< sum of squares of the centred scores
};

/// A straight line on scores, or on cosines.
LineFit fit_line(const ScoreCells& cells, const std::vector<double>& x);

/// The line and a slope of the distance.
LineFit fit_distance(const ScoreCells& cells);

/// cap tanh(factor x / cap), by Gauss and Newton from `start`, with 1 / cap^2 as the second number.
LineFit fit_soft_cap(const ScoreCells& cells, const LineFit& start);

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
