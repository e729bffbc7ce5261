// How all weights of a query answer all its logits: numbers of the matrix d weight_i / d logit_j
// over its keys, which is diag(p) - p p^T for a softmax, with or without a sink, and the diagonal
// p (1 - p) for a sigmoid. Knows nothing of metrics.
#pragma once

#include "numerics/query_weights.h"

namespace attnscale {

/// The matrix's Frobenius norm, without cancellation or underflow of squares.
double jacobian_norm(const QueryWeights& query);

/// Its largest eigenvalue: how far the weights move, at most, for one step of the logits.
///
/// For a softmax with p1 >= p2 >= ... the largest root l of 1 = sum p_i^2 / (p_i - l), which lies
/// between p2 and p1 (Golub, Some modified matrix eigenvalue problems, 1973), written so that
/// nothing cancels where p1 is nearly 1: with s = p1 (1 - p1),
///     (l - s) / (p1 - l) = sum over i >= 2 of p_i^2 / (l - p_i).
double jacobian_spectral(const QueryWeights& query);

}  // namespace attnscale
