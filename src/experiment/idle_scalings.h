// Scalings that leave nothing of the scores.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace attnscale {

/// A sentence for each scaling whose factor is 0 at the largest size of its experiment: no logit
/// depends on its score.
std::vector<std::string> idle_scalings(const Config& config);

}  // namespace attnscale
