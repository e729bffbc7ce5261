// Softmax by its plain formulas in long double, and rows of logits to try them on: what the kernel
// and the metrics are compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "numerics/softmax.h"

namespace attnscale {

struct PlainSoftmax {
  std::vector<long double> p;
  std::vector<long double> others;  ///< for each key, the sum of all other weights
  std::size_t top = 0;              ///< the first key of the largest logit
  long double deepest = 0;          ///< largest difference to the top logit
  long double entropy = 0;

  explicit PlainSoftmax(const std::vector<double>& logits)
      : top(static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin())) {
    long double total = 0;
    std::vector<long double> e;
    for (const double logit : logits) {
      const long double below = static_cast<long double>(logits[top]) - logit;
      deepest = std::max(deepest, below);
      e.push_back(std::exp(-below));
      total += e.back();
    }
    for (std::size_t i = 0; i < e.size(); ++i) {
      p.push_back(e[i] / total);
      long double rest = 0;
      for (std::size_t j = 0; j < e.size(); ++j) rest += j == i ? 0 : e[j];
      others.push_back(rest / total);
      entropy += p[i] * (static_cast<long double>(logits[top]) - logits[i]);
    }
    entropy += std::log1p(others[top] / p[top]);
  }

  long double slope() const { return p[top] * others[top]; }

  long double sum_p2() const {
    long double sum = 0;
    for (const long double weight : p) sum += weight * weight;
    return sum;
  }

  /// 1 - sum_p2, without cancellation: sum p_i (1 - p_i).
  long double sum_of_slopes() const {
    long double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * others[i];
    return sum;
  }

  /// Frobenius norm of diag(p) - p p^T, entry by entry.
  long double jacobian_norm() const {
    long double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      for (std::size_t j = 0; j < p.size(); ++j) {
        const long double entry = i == j ? p[i] * others[i] : p[i] * p[j];
        sum += entry * entry;
      }
    }
    return std::sqrt(sum);
  }

  /// Relative error of a sum over the keys: one rounding for each term, the exponential's own
  /// error of one unit in the last place, and a rounded difference to the top logit, which the
  /// exponential multiplies by its size. Fourth powers and quotients: eight times that.
  double tolerance() const {
    return 8 * 0x1p-53 * (static_cast<double>(p.size() + 4) + static_cast<double>(deepest));
  }
};

/// `queries` rows of `keys` logits, uniform within +-reach; a function of its arguments alone.
inline std::vector<std::vector<double>> random_rows(std::size_t queries, std::size_t keys,
                                                    double reach) {
  std::mt19937_64 words(keys * 1000 + queries);
  std::vector<std::vector<double>> rows(queries, std::vector<double>(keys));
  for (auto& row : rows) {
    for (double& logit : row) logit = reach * (static_cast<double>(words() >> 11) * 0x1p-52 - 1);
  }
  return rows;
}

/// The kernel's sums of rows of equal length, fed `tile` keys at a time; lanes past the last query
/// hold 1e3, so that one that leaked into a query would show.
inline SoftmaxSums kernel_group(const std::vector<std::vector<double>>& rows, std::size_t tile,
                                SoftmaxLevel level = SoftmaxLevel::kPowers,
                                double sink_logit = -std::numeric_limits<double>::infinity()) {
  const std::size_t keys = rows.front().size();
  const auto stride = static_cast<std::size_t>(padded(std::ssize(rows)));
  SoftmaxSums sums;
  sums.start(std::ssize(rows), level);
  for (std::size_t first = 0; first < keys; first += tile) {
    const std::size_t count = std::min(tile, keys - first);
    std::vector<double> logits(count * stride, 1e3);
    for (std::size_t key = 0; key < count; ++key) {
      for (std::size_t query = 0; query < rows.size(); ++query) {
        logits[key * stride + query] = rows[query][first + key];
      }
    }
    sums.add_keys(logits, static_cast<std::int64_t>(count));
  }
  sums.finish(sink_logit);
  return sums;
}

/// The same, query by query.
inline std::vector<SoftmaxQuery> kernel_sums(const std::vector<std::vector<double>>& rows,
                                             std::size_t tile) {
  const SoftmaxSums sums = kernel_group(rows, tile);
  std::vector<SoftmaxQuery> finished;
  for (std::int64_t query = 0; query < std::ssize(rows); ++query) {
    finished.push_back(sums.query(query));
  }
  return finished;
}

}  // namespace attnscale
