// Laws of one key's logit given the query: normal scores and cosines, bent by a soft-cap. Keys are
// independent and of one law. Knows nothing of weights.
#pragma once

#include <functional>
#include <limits>

namespace attnscale {

/// A logit and its derivative with respect to the score it came from.
struct LogitPoint {
  double logit;
  double derivative;
};

/// A logit as a smooth, nondecreasing function of a coordinate.
using LogitCurve = std::function<LogitPoint(double)>;

/// No soft-cap: logits grow without bound.
inline constexpr double kNoSoftcap = std::numeric_limits<double>::infinity();

/// A key's logit as a function of a coordinate of smooth density proportional to e^log_density on
/// [lowest, highest], and of none that counts outside.
struct LogitLaw {
  double lowest;
  double highest;
  std::function<double(double)> log_density;  ///< up to a constant; 0 at its largest
  LogitCurve logit;
};

/// cap tanh(slope * score / cap), or slope * score without a cap; slope >= 0, cap > 0.
LogitPoint softcapped(double score, double slope, double cap);

/// The coordinate is a standard normal score; any smooth, nondecreasing logit of it.
LogitLaw normal_law(LogitCurve logit);

/// Normal scores of this spread under a soft-cap. Derivatives are by the standard normal score.
LogitLaw normal_law(double spread, double cap);

/// multiplier * cosine under a soft-cap, the cosine that of the angle between a fixed query and a
/// key whose direction is uniform on the sphere in d dimensions, d > 1 and not necessarily whole:
/// its density is proportional to (1 - cosine^2)^((d - 3) / 2). Derivatives are by the cosine. The
/// coordinate is artanh of the cosine, of density proportional to cosh^-(d - 1).
LogitLaw cosine_law(double d, double multiplier, double cap);

}  // namespace attnscale
