// Where a function crosses a level, by false position with the Illinois correction: the end of the
// bracket that stays loses half its value.
#pragma once

namespace attnscale {

/// Two places between which a function changes its sign, and its values there.
struct Bracket {
  double low, at_low, high, at_high;
  int stayed = 0;  ///< 1 if the last step left `high` where it was, -1 if `low`

  /// Where a straight line through both ends is 0.
  double crossing() const { return (low * at_high - high * at_low) / (at_high - at_low); }

  /// Puts the end that is on the same side as `place` there.
  void narrow(double place, double value, bool is_low) {
    (is_low ? low : high) = place;
    (is_low ? at_low : at_high) = value;
    const int stays = is_low ? 1 : -1;
    if (stayed == stays) (is_low ? at_high : at_low) *= 0.5;
    stayed = stays;
  }
};

}  // namespace attnscale
