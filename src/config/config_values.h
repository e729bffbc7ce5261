// From one JSON value to one checked number, name or list. Knows bounds and choices, not what they
// are for. Every function throws UserError at the value that is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_draft.h"
#include "config/config_fields.h"
#include "config/json_document.h"

namespace attnscale {

/// 4.0 and 1e6 are integers too.
enum class NumberKind { kReal, kInteger };

/// What a number must obey.
struct NumberBounds {
  FieldBounds range;
  NumberKind kind = NumberKind::kReal;
  std::string reason;  ///< where the bounds come from, said behind them
};

NumberBounds bounds_of(const ConfigField& field);

/// "an integer from 1 to 8 (the limit of ...)", as messages say it.
std::string describe_bounds(const NumberBounds& bounds);

/// The shortest text that reads back as the same double; integers below 2^53 without an exponent.
std::string number_text(double number);

double read_number(const JsonValue& value, const NumberBounds& bounds);

/// A number, a list or a range of them; no value twice, at most 10,000.
NumberAxis read_axis(const JsonValue& value, const NumberBounds& bounds);

/// The values of a whole-number axis.
std::vector<std::int64_t> whole_values(const NumberAxis& axis);

std::string read_text(const JsonValue& value);

/// true or false.
bool read_boolean(const JsonValue& value);

/// A text of letters, digits, dot, underscore and dash that begins with a letter or digit.
std::string read_name(const JsonValue& value);

/// A text among the field's choices.
std::string_view read_choice(const JsonValue& value, const ConfigField& field);

/// The value must be a list with at least one item.
void expect_list(const JsonValue& value, const std::string& of_what);

/// A list of lists of finite numbers, none empty.
std::vector<std::vector<double>> read_rows(const JsonValue& value);

/// "a, b, c".
std::string join(const std::vector<std::string_view>& names);

}  // namespace attnscale
