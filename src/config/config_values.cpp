#include "config/config_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "config/config_reader.h"
#include "config/nearest_name.h"

namespace attnscale {
namespace {

constexpr std::size_t kMostAxisValues = 10'000;
constexpr std::size_t kLongestName = 100;

/// Room for rounding when a range decides whether its last value still is within `to`.
constexpr double kRangeSlack = 1e-9;

bool within(double number, const FieldBounds& range) {
  const bool above = range.ends == Ends::kIncluded ? number >= range.least : number > range.least;
  const bool below = range.ends == Ends::kBothExcluded ? number < range.most : number <= range.most;
  return above && below;
}

bool is_whole(double number) {
  return std::floor(number) == number;
}

/// Whether the number is an integer as it is written: 4.0 and 1.5e1 are, 9007199254740991.4 and
/// 1e-400 are not although the nearest doubles are.
bool is_written_whole(const JsonValue& value) {
  const std::string_view text = value.text;
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, end);
  const std::size_t last = digits.find_last_of("123456789");
  if (last == std::string_view::npos) return true;
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto place = static_cast<std::int64_t>(last);
  // The last digit that is not 0 counts 10^-behind, before the exponent.
  const std::int64_t behind = place > point ? place - point : place - point + 1;
  std::string_view power = text.substr(std::min(end + 1, text.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto parsed = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (parsed.ec == std::errc::result_out_of_range) return !power.starts_with('-');
  return behind <= exponent;
}

std::string too_many_values() {
  return "more than " + std::to_string(kMostAxisValues) +
         " values; a list or range may hold at most " + std::to_string(kMostAxisValues);
}

/// The number that was meant by a sum of decimals such as -1 + 6 * 0.1, of which `size` is the
/// largest: -0.4, where binary arithmetic has an error in the last digits. Whole numbers are exact.
double without_rounding(double sum, double size) {
  constexpr int kDigits = 15;
  if (sum == std::floor(sum)) return sum;
  if (std::abs(sum) < 1e-14 * size) return 0;
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), sum,
                                 std::chars_format::scientific, kDigits - 1);
  std::from_chars(text.data(), end.ptr, sum);
  return sum;
}

/// Values of {"from", "to", "step"}: from + i * step, so that no rounding adds up.
std::vector<double> step_values(const JsonValue& value, const RangeDraft& range) {
  const double step = *range.step;
  if (step == 0 || (range.to - range.from) / step < 0) {
    refuse(*value.find("step"), "found " + describe(*value.find("step")) +
                                    "; expected a step that leads from " + number_text(range.from) +
                                    " to " + number_text(range.to));
  }
  const double last = std::floor((range.to - range.from) / step + kRangeSlack);
  if (last >= static_cast<double>(kMostAxisValues)) refuse(value, too_many_values());
  const double size = std::max(std::abs(range.from), std::abs(range.to));
  std::vector<double> values{range.from};
  for (double i = 1; i <= last; ++i) {
    values.push_back(without_rounding(range.from + i * step, size));
  }
  return values;
}

/// Values of {"from", "to", "times"}: each the one before times `times`.
std::vector<double> times_values(const JsonValue& value, const RangeDraft& range) {
  const double times = *range.times;
  if (range.from <= 0 || range.to < range.from) {
    refuse(value, "found a range from " + number_text(range.from) + " to " + number_text(range.to) +
                      "; with \"times\" it must begin above 0 and not end below its beginning");
  }
  std::vector<double> values;
  for (double x = range.from; x <= range.to * (1 + kRangeSlack); x *= times) {
    if (values.size() == kMostAxisValues) refuse(value, too_many_values());
    values.push_back(x);
  }
  return values;
}

std::vector<double> read_range(const JsonValue& value, const NumberBounds& bounds) {
  ConfigDraft draft;
  read_object(value, FieldPlace::kInRange, draft);
  const RangeDraft& range = draft.range;
  if (range.times.has_value() == range.step.has_value()) {
    refuse(value, std::string(range.step ? "a range with both \"times\" and \"step\""
                                         : "a range without \"times\" or \"step\"") +
                      "; expected exactly one of them, such as {\"from\": 4, \"to\": 1024, "
                      "\"times\": 4} or {\"from\": 2, \"to\": 10, \"step\": 2}");
  }
  const bool whole = bounds.kind == NumberKind::kInteger;
  for (const JsonMember& member : value.members) {
    const bool is_bound = member.name == "from" || member.name == "to";
    if (is_bound) read_number(member.value, bounds);
    if (whole && !is_written_whole(member.value)) {
      refuse(member.value, "found " + describe(member.value) + "; expected an integer");
    }
  }
  if (whole && range.to < range.from) {
    refuse(value, "found a range from " + number_text(range.from) + " to " + number_text(range.to) +
                      "; it must not end below its beginning");
  }
  return range.step ? step_values(value, range) : times_values(value, range);
}

}  // namespace

NumberBounds bounds_of(const ConfigField& field) {
  const bool whole = field.type == FieldType::kInteger || field.type == FieldType::kIntegerAxis;
  return {field.bounds, whole ? NumberKind::kInteger : NumberKind::kReal,
          std::string(field.bounds.hint)};
}

