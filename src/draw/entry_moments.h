// Exact moments of one entry of a query or key. Knows nothing of scores.
#pragma once

#include <vector>

#include "draw/law.h"

namespace attnscale {

/// Mean, spread and higher moments of an entry.
struct EntryMoments {
  double mean;
  double sd;                         ///< 0 if the clip leaves one number
  std::vector<double> standardised;  ///< [i] is E[((x - mean) / sd)^i]; infinity if there is none
};

/// Moments up to the order `most`. Of a clipped entry, by Gauss-Legendre panels that double in
/// width, from P(|x| > t) of its law: with g the power of the clipped entry,
/// E[g(x)] = g(0) + the integral over t > 0 of (g'(t) - g'(-t)) P(|x| > t) / 2, as laws are
/// symmetric. Relative error of the first four below 1e-11, but for student_t as far as
/// student_tails allows.
EntryMoments entry_moments(const Law& law, int most);

}  // namespace attnscale
