#include "config/axis.h"

#include <fmt/core.h>

#include <cmath>

#include "config/object.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr std::size_t kMostValues = 10'000;

// Room for rounding when a range decides whether its last value still is within `to`.
constexpr double kSlack = 1e-9;

// {"from": ..., "to": ..., "times": ...} or with "step".
struct Range {
  double from = 0;
  double to = 0;
  std::optional<double> times;
  std::optional<double> step;
};

const std::vector<Row<Range>>& range_rows() {
  using enum FieldType;
  using enum FieldUse;
  static constexpr FieldBounds kAny = {-kAnyNumber, kAnyNumber};
  // Each row stays two or three lines.
  // clang-format off
  static const std::vector<Row<Range>> table = {
      {{"from", kNumber, kRequired, "", "First value.", kAny}, kReadOnly<&Range::from>},
      {{"to", kNumber, kRequired, "", "No value lies beyond this one.", kAny},
        kReadOnly<&Range::to>},
      {{"times", kNumber, kOptional, "", "Each value is the one before times this.",
        {1, kAnyNumber, Ends::kLeastExcluded}}, kReadOnly<&Range::times>},
      {{"step", kNumber, kOptional, "", "Each value is the one before plus this.", kAny},
        kReadOnly<&Range::step>},
  };
  // clang-format on
  return table;
}

[[noreturn]] void refuse_too_many(const JsonValue& value) {
  refuse(value,
         fmt::format("more than {0} values; a list or range may hold at most {0}", kMostValues));
}

// The number that was meant by a sum of decimals such as -1 + 6 * 0.1, of which `size` is the
// largest: -0.4, where binary arithmetic has an error in the last digits. Whole numbers are exact.
double without_rounding(double sum, double size) {
  constexpr int kDigits = 15;
  if (sum == std::floor(sum)) return sum;
  if (std::abs(sum) < 1e-14 * size) return 0;
  return *parse_number<double>(shortest(sum, kDigits));
}

// from + i * step, so that no rounding adds up.
std::vector<double> step_values(const JsonValue& value, const Range& range) {
  const double step = *range.step;
  if (step == 0 || (range.to - range.from) / step < 0) {
    refuse_found(*value.find("step"), fmt::format("a step that leads from {} to {}",
                                                  number_text(range.from), number_text(range.to)));
  }
  const double last = std::floor((range.to - range.from) / step + kSlack);
  if (last >= static_cast<double>(kMostValues)) refuse_too_many(value);
  const double size = std::max(std::abs(range.from), std::abs(range.to));
  std::vector<double> values{range.from};
  for (int i = 1; i <= static_cast<int>(last); ++i) {
    values.push_back(without_rounding(range.from + i * step, size));
  }
  return values;
}

// Each value the one before times `times`.
std::vector<double> times_values(const JsonValue& value, const Range& range) {
  if (range.from <= 0 || range.to < range.from) {
    refuse(value, fmt::format("found a range from {} to {}; with \"times\" it must start above 0 "
                              "and must not end below its start",
                              number_text(range.from), number_text(range.to)));
  }
  std::vector<double> values;
  double next = range.from;
  while (next <= range.to * (1 + kSlack)) {
    if (values.size() == kMostValues) refuse_too_many(value);
    values.push_back(next);
    next *= *range.times;
  }
  return values;
}

std::vector<double> read_range(const JsonValue& value, const Field& field) {
  Range range;
  read_object(value, range_rows(), range);
  if (range.times.has_value() == range.step.has_value()) {
    refuse(value, fmt::format("found a range {}; expected exactly one of them, such as {}",
                              range.step ? R"(with both "times" and "step")"
                                         : R"(without "times" or "step")",
                              R"({"from": 4, "to": 1024, "times": 4} or )"
                              R"({"from": 2, "to": 10, "step": 2})"));
  }
  const bool whole = is_whole(field);
  for (const JsonMember& member : value.members) {
    const bool is_bound = member.name == "from" || member.name == "to";
    if (is_bound) read_number(member.value, field);
    if (whole) expect_integer(member.value);
  }
  if (whole && range.to < range.from) {
    refuse(value, fmt::format("found a range from {} to {}; it must not end below its start",
                              number_text(range.from), number_text(range.to)));
  }
  return range.step ? step_values(value, range) : times_values(value, range);
}

