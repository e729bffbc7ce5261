#include "config/values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "config/nearest_name.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr std::size_t kLongestName = 100;
constexpr std::string_view kMarksOfName = "._-";

bool within(double number, const FieldBounds& range) {
  const bool above = range.ends == Ends::kIncluded ? number >= range.least : number > range.least;
  const bool below = range.ends == Ends::kBothExcluded ? number < range.most : number <= range.most;
  return above && below;
}

// Whether the number is an integer as it is written: 4.0 and 1.5e1 are, 9007199254740991.4 and
// 1e-400 are not although the nearest doubles are.
bool is_written_whole(const JsonValue& value) {
  const std::string_view text = value.text;
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, end);
  const std::size_t last = digits.find_last_of("123456789");
  if (last == std::string_view::npos) return true;
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto place = static_cast<std::int64_t>(last);
  // The last digit that is not 0 counts 10^-decimals, before the exponent.
  const std::int64_t decimals = place > point ? place - point : place - point + 1;
  std::string_view power = text.substr(std::min(end + 1, text.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto parsed = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (parsed.ec == std::errc::result_out_of_range) return !power.starts_with('-');
  return decimals <= exponent;
}

}  // namespace

bool is_whole(const Field& field) {
  return field.type == FieldType::kInteger || field.type == FieldType::kIntegerAxis;
}

std::string number_text(double number) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  const bool whole = std::floor(number) == number && std::abs(number) < kExactIntegers;
  if (!whole) return shortest(number);
  const bool minus_zero = number == 0 && std::signbit(number);
  return minus_zero ? "-0.0" : std::to_string(static_cast<std::int64_t>(number));
}

std::string numbers_text(const std::vector<double>& numbers) {
  return list_text(numbers, number_text);
}

std::string describe_bounds(const Field& field) {
  const FieldBounds& range = field.bounds;
  const std::string least = number_text(range.least);
  const std::string most = number_text(range.most);
  std::string text = is_whole(field) ? "an integer" : "a number";
  if (range.most >= kAnyNumber) {
    if (range.least > -range.most) text += " above " + least;
  } else if (range.ends == Ends::kIncluded) {
    text += fmt::format(" from {} to {}", least, most);
  } else {
    const bool open = range.ends == Ends::kBothExcluded;
    text += fmt::format(" above {} and {} {}", least, open ? "below" : "at most", most);
  }
  return text + (range.hint.empty() ? "" : fmt::format(" ({})", range.hint));
}

double read_number(const JsonValue& value, const Field& field) {
  const bool fits = value.kind == JsonKind::kNumber && within(value.number, field.bounds) &&
                    (!is_whole(field) || is_written_whole(value));
  if (!fits) refuse_found(value, describe_bounds(field));
  return value.number;
}

void expect_integer(const JsonValue& value) {
  if (!is_written_whole(value)) refuse_found(value, "an integer");
}

std::string read_text(const JsonValue& value) {
  if (value.kind != JsonKind::kString) refuse_found(value, "a text in double quotes");
  return value.text;
}

bool read_boolean(const JsonValue& value) {
  if (value.kind != JsonKind::kBoolean) refuse_found(value, "true or false");
  return value.boolean;
}

bool is_name(std::string_view text) {
  const auto is_letter_or_digit = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  return !text.empty() && text.size() <= kLongestName && is_letter_or_digit(text[0]) &&
         std::ranges::all_of(text, [&](char c) {
           return is_letter_or_digit(c) || kMarksOfName.find(c) != std::string_view::npos;
         });
}

std::string read_name(const JsonValue& value) {
  if (value.kind != JsonKind::kString || !is_name(value.text)) {
    refuse_found(value, fmt::format("a name of at most {} letters a-z, A-Z, digits, dots, "
                                    "underscores and dashes that begins with a letter or digit, "
                                    "such as \"run_1\"",
                                    kLongestName));
  }
  return value.text;
}

std::string name_pattern() {
  return fmt::format("^[{0}][{0}{1}]{{0,{2}}}$", "A-Za-z0-9", kMarksOfName, kLongestName - 1);
}

std::size_t read_choice_place(const JsonValue& value, const Field& field) {
  const std::vector<std::string_view> choices = field.choices.names();
  if (value.kind != JsonKind::kString) {
    refuse_found(value, fmt::format("one of {}{}", join(choices), field.choices.also));
  }
  const auto found = std::ranges::find(choices, value.text);
  if (found == choices.end()) {
    refuse(value, unknown_name(field.choices.noun, value.text, choices).append(field.choices.also));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

std::string_view read_choice(const JsonValue& value, const Field& field) {
  return field.choices.names()[read_choice_place(value, field)];
}

void expect_list(const JsonValue& value, std::string_view of_what) {
  if (value.kind != JsonKind::kArray || value.items.empty()) {
    refuse_found(value, fmt::format("a list of {}", of_what));
  }
}

}  // namespace attnscale