std::string number_text(double number) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  if (number == 0 && std::signbit(number)) return "-0.0";
  char digits[32];
  const bool whole = is_whole(number) && std::abs(number) < kExactIntegers;
  const auto [end, error] =
      whole ? std::to_chars(digits, digits + sizeof digits, static_cast<std::int64_t>(number))
            : std::to_chars(digits, digits + sizeof digits, number);
  return {digits, end};
}

std::string describe_bounds(const NumberBounds& bounds) {
  const FieldBounds& range = bounds.range;
  std::string text = bounds.kind == NumberKind::kInteger ? "an integer" : "a number";
  if (range.most >= std::numeric_limits<double>::max()) {
    if (range.least > -range.most) text += " above " + number_text(range.least);
  } else if (range.ends == Ends::kIncluded) {
    text += " from " + number_text(range.least) + " to " + number_text(range.most);
  } else {
    text += " above " + number_text(range.least) +
            (range.ends == Ends::kBothExcluded ? " and below " : " and at most ") +
            number_text(range.most);
  }
  return text + (bounds.reason.empty() ? "" : " (" + bounds.reason + ")");
}

double read_number(const JsonValue& value, const NumberBounds& bounds) {
  const bool fits = value.kind == JsonKind::kNumber && within(value.number, bounds.range) &&
                    (bounds.kind == NumberKind::kReal || is_written_whole(value));
  if (!fits) refuse(value, "found " + describe(value) + "; expected " + describe_bounds(bounds));
  return value.number;
}

NumberAxis read_axis(const JsonValue& value, const NumberBounds& bounds) {
  if (value.kind == JsonKind::kNumber) return {{read_number(value, bounds)}, false};
  if (value.kind == JsonKind::kObject) return {read_range(value, bounds), true};
  if (value.kind != JsonKind::kArray || value.items.empty()) {
    refuse(value,
           "found " + describe(value) + "; expected " + describe_bounds(bounds) +
               ", a list of them, or a range such as {\"from\": 4, \"to\": 1024, \"times\": 4}");
  }
  if (value.items.size() > kMostAxisValues) refuse(value, too_many_values());
  NumberAxis axis{{}, true};
  for (const JsonValue& item : value.items) {
    const double number = read_number(item, bounds);
    if (std::find(axis.values.begin(), axis.values.end(), number) != axis.values.end()) {
      refuse(item, "found " + describe(item) + " a second time; each value may stand once");
    }
    axis.values.push_back(number);
  }
  return axis;
}

std::vector<std::int64_t> whole_values(const NumberAxis& axis) {
  std::vector<std::int64_t> values;
  for (const double number : axis.values) values.push_back(static_cast<std::int64_t>(number));
  return values;
}

bool read_boolean(const JsonValue& value) {
  if (value.kind != JsonKind::kBoolean) {
    refuse(value, "found " + describe(value) + "; expected true or false");
  }
  return value.boolean;
}

std::string read_text(const JsonValue& value) {
  if (value.kind != JsonKind::kString) {
    refuse(value, "found " + describe(value) + "; expected a text in double quotes");
  }
  return value.text;
}

std::string read_name(const JsonValue& value) {
  const auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const std::string& name = value.text;
  const bool good = value.kind == JsonKind::kString && !name.empty() &&
                    name.size() <= kLongestName && is_letter_or_digit(name[0]) &&
                    std::all_of(name.begin(), name.end(), [&](char c) {
                      return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
                    });
  if (!good) {
    refuse(value,
           "found " + describe(value) +
               "; expected a name of at most 100 letters a-z, A-Z, digits, dots, underscores "
               "and dashes that begins with a letter or digit, such as \"run_1\"");
  }
  return name;
}

std::string_view read_choice(const JsonValue& value, const ConfigField& field) {
  const std::vector<std::string_view> choices = field.choices.names();
  if (value.kind != JsonKind::kString) {
    refuse(value, "found " + describe(value) + "; expected one of " + join(choices));
  }
  const auto found = std::find(choices.begin(), choices.end(), value.text);
  if (found == choices.end()) refuse(value, unknown_name(field.choices.noun, value.text, choices));
  return *found;
}

void expect_list(const JsonValue& value, const std::string& of_what) {
  if (value.kind != JsonKind::kArray || value.items.empty()) {
    refuse(value, "found " + describe(value) + "; expected a list of " + of_what);
  }
}

std::vector<std::vector<double>> read_rows(const JsonValue& value) {
  expect_list(value, "rows of numbers, such as [[2, 1, 0]], or a file of them, such as \"q.npy\"");
  std::vector<std::vector<double>> rows;
  for (const JsonValue& row : value.items) {
    expect_list(row, "numbers, such as [2, 1, 0]");
    std::vector<double>& numbers = rows.emplace_back();
    numbers.reserve(row.items.size());
    for (const JsonValue& item : row.items) {
      if (item.kind != JsonKind::kNumber) {
        refuse(item, "found " + describe(item) + "; expected a number");
      }
      numbers.push_back(item.number);
    }
  }
  return rows;
}

std::string join(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace attnscale