Field required_number(std::string_view name, std::string_view help, FieldBounds bounds) {
  bounds.hint = help;
  return {name, FieldType::kNumberAxis, FieldUse::kRequired, "", help, bounds};
}

}  // namespace

NumberAxis read_axis(const JsonValue& value, const Field& field) {
  if (value.kind == JsonKind::kNumber) return {{read_number(value, field)}, false};
  if (value.kind == JsonKind::kObject) return {read_range(value, field), true};
  if (value.kind != JsonKind::kArray || value.items.empty()) {
    refuse_found(value, describe_bounds(field) +
                            ", a list of them, or a range such as "
                            "{\"from\": 4, \"to\": 1024, \"times\": 4}");
  }
  if (value.items.size() > kMostValues) refuse_too_many(value);
  NumberAxis axis{{}, true};
  std::unordered_set<double> seen;
  for (const JsonValue& item : value.items) {
    const double number = read_number(item, field);
    if (!seen.insert(number).second) {
      refuse(item,
             fmt::format("found {} a second time; each value may appear once", describe(item)));
    }
    axis.values.push_back(number);
  }
  return axis;
}

void read_into(const JsonValue& value, const Field& field, NumberAxis& member) {
  member = read_axis(value, field);
}

std::vector<std::int64_t> whole_values(const NumberAxis& axis) {
  std::vector<std::int64_t> values;
  for (const double number : axis.values) values.push_back(static_cast<std::int64_t>(number));
  return values;
}

std::string range_schema() {
  return object_shape(range_rows()) +
         R"(, "oneOf": [{"required": ["times"]}, {"required": ["step"]}])";
}

std::vector<SweepPoint> sweep_points(const JsonValue& object, const std::vector<NumberAxis>& axes) {
  SweepPoint point;
  std::optional<std::size_t> swept;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    point.numbers.push_back(axes[i].values.front());
    if (!axes[i].swept) continue;
    if (swept) {
      refuse(object,
             "two numbers of one object are lists or ranges, but only one may be; write several "
             "objects instead");
    }
    swept = i;
  }
  if (!swept) return {point};
  std::vector<SweepPoint> points;
  for (const double value : axes[*swept].values) {
    point.numbers[*swept] = value;
    point.swept = value;
    points.push_back(point);
  }
  return points;
}

void refuse_second(const JsonValue& value, std::string_view noun, const std::string& name) {
  refuse(value,
         fmt::format("a second {} of the name {}; names must differ: give one of them a \"name\"",
                     noun, quote(name)));
}

std::vector<Field> parameters_of(const LawRow* row) {
  std::vector<Field> fields;
  if (row == nullptr) return fields;
  for (const LawParameter& one : row->parameters) {
    fields.push_back(
        required_number(one.name, one.help, {one.above, one.at_most, Ends::kLeastExcluded}));
  }
  return fields;
}

std::vector<Field> parameters_of(const PresetRow& row) {
  std::vector<Field> fields;
  for (const PresetParameter& one : row.parameters()) {
    fields.push_back(required_number(one.name, one.help, {one.least, one.most}));
    fields.back().fallback = one.fallback;
    if (!one.is_required()) fields.back().use = FieldUse::kOptional;
  }
  return fields;
}

std::vector<NumberAxis> read_parameters(const JsonValue& object, const std::string& what,
                                        const std::vector<Field>& parameters) {
  std::vector<NumberAxis> axes;
  for (const Field& field : parameters) {
    JsonValue storage;
    const bool is_needed = field.fallback.empty();
    const JsonValue* number =
        is_needed ? object.find(field.name) : find_value(object, field, storage);
    if (number == nullptr) {
      refuse(object, fmt::format("{} needs the key {}: {}", what, quote(field.name), field.help));
    }
    read_into(*number, field, axes.emplace_back());
  }
  return axes;
}

void expect_no_parameters(const JsonValue& name, const std::string& what, std::string_view key,
                          const std::vector<Field>& parameters) {
  std::vector<std::string> members = {member_text(key, quote(name.text))};
  for (const Field& field : parameters) {
    if (field.fallback.empty()) members.push_back(member_text(field.name, "..."));
  }
  if (members.size() == 1) return;
  refuse(name, fmt::format("{} needs a number; write {}", what, object_text(members)));
}

}  // namespace attnscale
