// From one JSON value to one checked number, name, text or member, and back. Knows bounds and
// choices, not what they are for. Every function that reads throws UserError at the value that is
// wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/object.h"
#include "draw/law.h"
#include "draw/sampler.h"
#include "experiment/metric.h"

namespace attnscale {

/// True if the field's numbers are integers; 4.0 and 1e6 are integers too.
bool is_whole(const Field& field);

inline constexpr std::int64_t kLargestSeed =
    (std::int64_t{1} << 53) - 1;              // exact in every JSON reader
inline constexpr double kMostQueries = 1e15;  // of a cell

/// "an integer from 1 to 8 (the limit of ...)", as messages put it.
std::string describe_bounds(const Field& field);

/// The shortest text that reads back as the same double; integers below 2^53 without an exponent.
std::string number_text(double number);

/// A list of numbers as JSON text.
std::string numbers_text(const std::vector<double>& numbers);

/// A number within the field's bounds.
double read_number(const JsonValue& value, const Field& field);

/// Refuses a number with a fraction as it is written, even if the nearest double has none.
void expect_integer(const JsonValue& value);

std::string read_text(const JsonValue& value);

/// true or false.
bool read_boolean(const JsonValue& value);

/// True for what may be the name of a run: at most 100 letters, digits, dots, underscores and
/// dashes, the first a letter or digit.
bool is_name(std::string_view text);
std::string read_name(const JsonValue& value);

/// The regular expression of such names.
std::string name_pattern();

/// A text among the field's choices, and its place among them.
std::string_view read_choice(const JsonValue& value, const Field& field);
std::size_t read_choice_place(const JsonValue& value, const Field& field);

/// The value must be a list with at least one item.
void expect_list(const JsonValue& value, std::string_view of_what);

// Keys that are one member of their object: the same row reads and writes it. A type of an object's
// own (matrices, entries) has its read_into and json_text, empty if there is nothing to write,
// beside its table.

inline const LawRow* find_row(std::string_view name, const LawRow*) {
  return find_law(name);
}
inline const MetricRow* find_row(std::string_view name, const MetricRow*) {
  return find_metric(name);
}
inline const SamplerRow* find_row(std::string_view name, const SamplerRow*) {
  return find_sampler(name);
}

template <typename Member>
void read_into(const JsonValue& value, const Field& field, Member& member) {
  if constexpr (std::is_same_v<Member, bool>) {
    member = read_boolean(value);
  } else if constexpr (std::is_same_v<Member, std::string>) {
    member = field.type == FieldType::kName ? read_name(value) : read_text(value);
  } else if constexpr (std::is_arithmetic_v<Member>) {
    member = static_cast<Member>(read_number(value, field));
  } else if constexpr (std::is_enum_v<Member>) {
    member = static_cast<Member>(read_choice_place(value, field));  // in the order of the enum
  } else if constexpr (std::is_pointer_v<Member>) {
    member = find_row(read_choice(value, field), member);
  } else {
    read_into(value, field, member.emplace());
  }
}

template <typename Member>
std::string json_text(const Field& field, const Member& member) {
  if constexpr (std::is_same_v<Member, bool>) {
    return member ? "true" : "false";
  } else if constexpr (std::is_same_v<Member, std::string>) {
    return quote(member);
  } else if constexpr (std::is_floating_point_v<Member>) {
    return number_text(member);
  } else if constexpr (std::is_integral_v<Member>) {
    return std::to_string(member);
  } else if constexpr (std::is_enum_v<Member>) {
    return quote(field.choices.names()[static_cast<std::size_t>(member)]);
  } else if constexpr (std::is_pointer_v<Member>) {
    return quote(member->name);
  } else {
    return member ? json_text(field, *member) : "";
  }
}

template <typename Item>
std::string json_text(const Field& field, const std::vector<Item>& items) {
  if (items.empty()) return "";
  return list_text(items, [&](const Item& item) { return json_text(field, item); });
}

template <auto member, typename Draft>
void read_member(const JsonValue& value, const Field& field, Draft& draft) {
  read_into(value, field, draft.*member);
}

template <auto member, typename Value>
std::string write_member(const Field& field, Value& value) {
  return json_text(field, value.*member);
}

/// The access of a member, for a row of any object that has it.
template <auto member, bool is_written, auto shape>
struct MemberAccess {
  template <typename Draft, typename Value>
  constexpr operator Access<Draft, Value>() const {
    if constexpr (is_written) {
      return {read_member<member, Draft>, write_member<member, Value>, shape};
    } else {
      return {read_member<member, Draft>};
    }
  }
};
/// `shape` for a type of its own.
template <auto member, auto shape = nullptr>
inline constexpr MemberAccess<member, true, shape> kBothWays;
/// For a key that its object writes itself, or that is never written.
template <auto member>
inline constexpr MemberAccess<member, false, nullptr> kReadOnly;

}  // namespace attnscale
