// The scores of one head's queries beside its weights: what an audit fits. Knows no mistakes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "audit/decimals.h"
#include "audit/head_fit.h"
#include "numerics/matrix.h"

namespace attnscale {

/// What is between the queries and keys of a layer and its weights.
struct AuditTensors {
  Matrix queries;
  Matrix keys;
  Matrix answers;           ///< weights, or what enters the softmax
  bool are_weights = true;  ///< what the answers are
  bool causal = false;      ///< as the user says
  std::optional<double> masked_below = {};
  std::optional<double> soft_cap = {};  ///< that is meant, if the user says what is
};

/// One head's cells, and what its answers show beside them.
struct HeadCells {
  ScoreCells cells;
  std::vector<std::int64_t> queries;  ///< of each row
  std::vector<double> sums;           ///< of the weights of each row
  std::vector<double> sum_errors;     ///< what rounding does to them
  std::vector<char> is_zero;          ///< a weight of 0, or a hidden logit, of each cell
  double lowest = 0;                  ///< of what is not infinite
  double roots = 0;                   ///< mean of sum (q k)^2 over components, of a cell
  int digits = 1;                     ///< of the significand that holds every answer
  DecimalWriting writing = {};        ///< of the answers
  double writing_error = 0;           ///< of a logit, by what was cut off: root mean square
  std::vector<char> is_left_out;      ///< rows of no weight, or of padding that weighs all alike
  std::int64_t empty_rows = 0;
  std::int64_t alike_rows = 0;
  bool is_half = true;  ///< float16 holds every answer
};

/// The heads that belong together.
struct HeadPlaces {
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t answers;

  friend bool operator==(const HeadPlaces&, const HeadPlaces&) = default;
};

/// Of `most_rows` queries at most, evenly apart. Throws std::invalid_argument at a weight below 0
/// or beyond 1e4.
HeadCells head_cells(const AuditTensors& tensors, const HeadPlaces& heads, std::int64_t most_rows);

/// Digits of the narrowest format that holds all numbers of some rows of the matrix.
int digits_of(const Matrix& matrix);

}  // namespace attnscale
