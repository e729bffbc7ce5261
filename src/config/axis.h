// A number of the config that may also be several: a list, or a range with its own keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/values.h"

namespace attnscale {

/// One number of the config, or several where it is a list or range.
struct NumberAxis {
  std::vector<double> values;
  bool swept = false;  ///< written as a list or range
};

/// A number, a list or a range of them; no value twice, at most 10,000. Throws UserError at the
/// value that is wrong.
NumberAxis read_axis(const JsonValue& value, const NumberBounds& bounds);

void read_into(const JsonValue& value, const Field& field, NumberAxis& member);

/// The values of a whole-number axis.
std::vector<std::int64_t> whole_values(const NumberAxis& axis);

/// The keywords of JSON Schema for a range.
std::string range_schema();

}  // namespace attnscale
