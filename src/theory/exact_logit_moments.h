// Exact moments of all logits of a cell, of normal scores and of cosines, bent by a soft-cap or
// not. Knows nothing of config, plan or rows of results.
#pragma once

#include <optional>

#include "theory/weighing.h"

namespace attnscale {

/// Standard deviation and kurtosis of all logits, whose mean is 0.
struct LogitMoments {
  double sd;
  std::optional<double> kurtosis;  ///< empty if all logits are 0
};

/// Standard deviation and kurtosis of the logits. A sink and a sigmoid change neither.
LogitMoments exact_logit_moments(const ExactRequest& request);

}  // namespace attnscale
