// How the vector kernels draw an entry of a query or key. Knows nothing of the table of laws.
#pragma once

#include <array>
#include <limits>

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

/// Rough time of an entry of that kind over a normal one's: the medians of AVX2 among the entries/
/// of attnscale_benchmarks, at d = 1024, all in one sitting.
constexpr double times_normal(EntryKind kind) {
  switch (kind) {
    case EntryKind::kNormal:
    case EntryKind::kExponential:
      break;
    case EntryKind::kUniform:
    case EntryKind::kSigned:
      return 0.44;
    case EntryKind::kLogistic:
      return 1.16;
    case EntryKind::kMixedNormal:
      return 1.5;
    case EntryKind::kTruncatedNormal:
      return 2;
    case EntryKind::kStudentT:
      return 2.6;
  }
  return 1;
}

/// An entry is mean + sd x, x of that kind, or the nearest number in [-clip, clip].
struct EntryShape {
  double mean = 0;
  double sd = 1;
  EntryKind kind = EntryKind::kNormal;
  std::array<double, 3> numbers{};
  double clip = std::numeric_limits<double>::infinity();
};

}  // namespace attnscale
