#include "config/scaling_object.h"

#include <fmt/core.h>

#include "config/axis.h"
#include "config/object.h"
#include "config/scaling_keys.h"
#include "config/schema.h"

namespace attnscale {
namespace {

std::string name_of(const ScalingRow* row) {
  return row != nullptr ? "the scaling " + quote(row->name) : "the score itself";
}

// What the object is like, which decides which other keys there are; nullptr for the score itself.
const ScalingRow* start_of(const JsonValue& value) {
  ScalingDraft draft;
  for (const std::string_view key : {"like", "preset"}) {
    const JsonValue* said = value.find(key);
    if (said == nullptr) continue;
    if (draft.like != nullptr) {
      refuse(*said, "found both \"like\" and \"preset\"; expected one of them");
    }
    read_start(*said, field_named(scaling_rows(), key), draft);
  }
  return draft.like;
}

std::string name_of_scaling(const JsonValue& value, const ScalingDraft& read) {
  if (read.name) {
    if (find_scaling_row(*read.name) == nullptr) return *read.name;
    refuse(*value.find("name"), fmt::format("{0} is the name of a built-in scaling; choose "
                                            "another name, or write {{\"like\": {0}}}",
                                            quote(*read.name)));
  }
  if (read.like == nullptr) refuse(value, "a new scaling needs a \"name\"");
  if (value.members.size() == 1 + read.like->parameters.size()) return std::string(read.like->name);
  refuse(value, fmt::format("a change of {0} needs a \"name\" of its own; write {{\"name\": "
                            "\"my_{1}\", \"like\": {0}, ...}}",
                            quote(read.like->name), read.like->name));
}

// The number that a scaling comes to together with the one it is like.
void expect_within(const JsonValue& value, std::string_view key, double number) {
  const Field& field = field_named(scaling_rows(), key);
  if (number >= field.bounds.least && number <= field.bounds.most) return;
  refuse(value, fmt::format("with the scaling it starts from, the {} is {}; expected {}", key,
                            number_text(number), describe_bounds(field)));
}

// Keys that have an effect only beside others.
void expect_no_idle_key(const JsonValue& value, const ScalingRule& rule) {
  const JsonValue* base = value.find("log_keys_base");
  if (base != nullptr && !rule.log_keys) {
    refuse(*base, "\"log_keys_base\" has no effect without \"log_keys\": true; add it");
  }
  const JsonValue* d = value.find("d");
  if (d != nullptr && rule.d_power == 0) {
    refuse(*d, "\"d\" has no effect without a power of it; add \"d_power\", such as -0.5");
  }
  const JsonValue* shift = value.find("subtract_max");
  if (shift != nullptr && rule.weights.normaliser.kind == NormaliserKind::kSigmoid) {
    refuse(*shift,
           "\"subtract_max\" has no effect on a sigmoid, which subtracts nothing; leave it out");
  }
  if (rule.weights.precision != Precision::kFloat64) return;
  for (const std::string_view key : {"scale_order", "subtract_max"}) {
    const JsonValue* said = value.find(key);
    if (said == nullptr) continue;
    refuse(*said, fmt::format("{} is for emulated precisions only; add a \"precision\", such as "
                              "\"float16\", or leave it out",
                              quote(key)));
  }
}

void read_object_into(const JsonValue& value, std::vector<Scaling>& scalings) {
  ScalingDraft draft;
  const ScalingRow* const like = start_of(value);
  const std::vector<Field> needed = parameters_of(like);
  read_object(value, scaling_rows(), draft, names_of(needed));
  std::vector<NumberAxis> axes = read_parameters(value, name_of(like), needed);
  const auto parameters = std::ssize(axes);
  const std::string name = name_of_scaling(value, draft);
  refuse_repeated_name(value, scalings, name, "scaling");
  for (const SaidNumber& number : draft.numbers) axes.push_back(number.axis);
  for (const SweepPoint& point : sweep_points(value, axes)) {
    auto next = point.numbers.begin() + parameters;
    ScalingChanges changes = draft.words;
    for (const SaidNumber& number : draft.numbers) changes.*number.change = *next++;
    const Scaling& scaling = scalings.emplace_back(
        make_scaling(name, like, {point.numbers.begin(), point.numbers.begin() + parameters},
                     changes, point.swept));
    expect_within(value, "multiplier", scaling.rule.multiplier);
    expect_within(value, "d_power", scaling.rule.d_power);
    expect_no_idle_key(value, scaling.rule);
  }
}

// A scaling that needs no number, by its name.
void read_name_into(const JsonValue& value, const Field& field, std::vector<Scaling>& scalings) {
  refuse_what_is_no_scaling(value);
  const ScalingRow& row = *find_scaling_row(read_choice(value, field));
  expect_no_parameters(value, name_of(&row), "preset", parameters_of(&row));
  refuse_repeated_name(value, scalings, std::string(row.name), "scaling");
  scalings.push_back(*find_scaling(row.name));
}

std::string scaling_text(ScalingText& text) {
  const Scaling& first = text.first();
  if (find_scaling(first.name) == first) return quote(first.name);
  std::vector<std::string> members;
  const bool has_own_name = first.like == nullptr || first.like->name != first.name;
  if (has_own_name) members.push_back(member_text("name", quote(first.name)));
  if (first.like != nullptr) members.push_back(member_text("like", quote(first.like->name)));
  for (std::size_t i = 0; i < first.parameters.size(); ++i) {
    const auto number = [i](const Scaling& one) { return one.parameters[i]; };
    members.push_back(member_text(first.like->parameters[i].name, text.text(number)));
  }
  // Numbers, then words.
  for (const bool is_word : {false, true}) {
    for (const auto& row : scaling_rows()) {
      const FieldType type = row.field.type;
      const bool has_words = type == FieldType::kChoice || type == FieldType::kBoolean;
      if (has_words == is_word) add_member(row, text, members);
    }
  }
  return object_text(members);
}

// A start with the numbers it needs; a name of its own unless the start is taken as it is.
std::string start_schema(const std::string& names, const std::vector<Field>& parameters) {
  const std::string either = any_of({R"({"required": ["like"]})", R"({"required": ["preset"]})"});
  std::vector<std::string> properties;
  for (const std::string_view key : names_of(scaling_rows())) {
    const bool is_start = key == "like" || key == "preset";
    properties.push_back(member_text(key, is_start ? schema_of(names) : "true"));
  }
  for (const Field& field : parameters) properties.push_back(property_text(field, shape_of(field)));
  std::string start =
      member_text("properties", object_text(properties)) + R"(, "additionalProperties": false)";
  if (!parameters.empty()) start += ", " + required_shape(names_of(parameters)) + ", " + either;
  const std::string as_it_is =
      fmt::format(R"("maxProperties": {}, {})", 1 + parameters.size(), either);
  const std::string named = any_of({R"({"required": ["name"]})", schema_of(as_it_is)});
  return schema_of(member_text("allOf", list_text({schema_of(start), schema_of(named)})));
}

}  // namespace

void read_into(const JsonValue& value, const Field& field, std::vector<Scaling>& scalings) {
  expect_list(value, "scalings, such as [\"none\", \"div_sqrt_d\"]");
  for (const JsonValue& item : value.items) {
    if (item.kind == JsonKind::kObject) {
      read_object_into(item, scalings);
    } else {
      read_name_into(item, field, scalings);
    }
  }
}

std::string json_text(const Field&, const std::vector<Scaling>& scalings) {
  return swept_list_text(scalings, scaling_text);
}

std::string scalings_shape(const Field&) {
  return distinct_list_shape(
      any_of({schema_of(plain_names_shape(scaling_table())), reference_to("scaling")}));
}

std::string scaling_schema() {
  std::vector<std::string> starts = {start_schema(plain_names_shape(scaling_table()), {})};
  for (const ScalingRow& row : scaling_table()) {
    if (row.parameters.empty()) continue;
    starts.push_back(start_schema(member_text("const", quote(row.name)), parameters_of(&row)));
  }
  return object_shape(scaling_rows(), OtherKeys::kLeftToAlternatives) + ", " + any_of(starts) +
         R"(, "not": {"required": ["like", "preset"]})";
}

}  // namespace attnscale
