// Where to expect the logits of a cell before any is drawn: the centre of their powers, and the
// range of their histograms. No estimate is compared with these numbers.
#pragma once

#include "draw/score_tile.h"
#include "experiment/scaling.h"
#include "numerics/power_sums.h"

namespace attnscale {

/// What a formula may depend on in a cell, whose queries stand at the place of the last key.
FormulaSize size_of(const Draw& draw);

/// The centre of the powers of a logit: roughly the logit of the expected score, so that powers of
/// the difference never cancel.
double logit_centre(const FormulaProgram& program, const Draw& draw);

/// What powers of a cell's logits are taken of: the same for any number of keys if the mean is, so
/// that such cells may be pooled.
PowerScale power_scale(const Formula& logit, const Draw& draw);

/// Roughly the standard deviation of the logits; after a norm that of independent directions, under
/// a soft-cap at most the cap. Infinity if the score has none.
double expected_logit_sd(const Formula& logit, const Draw& draw);

/// Two logits, the lower first.
struct LogitRange {
  double low;
  double high;
};

/// Five standard deviations to either side of the centre, but no more than a norm or a soft-cap
/// allows; of other formulas what they make of such scores to the first and the last key. After a
/// norm scores are those of independent directions.
LogitRange expected_logits(const Formula& logit, const Draw& draw);

}  // namespace attnscale
