// Sums over the weights of one query that lose no digits where one weight is nearly 1, nor to
// squares that are too small for a double. Rounded weights are summed as they are, in float64.
// Knows nothing of metrics.
#pragma once

#include "numerics/query_weights.h"

namespace attnscale {

/// sum p.
double sum_weights(const QueryWeights& query);

/// 1 - sum p: what a sink keeps back, and what rounding lost or added; of a sigmoid it may be below
/// 0.
double sum_kept_back(const QueryWeights& query);

/// -sum p ln p in nats, over the weights as they are: those of a sigmoid, or beside a sink, need
/// not add up to 1.
double sum_entropy(const QueryWeights& query);

/// sum p^2.
double sum_squares(const QueryWeights& query);

/// 1 - sum p^2; of a sigmoid it may be below 0.
double sum_without_squares(const QueryWeights& query);

/// sqrt(sum p^2).
double root_of_squares(const QueryWeights& query);

/// (sum p)^2 / sum p^2; 0 where every weight is 0.
double count_effective_keys(const QueryWeights& query);

}  // namespace attnscale
