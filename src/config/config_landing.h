// How a value of a config becomes what its place in the draft holds: the functions that most rows
// of the field table point to, one for each part of the draft. Only that table includes this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "config/config_draft.h"
#include "config/config_fields.h"
#include "config/values.h"

namespace attnscale {

// How a value becomes what its place in the draft holds: one function per type of place.

inline void read_into(const JsonValue& value, const ConfigField& field, double& place) {
  place = read_number(value, bounds_of(field));
}
inline void read_into(const JsonValue& value, const ConfigField& field,
                      std::optional<double>& place) {
  place = read_number(value, bounds_of(field));
}
inline void read_into(const JsonValue& value, const ConfigField& field, std::int64_t& place) {
  place = static_cast<std::int64_t>(read_number(value, bounds_of(field)));
}
inline void read_into(const JsonValue& value, const ConfigField& field, std::uint64_t& place) {
  place = static_cast<std::uint64_t>(read_number(value, bounds_of(field)));
}
inline void read_into(const JsonValue& value, const ConfigField& field,
                      std::optional<std::int64_t>& place) {
  place = static_cast<std::int64_t>(read_number(value, bounds_of(field)));
}
inline void read_into(const JsonValue& value, const ConfigField& field, NumberAxis& place) {
  place = read_axis(value, bounds_of(field));
}
inline void read_into(const JsonValue& value, const ConfigField&, bool& place) {
  place = read_boolean(value);
}
inline void read_into(const JsonValue& value, const ConfigField&, std::optional<bool>& place) {
  place = read_boolean(value);
}
inline void read_into(const JsonValue& value, const ConfigField& field, std::string& place) {
  place = field.type == FieldType::kName ? read_name(value) : read_text(value);
}
inline void read_into(const JsonValue& value, const ConfigField& field,
                      std::optional<std::string>& place) {
  place = field.type == FieldType::kName ? read_name(value) : read_text(value);
}
inline void read_into(const JsonValue& value, const ConfigField& field, const SamplerRow*& place) {
  place = find_sampler(read_choice(value, field));
}
inline void read_into(const JsonValue& value, const ConfigField& field, const LawRow*& place) {
  place = find_law(read_choice(value, field));
}
inline void read_into(const JsonValue& value, const ConfigField& field, const MetricRow*& place) {
  place = find_metric(read_choice(value, field));
}
inline void read_into(const JsonValue& value, const ConfigField& field, ReferenceMode& place) {
  place = read_choice(value, field) == "off" ? ReferenceMode::kOff : ReferenceMode::kAuto;
}

template <auto member>
void into_draft(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  read_into(value, field, draft.*member);
}
template <auto member>
void into_config(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  read_into(value, field, draft.config.*member);
}
template <auto member>
void into_experiment(const JsonValue& value, const ConfigField& field, ConfigDraft& draft) {
  read_into(value, field, draft.experiment.*member);
}
/// An axis of an experiment, as far as its sampler reaches.
template <auto axis, auto limit>
void into_axis(const JsonValue& value, const ConfigField&, ConfigDraft& draft) {
  const SamplerRow& sampler = *draft.experiment.sampler;
  const NumberBounds bounds = {{1, static_cast<double>(sampler.*limit)},
                               NumberKind::kInteger,
                               "the limit of the sampler " + quote(sampler.name)};
  draft.experiment.*axis = whole_values(read_axis(value, bounds));
}

inline void into_nothing(const JsonValue& value, const ConfigField&, ConfigDraft&) {
  read_text(value);
}

}  // namespace attnscale
