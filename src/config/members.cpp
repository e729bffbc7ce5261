#include "config/members.h"

namespace attnscale {

void read_into(const JsonValue& value, const Field&, bool& member) {
  member = read_boolean(value);
}

void read_into(const JsonValue& value, const Field& field, double& member) {
  member = read_number(value, bounds_of(field));
}

void read_into(const JsonValue& value, const Field& field, std::int64_t& member) {
  member = static_cast<std::int64_t>(read_number(value, bounds_of(field)));
}

void read_into(const JsonValue& value, const Field& field, std::uint64_t& member) {
  member = static_cast<std::uint64_t>(read_number(value, bounds_of(field)));
}

void read_into(const JsonValue& value, const Field& field, std::string& member) {
  member = field.type == FieldType::kName ? read_name(value) : read_text(value);
}

void read_into(const JsonValue& value, const Field& field, const LawRow*& member) {
  member = find_law(read_choice(value, field));
}

void read_into(const JsonValue& value, const Field& field, const MetricRow*& member) {
  member = find_metric(read_choice(value, field));
}

void read_into(const JsonValue& value, const Field& field, const SamplerRow*& member) {
  member = find_sampler(read_choice(value, field));
}

std::string json_text(const Field&, bool member) {
  return member ? "true" : "false";
}

std::string json_text(const Field&, double member) {
  return number_text(member);
}

std::string json_text(const Field&, std::int64_t member) {
  return std::to_string(member);
}

std::string json_text(const Field&, std::uint64_t member) {
  return std::to_string(member);
}

std::string json_text(const Field&, const std::string& member) {
  return quote(member);
}

}  // namespace attnscale
