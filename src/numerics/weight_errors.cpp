#include "numerics/weight_errors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/weight_sums.h"

namespace attnscale {
double weight_error(const QueryWeights& rounded, const QueryWeights& exact) {
  double sum = 0;
  for (std::size_t key = 0; key < exact.weights().size(); ++key) {
    sum += std::abs(rounded.weights()[key] - exact.weights()[key]);
  }
  return sum / 2;
}

double largest_weight_error(const QueryWeights& rounded, const QueryWeights& exact) {
  double largest = 0;
  for (std::size_t key = 0; key < exact.weights().size(); ++key) {
    largest = std::max(largest, std::abs(rounded.weights()[key] - exact.weights()[key]));
  }
  return largest;
}

double entropy_error(const QueryWeights& rounded, const QueryWeights& exact) {
  return std::abs(sum_entropy(rounded) - sum_entropy(exact));
}

double logit_error(const QueryWeights& rounded, const QueryWeights& exact) {
  double squares = 0;
  for (std::size_t key = 0; key < exact.logits().size(); ++key) {
    const double error = rounded.logits()[key] - exact.logits()[key];
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(exact.logits().size()));
}

// Beside a large sink the squares of weights would vanish, so they are of weights over the largest.
double output_error(const QueryWeights& rounded, const QueryWeights& exact) {
  const double largest = *std::ranges::max_element(exact.weights());
  if (largest == 0) {
    return largest_weight_error(rounded, exact) == 0 ? 0 : std::numeric_limits<double>::infinity();
  }
  double squares = 0;
  double differences = 0;
  for (std::size_t key = 0; key < exact.weights().size(); ++key) {
    const double weight = exact.weights()[key] / largest;
    const double off = (rounded.weights()[key] - exact.weights()[key]) / largest;
    squares += weight * weight;
    differences += off * off;
  }
  const Precision format = rounded.rule().precision.output;
  if (format != Precision::kFloat64) {
    const double variance = rounding_variance(format, root_of_squares(rounded));
    differences += variance / largest / largest;
  }
  return std::sqrt(differences / squares);
}

}  // namespace attnscale
