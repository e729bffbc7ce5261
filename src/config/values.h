// From one JSON value to one checked number, name or text. Knows bounds and choices, not what they
// are for. Every function throws UserError at the value that is wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"
#include "config/json_document.h"

namespace attnscale {

/// 4.0 and 1e6 are integers too.
enum class NumberKind { kReal, kInteger };

/// What a number must obey.
struct NumberBounds {
  FieldBounds range;
  NumberKind kind = NumberKind::kReal;
  std::string reason = {};  ///< where the bounds come from, written after them
};

NumberBounds bounds_of(const Field& field);

/// "an integer from 1 to 8 (the limit of ...)", as messages put it.
std::string describe_bounds(const NumberBounds& bounds);

/// The shortest text that reads back as the same double; integers below 2^53 without an exponent.
std::string number_text(double number);

/// A list of numbers as JSON text.
std::string numbers_text(const std::vector<double>& numbers);

double read_number(const JsonValue& value, const NumberBounds& bounds);

/// Refuses a number with a fraction as it is written, even if the nearest double has none.
void expect_integer(const JsonValue& value);

std::string read_text(const JsonValue& value);

/// true or false.
bool read_boolean(const JsonValue& value);

/// A text of letters, digits, dot, underscore and dash that begins with a letter or digit.
std::string read_name(const JsonValue& value);

/// The regular expression of such names.
std::string name_pattern();

/// A text among the field's choices, and its place among them.
std::string_view read_choice(const JsonValue& value, const Field& field);
std::size_t read_choice_place(const JsonValue& value, const Field& field);

/// The value must be a list with at least one item.
void expect_list(const JsonValue& value, std::string_view of_what);

}  // namespace attnscale
