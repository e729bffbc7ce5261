// What others must know of a formula before they evaluate it.
#pragma once

#include <string>
#include <vector>

#include "formula/constants.h"
#include "formula/formula.h"

namespace attnscale {

/// True where the value depends on the head size, by name or through a norm.
bool needs_d(const Formula& formula);

/// Between which numbers something lies, ends included.
struct Range {
  double low;
  double high;
};

/// Between which logits lie whatever the score and j are, from the ranges of their parts; or, of a
/// derivative, slopes. NaN where a part may have no value, such as ln(q.k).
Range range_of(const Formula& formula, const FormulaSize& size);

/// How the logit goes with the score, as far as ranges of parts show: 1 it never falls, -1 it never
/// rises, 0 either or unknown.
int direction_of(const Formula& formula, const FormulaSize& size);

/// True where every derivative is continuous, as far as ranges of parts show.
bool is_smooth(const Formula& formula, const FormulaSize& size);

/// The parts of the formula whose values a narrow precision rounds, in the order of evaluation: the
/// product first, with what scales its queries and keys before.
std::vector<std::string> rounded_parts(const Formula& formula);

}  // namespace attnscale
