// The whole Jacobian of a plain softmax and its eigenvalues, by a method that knows nothing of its
// form: what the formulas over weights are compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/plain_softmax.h"

namespace attnscale {

using DenseMatrix = std::vector<std::vector<long double>>;

/// diag(p) - p p^T of the first `keys` weights.
inline DenseMatrix jacobian_of(const PlainSoftmax& plain, std::size_t keys) {
  DenseMatrix matrix(keys, std::vector<long double>(keys));
  for (std::size_t i = 0; i < keys; ++i) {
    for (std::size_t j = 0; j < keys; ++j) {
      matrix[i][j] = i == j ? plain.p[i] * plain.others[i] : -plain.p[i] * plain.p[j];
    }
  }
  return matrix;
}

/// The largest eigenvalue of a symmetric matrix, by Jacobi's rotations, each of which makes one
/// pair of entries beside the diagonal vanish.
inline long double largest_eigenvalue(DenseMatrix a) {
  constexpr int kSweeps = 12;  // their number of right digits doubles with each, towards the end
  const std::size_t size = a.size();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = p + 1; q < size; ++q) {
        if (a[p][q] == 0) continue;
        const long double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const long double sign = theta < 0 ? -1 : 1;
        const long double t = sign / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const long double c = 1 / std::sqrt(t * t + 1);
        const long double s = t * c;
        for (std::size_t k = 0; k < size; ++k) {
          const long double of_p = a[k][p];
          a[k][p] = c * of_p - s * a[k][q];
          a[k][q] = s * of_p + c * a[k][q];
        }
        for (std::size_t k = 0; k < size; ++k) {
          const long double of_p = a[p][k];
          a[p][k] = c * of_p - s * a[q][k];
          a[q][k] = s * of_p + c * a[q][k];
        }
      }
    }
  }
  long double largest = a[0][0];
  for (std::size_t i = 0; i < size; ++i) largest = std::max(largest, a[i][i]);
  return largest;
}

}  // namespace attnscale
