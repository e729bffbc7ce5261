// Where the logits of a cell are to be expected, before any is drawn: what powers are taken about
// and histograms are laid out over. No estimate is compared with it.
#pragma once

#include "draw/score_tile.h"
#include "experiment/scaling.h"

namespace attnscale {

/// What the logits of a cell and scaling are measured from: about the logit of the expected score,
/// so that powers of the difference never cancel.
double logit_centre(const ScalingRule& rule, const Draw& draw);

/// About the standard deviation of the logits; after a norm that of independent directions, under a
/// soft-cap at most the cap. Infinity where the score's does not exist.
double expected_logit_sd(const ScalingRule& rule, const Draw& draw);

/// What no logit exceeds in magnitude: the soft-cap, or where all vectors of a norm point one way;
/// infinity without either.
double largest_logit(const ScalingRule& rule, const Draw& draw);

}  // namespace attnscale
