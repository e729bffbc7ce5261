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
#include <functional>
#include <limits>
#include <vector>

#include "numerics/quadrature.h"

namespace attnscale {

/// A logit and its derivative with respect to the standard normal score it came from.
struct LogitPoint {
  double logit;
  double derivative;
};

/// A logit as a smooth, nondecreasing function of a standard normal score.
using LogitCurve = std::function<LogitPoint(double score)>;

/// Expectations over the scores of one query. With a sink, weights are e^logit / (sum of e^logit
/// over keys + e^sink); the sink is no key: it is never the top and not in sum_p2 or entropy.
struct SoftmaxMeans {
  double top_weight;    ///< E[p] of the top key
  double slope;         ///< E[p (1 - p)] of the top key
  double score_slope;   ///< E[p (1 - p) dlogit/dscore] of the top key
  double sum_p2;        ///< E[sum p^2] over keys
  double entropy;       ///< E[-sum p ln p] over keys, nats
  double margin;        ///< E[top logit - next logit]
  double mean_logit;    ///< E[sum p logit] over keys
  double total_weight;  ///< E[sum p] over keys: 1 without a sink, which checks the quadrature
  double sink_weight;   ///< E[p_sink]: 1 - total_weight
  double sink_entropy;  ///< E[-p_sink ln p_sink], nats
};

/// No sink: its weight is e^-infinity.
inline constexpr double kNoSink = -std::numeric_limits<double>::infinity();

/// The means for a fixed number of keys. What depends on the keys alone is prepared once. Holds no
/// mutable state. Absolute error (relative to the spread for margin and mean_logit) below 5e-8 for
/// linear() and 1e-7 for curve().
class SoftmaxIntegrals {
 public:
  /// keys is in [2, 2^31].
  explicit SoftmaxIntegrals(std::int64_t keys);

  /// Logits spread * score, spread >= 0, no sink. Cheap, because how far keys lie apart does not
  /// depend on where the top one is.
  SoftmaxMeans linear(double spread) const;

  /// Logits of any curve, a soft-cap for one.
  SoftmaxMeans curve(const LogitCurve& logit, double sink = kNoSink) const;

  /// Multiplications that linear() needs, about 1e9 of which take a second; curve() needs about
  /// kCurveWork times as many.
  double linear_work() const;
  static constexpr double kCurveWork = 80;

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
  QuadratureRule laplace_;  // for t, weights without e^-t
  QuadratureRule shallow_;  // for the distance to another key
  QuadratureRule deep_;
};

}  // namespace attnscale
