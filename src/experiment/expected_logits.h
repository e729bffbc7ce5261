// Where to expect the logits of a cell before any is drawn: the centre of their powers, and the
// range of their histograms. No estimate is compared with these numbers.
#pragma once

#include "draw/score_tile.h"
#include "experiment/scaling.h"
#include "numerics/power_sums.h"

namespace attnscale {

/// The centre of the powers of a logit: roughly the logit of the expected score, so that powers of
/// the difference never cancel.
double logit_centre(const ScalingRule& rule, const Draw& draw);

/// What powers of a cell's logits are taken of: the same for any number of keys if the mean is, so
/// that such cells may be pooled.
PowerScale power_scale(const ScalingRule& rule, const Draw& draw);

/// Roughly the standard deviation of the logits; after a norm that of independent directions, under
/// a soft-cap at most the cap. Infinity if the score has none.
double expected_logit_sd(const ScalingRule& rule, const Draw& draw);

/// The most that a logit can be in magnitude: the soft-cap, or after a norm the logit of parallel
/// vectors; infinity without either.
double largest_logit(const ScalingRule& rule, const Draw& draw);

}  // namespace attnscale
