// What one top logit adds to the means of softmax: integrals over Laplace's t of products over the
// independent other keys. Knows neither what law logits have nor how top logits are weighted.
//
// With q = t e^g for a key of logit g, all other keys' share of a metric is made of four sums over
// the law of one other key given that it lies below the top: 1 - e^-q, q e^-q, q^2 e^-q and
// g q e^-q. softmax_integrals.h says how means follow.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "theory/exact_means.h"

namespace attnscale {

/// No sink: its weight is e^-infinity.
inline constexpr double kNoSink = -std::numeric_limits<double>::infinity();

/// Rows of numbers, one for each of kFunctions functions of t, each `stride` apart.
struct OtherSums {
  static constexpr std::size_t kFunctions = 4;
  const double* first;
  std::size_t stride;
};

/// Writes the four functions of one other key's logit at each log t, rows `stride` apart.
void fill_other_key(std::span<const double> log_t, double logit, double* rows, std::size_t stride);

/// Adds rows of numbers, `stride` apart, times their weights to the sums, in order.
void add_weighted(const double* rows, std::size_t stride, std::span<const double> weights,
                  std::span<double> sums);

/// One node of the integral over top keys.
struct TopKey {
  double weight;      ///< quadrature weight times density
  double logit;       ///< on the scale of the other keys' logits
  double derivative;  ///< dlogit / dscore
};

/// Integrates over log t and adds top keys' parts to means.
class TopKeyTerms {
 public:
  /// For keys >= 2 in all, and the sink's logit.
  TopKeyTerms(double keys, double sink) : others_(keys - 1), sink_(sink) {}

  /// `sums` are those over one other key given that it lies below the top key, times `below`.
  /// `step` holds the quadrature weights in log t.
  void add(const TopKey& key, std::span<const double> log_t, std::span<const double> step,
           OtherSums sums, double below, ExactMeans& means) const;

 private:
  double others_;
  double sink_;
};

}  // namespace attnscale
