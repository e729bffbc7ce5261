// Exact means that pairs of a query's keys decide, by quadrature, without a draw: how many equal
// weights would spread as far, and how far the largest weight is above the next. Keys are
// independent and of any law of theory/logit_law. Knows nothing of norms of queries or of config.
//
// With a the weight of a key before the division, (sum a)^2 / sum a^2 is the integral over u of
// (sum a)^2 e^(-u sum a^2), of which 1 is the part of each key with itself:
//
//   E[(sum p)^2 / sum p^2] = 1 + n (n-1) integral of E[a e^(-u a^2)]^2 E[e^(-u a^2)]^(n-2) du.
//
// Neither a common factor nor a sink changes it. The next weight of a softmax is, with y its logit,
// S what a sink adds and t Laplace's of softmax_integrals.h, the integral over y and t of
//
//   n (n-1) f(y) e^y e^(-t (e^y + S)) C^(n-2) A: C = E[e^(-t e^x); x < y], A = E[...; x > y].
//
// The norm of the Jacobian is a root of such sums, leaves no integral of few dimensions, and has no
// exact mean.
#pragma once

#include "theory/exact_means.h"
#include "theory/logit_law.h"
#include "theory/weighing.h"

namespace attnscale {

/// kEffectiveKeys and kWeightMargin; all others are 0. The error is below 2e-8, relative above 1.
ExactMeans pair_means(const LogitLaw& law, const WeighingCase& weighing);

/// Multiplications of pair_means, about 1e9 of which take a second, for logits in a range this
/// wide.
double pair_means_work(double logit_range, const WeighingCase& weighing);

}  // namespace attnscale
