// Keys that are one member of their object: the same row reads and writes it. Reading checks what
// the field asks for and throws UserError at the value; writing gives JSON text, empty where there
// is nothing to write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "config/object_writer.h"
#include "config/values.h"
#include "draw/law.h"
#include "draw/sampler.h"
#include "experiment/metric.h"

namespace attnscale {

void read_into(const JsonValue& value, const Field& field, bool& member);
void read_into(const JsonValue& value, const Field& field, double& member);
void read_into(const JsonValue& value, const Field& field, std::int64_t& member);
void read_into(const JsonValue& value, const Field& field, std::uint64_t& member);
void read_into(const JsonValue& value, const Field& field, std::string& member);
void read_into(const JsonValue& value, const Field& field, const LawRow*& member);
void read_into(const JsonValue& value, const Field& field, const MetricRow*& member);
void read_into(const JsonValue& value, const Field& field, const SamplerRow*& member);

/// The choices have the order of the enum.
template <typename Enum>
requires std::is_enum_v<Enum>
void read_into(const JsonValue& value, const Field& field, Enum& member) {
  member = static_cast<Enum>(read_choice_place(value, field));
}

template <typename Member>
void read_into(const JsonValue& value, const Field& field, std::optional<Member>& member) {
  read_into(value, field, member.emplace());
}

std::string json_text(const Field& field, bool member);
std::string json_text(const Field& field, double member);
std::string json_text(const Field& field, std::int64_t member);
std::string json_text(const Field& field, std::uint64_t member);
std::string json_text(const Field& field, const std::string& member);

template <typename TableRow>
std::string json_text(const Field&, const TableRow* member) {
  return quote(member->name);
}

template <typename Enum>
requires std::is_enum_v<Enum> std::string json_text(const Field& field, Enum member) {
  return quote(field.choices.names()[static_cast<std::size_t>(member)]);
}

template <typename Member>
std::string json_text(const Field& field, const std::optional<Member>& member) {
  return member ? json_text(field, *member) : "";
}

template <typename Item>
std::string json_text(const Field& field, const std::vector<Item>& items) {
  std::vector<std::string> texts;
  for (const Item& item : items) texts.push_back(json_text(field, item));
  return texts.empty() ? "" : list_text(texts);
}

template <auto member, typename Draft>
void read_member(const JsonValue& value, const Field& field, Draft& draft) {
  read_into(value, field, draft.*member);
}

template <auto member, typename Value>
std::string write_member(const Field& field, Value& value) {
  return json_text(field, value.*member);
}

/// The access of a plain key, for a row of any object that has the member.
template <auto member>
struct BothWays {
  template <typename Draft, typename Value>
  constexpr operator Access<Draft, Value>() const {
    return {read_member<member, Draft>, write_member<member, Value>};
  }
};
template <auto member>
inline constexpr BothWays<member> both_ways;

/// The same for a key that its object writes itself, or that is never written.
template <auto member>
struct ReadOnly {
  template <typename Draft, typename Value>
  constexpr operator Access<Draft, Value>() const {
    return {read_member<member, Draft>};
  }
};
template <auto member>
inline constexpr ReadOnly<member> read_only;

}  // namespace attnscale
