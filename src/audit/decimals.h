// Numbers that were written with few decimals, as a printed table or a CSV file has them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace attnscale {

/// How the numbers are written; neither if they are not written with few digits.
struct DecimalWriting {
  std::optional<int> places = {};       ///< behind the point
  std::optional<int> significant = {};  ///< in all

  explicit operator bool() const { return places || significant; }
  /// Of the last place; 0 if they are significant digits.
  double step() const;
  /// Root of the mean square of what was cut off from a number above 0 that is written so.
  double error(double number) const;
  std::string words() const;
};

/// Of numbers above 0 that are held by so many bits: the fewest digits that hold all of them and
/// are no accident, with `least_places` behind the point at least.
DecimalWriting decimal_writing(std::vector<double> numbers, int bits, int least_places);

}  // namespace attnscale
