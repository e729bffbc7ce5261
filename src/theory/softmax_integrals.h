// Exact means of softmax over one query's keys whose scores are independent and standard normal:
// what a query with |q| = 1 shows on average, by quadrature, without a draw. Knows nothing of d, of
// scalings or of config.
//
// Given the top score x, the other n - 1 are independent normals cut off at x. With D >= 0 how far
// an other logit lies below the top one, R = sum e^-D over the others and p = 1 / (1 + R) the top
// weight, every metric is a rational function of such sums, and Laplace's integrals
//
//   1 / (1 + R)   = integral of e^-t e^-tR dt,   1 / (1 + R)^2 = integral of t e^-t e^-tR dt,
//   log(1 + R)    = integral of e^-t (1 - e^-tR) / t dt
//
// turn its mean into one of products over independent keys: E[e^-tR] = M^(n-1) and
// E[sum f(D) e^-D e^-tR] = (n-1) M^(n-2) E[f(D) e^-D e^(-t e^-D)] with M = E[e^(-t e^-D)]. Three
// nested integrals remain: over x, t and one other key. Each integrand is smooth and of one sign,
// and nothing ends at a kink, as the partial integral below x would on a fixed grid.
#pragma once

#include <cstdint>
#include <vector>

#include "numerics/quadrature.h"
#include "theory/exact_means.h"

namespace attnscale {

/// The means for a fixed number of keys, of logits spread * score. What depends on the keys alone
/// is prepared once. Holds no mutable state. The error is below 2e-8, relative above 1 (of
/// kMeanLogit: relative to the spread).
class SoftmaxIntegrals {
 public:
  /// keys is in [2, 2^31].
  explicit SoftmaxIntegrals(std::int64_t keys);

  /// Logits spread * score, spread >= 0, no sink. Cheap, because how far keys lie apart does not
  /// depend on where the top one is.
  ExactMeans linear(double spread) const;

  /// Multiplications that linear() needs, about 1e9 of which take a second.
  static double linear_work(std::int64_t keys);

 private:
  struct TopScore {
    double score;
    double weight;  // quadrature weight times the density of the top score
    double below;   // P(another score is lower)
  };

  double keys_;
  double lowest_;  // the top score lies in [lowest_, highest_] but for 1e-13
  double highest_;
  // E[largest - second largest] of standard normal scores: n times the integral of
  // Phi^(n-1) (1 - Phi).
  double normal_margin_ = 0;
  std::vector<TopScore> tops_;
  std::vector<double> log_t_;   // nodes for Laplace's t
  std::vector<double> t_step_;  // their weights in log t
  QuadratureRule shallow_;      // for the distance to another key
  QuadratureRule deep_;
};

}  // namespace attnscale
