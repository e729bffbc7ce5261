// Exact means of weights over one query's keys whose logits are independent and of any law of
// theory/logit_law, by quadrature, without a draw: softmax, softmax with a sink, sigmoid, and the
// moments of logits. Knows nothing of norms of queries, of scalings or of config.
//
// The integrals are those of softmax_integrals.h, on one grid of panels over the law's coordinate:
// what an other key adds to the four sums is computed once for every log t in a window that moves
// with the logit, and summed up from the lowest logit to each possible top one by integrating the
// polynomial through a panel's nodes. Equal steps in log t converge faster than any power.
#pragma once

#include <cstdint>

#include "theory/exact_means.h"
#include "theory/logit_law.h"
#include "theory/top_key_terms.h"

namespace attnscale {

/// Softmax over `keys` in [2, 2^31], with a sink if one is given. The error is below 2e-8, relative
/// above 1 (of kMeanLogit: relative to the logits' spread).
ExactMeans softmax_means(const LogitLaw& law, std::int64_t keys, double sink = kNoSink);

/// Weights sigma(logit + bias), each key's by itself: the top key's weight and slope, and sums over
/// keys of p^2, -p ln p, p logit and p. Nothing is a sink's. The error is below
/// 2e-8, relative above 1. The margin of one key is 0.
ExactMeans sigmoid_means(const LogitLaw& law, std::int64_t keys, double bias);

/// E[logit^2] and E[logit^4] of a law symmetric about 0.
struct EvenMoments {
  double second;
  double fourth;
};
EvenMoments even_moments(const LogitLaw& law);

/// Multiplications of softmax_means, about 1e9 of which take a second, for logits in a range this
/// wide.
double softmax_means_work(double logit_range, std::int64_t keys);

/// The same for sigmoid_means and even_moments.
double one_key_work(double logit_range);

}  // namespace attnscale
