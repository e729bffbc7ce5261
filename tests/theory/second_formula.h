// The exact means once more, by other formulas: what src/theory prints is held against them. No top
// key is set apart, but where a mean asks for it; sums are of equal steps, averages over norms of
// Gauss's rule, on grids fixed in advance and far finer than any error of interest.
//
// With Z = sum of e^logit over keys and sink, 1/Z^m and log Z are integrals over t of e^-tZ (see
// src/theory/softmax_integrals.h), and E e^-tZ is the n-th power of one key's, times the sink's.
// The top key's weight has the density n f(x) C(x, t)^(n-1), C = E[e^-te^logit; key below x].
#pragma once

#include "theory/exact_means.h"
#include "theory/logit_law.h"
#include "theory/weighing.h"

namespace attnscale {

/// Means of one query with keys of this law; kMeanLogit is not computed.
ExactMeans second_formula(const LogitLaw& law, const WeighingCase& weighing);

/// The same averaged over queries.
ExactMeans second_formula(const ExactRequest& request);

}  // namespace attnscale
