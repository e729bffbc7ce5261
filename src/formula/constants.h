// What of a formula is a number once d, keys and i are, and what is that times the score.
#pragma once

#include <optional>
#include <vector>

#include "formula/formula.h"

namespace attnscale {

/// What a formula may depend on beside scores and the place j of the key.
struct FormulaSize {
  double d = 1;
  double keys = 1;  ///< that the query sees
  double i = 0;     ///< the place of the query, from 0

  friend bool operator==(const FormulaSize&, const FormulaSize&) = default;
};

/// A number as multiplier d^power, so that 1/sqrt(d) comes out the same however it is spelt.
struct PowerOfD {
  double multiplier = 1;
  double power = 0;
  bool for_all_d = true;  ///< false: of the one d that it was computed at, with power 0

  /// At head size d >= 1. The power -1 is correctly rounded; -1/2 is the quotient of 1 and the
  /// rounded root, as it is usually computed.
  double at(double d) const;

  friend bool operator==(const PowerOfD&, const PowerOfD&) = default;
};

/// For each node of a formula its value, if neither score nor j is below it.
using FormulaConstants = std::vector<std::optional<PowerOfD>>;
FormulaConstants constants_of(const Formula& formula, const FormulaSize& size);

/// The value of a formula that is a number without j, else NaN.
double value_of(const Formula& formula, const FormulaSize& size);

/// A part that is slope * score, and where it has an offset plus what does not depend on the score;
/// with slope 0 all of it is that. Of a vector the slope is the factor before it.
struct LinearPart {
  PowerOfD slope;
  bool has_offset = false;
};

/// For each node of a formula what it is if it is linear in the score. A quotient's slope is that
/// of the numerator times the rounded reciprocal of the denominator.
using LinearParts = std::vector<std::optional<LinearPart>>;
LinearParts linear_parts(const Formula& formula, const FormulaConstants& constants, double d);

/// logit = cap tanh(slope score / cap), or slope score without a cap.
struct CappedLogit {
  PowerOfD slope;
  std::optional<PowerOfD> cap = {};
};

/// The formula if it is such a logit.
std::optional<CappedLogit> capped_logit(const Formula& formula, const FormulaSize& size);

}  // namespace attnscale
