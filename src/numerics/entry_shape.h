// How the vector kernels draw an entry of a query or key. Knows nothing of the table of laws.
#pragma once

#include <array>

namespace attnscale {

/// How an entry is made of random words; u is uniform on (0, 1), z standard normal, and a sign is
/// fair. None rejects anything.
enum class EntryKind {
  kNormal,       ///< z
  kUniform,      ///< u - 1/2
  kExponential,  ///< a sign times -2 ln u
  kLogistic,     ///< 2 ln(u / (1 - u))
  /// sqrt(u^(-2/nu) - 1) sin(pi (v - 1/2)) = T / sqrt(nu), T of Student's law: Bailey, "Polar
  /// generation of random variates with the t-distribution", Math. Comp. 62 (1994), without its
  /// rejection. Numbers: 1 / nu.
  kStudentT,
  /// z given |z| <= at, by the inverse of the distribution function. Numbers: at, the probabilities
  /// of |z| <= at and of |z| > at.
  kTruncatedNormal,
  kMixedNormal,  ///< a z with probability p, else b z. Numbers: p, a, b
  kSigned,       ///< a sign with probability p, else 0. Numbers: p
};

/// An entry is mean + sd x, x of that kind.
struct EntryShape {
  double mean = 0;
  double sd = 1;
  EntryKind kind = EntryKind::kNormal;
  std::array<double, 3> numbers{};
};

}  // namespace attnscale
