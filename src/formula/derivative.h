// How fast a logit rises with its score.
#pragma once

#include "formula/formula.h"

namespace attnscale {

/// d formula / d score, where the score is the product of query and key after their norms, which
/// are held, and before factors inside it: so a vector's derivative is its factor. At the kinks of
/// min, max and abs the mean of both sides; of floor, ceil and sign 0.
Formula derivative(const Formula& formula);

}  // namespace attnscale
