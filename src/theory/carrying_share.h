// How many queries carry an exact mean: from theory, not from a sample, which may have seen none of
// the rare queries that make it. Knows nothing of plans or rows of results.
#pragma once

#include "theory/exact_means.h"
#include "theory/weighing.h"

namespace attnscale {

/// m^2 / E[x^2] with m the mean of a metric x, about 1 if its values hardly differ and about the
/// share of the queries that have a number if the others have about none; or the same of the
/// distance to the other end of x's range, if that is less. Top weight and sink have exact second
/// moments and slopes a bound within 1.5 times of them; other metrics go with the weight that they
/// follow. At most 1. `exact` holds all means of the request.
double carrying_share(ExactMean mean, const ExactMeans& exact, const ExactRequest& request);

}  // namespace attnscale
