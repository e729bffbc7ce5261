// How far one query's weights, rounded step by step, are from those of float64. Knows nothing of
// metrics.
#pragma once

#include "numerics/query_weights.h"

namespace attnscale {

/// Half the sum of |p - p64|.
double weight_error(const QueryWeights& rounded, const QueryWeights& exact);

/// The largest |p - p64|.
double largest_weight_error(const QueryWeights& rounded, const QueryWeights& exact);

/// |entropy - entropy in float64|.
double entropy_error(const QueryWeights& rounded, const QueryWeights& exact);

/// The root of the mean square of logit - logit in float64 over the keys.
double logit_error(const QueryWeights& rounded, const QueryWeights& exact);

/// Of an output over values of unit variance: the root of its error's mean square over its
/// spread. The weights' errors give a variance of sum (p - p64)^2, and where the output is rounded
/// there is that of rounding a normal number of variance sum p^2, independent of them.
double output_error(const QueryWeights& rounded, const QueryWeights& exact);

}  // namespace attnscale
