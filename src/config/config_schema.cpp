// The field table as JSON Schema (draft-07), for editors and other tools. What holds across several
// keys (limits of one sampler, shapes that must agree) only the reader checks.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "config/axis.h"
#include "config/config.h"
#include "config/config_fields.h"
#include "config/entries_object.h"
#include "config/given_object.h"
#include "config/matrix_object.h"
#include "config/scaling_object.h"
#include "config/schema.h"
#include "config/stop_object.h"
#include "config/values.h"

namespace attnscale {
namespace {

using Json = nlohmann::ordered_json;

Json object_schema(FieldPlace place);

Json json_reference_to(const char* definition) {
  return {{"$ref", std::string("#/definitions/") + definition}};
}

/// A number of the schema; whole ones without a fraction.
Json number_json(double number) {
  const auto whole = static_cast<std::int64_t>(number);
  return static_cast<double>(whole) == number ? Json(whole) : Json(number);
}

Json bounded(const char* type, const FieldBounds& bounds) {
  Json schema = {{"type", type}};
  const bool open_below = bounds.ends != Ends::kIncluded;
  const bool open_above = bounds.ends == Ends::kBothExcluded;
  if (bounds.least > -std::numeric_limits<double>::max()) {
    schema[open_below ? "exclusiveMinimum" : "minimum"] = number_json(bounds.least);
  }
  if (bounds.most < std::numeric_limits<double>::max()) {
    schema[open_above ? "exclusiveMaximum" : "maximum"] = number_json(bounds.most);
  }
  return schema;
}

Json list_of(Json item) {
  return {{"type", "array"}, {"items", std::move(item)}, {"minItems", 1}};
}

Json distinct_list_of(Json item) {
  Json schema = list_of(std::move(item));
  schema["uniqueItems"] = true;
  return schema;
}

Json choice(const ConfigField& field) {
  Json names = Json::array();
  for (const std::string_view name : field.choices.names()) names.push_back(name);
  return {{"enum", std::move(names)}};
}

/// A number, a list or a range of them.
Json axis(const char* type, const FieldBounds& bounds) {
  const Json one = bounded(type, bounds);
  return {{"anyOf", Json::array({one, distinct_list_of(one), json_reference_to("range")})}};
}

Json value_schema(const ConfigField& field) {
  switch (field.type) {
    case FieldType::kText:
      return {{"type", "string"}};
    case FieldType::kName:
      return {{"type", "string"}, {"pattern", name_pattern()}};
    case FieldType::kChoice:
      return choice(field);
    case FieldType::kBoolean:
      return {{"type", "boolean"}};
    case FieldType::kInteger:
      return bounded("integer", field.bounds);
    case FieldType::kNumber:
      return bounded("number", field.bounds);
    case FieldType::kIntegerAxis:
      return axis("integer", field.bounds);
    case FieldType::kNumberAxis:
      return axis("number", field.bounds);
    case FieldType::kChoiceList:
      return distinct_list_of(choice(field));
    case FieldType::kMetrics:
      return {{"anyOf", Json::array({Json{{"const", "all"}}, distinct_list_of(choice(field))})}};
    case FieldType::kScalings:
      return Json::parse(schema_of(scalings_shape(field)));
    case FieldType::kEntries:
      return Json::parse(schema_of(entries_shape(field)));
    case FieldType::kGiven:
      return json_reference_to("given");
    case FieldType::kStop:
      return json_reference_to("stop");
    case FieldType::kExperiments:
      return list_of(json_reference_to("experiment"));
    case FieldType::kOwn:
      break;
  }
  return {};
}

Json field_schema(const ConfigField& field) {
  Json schema = {{"description", field.help}};
  schema.update(value_schema(field));
  if (!field.fallback.empty()) schema["default"] = Json::parse(field.fallback);
  return schema;
}

Json object_schema(FieldPlace place) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const ConfigField& field : fields_of(place)) {
    properties[std::string(field.name)] = field_schema(field);
    if (field.use == FieldUse::kRequired) required.push_back(field.name);
  }
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

Json required(const std::vector<std::string>& keys) {
  return {{"required", keys}};
}

/// Beside `given` nothing is drawn; without it, `d` must be said.
Json experiment_schema() {
  Json schema = object_schema(FieldPlace::kInExperiment);
  Json drawn_keys = Json::array();
  Json required_keys = Json::array();
  for (const ConfigField& field : fields_of(FieldPlace::kInExperiment)) {
    if (field.use == FieldUse::kIfDrawn || field.use == FieldUse::kRequiredIfDrawn) {
      drawn_keys.push_back(required({std::string(field.name)}));
    }
    if (field.use == FieldUse::kRequiredIfDrawn) required_keys.push_back(field.name);
  }
  schema["if"] = required({"given"});
  schema["then"] = {{"not", {{"anyOf", std::move(drawn_keys)}}}};
  schema["else"] = {{"required", std::move(required_keys)}};
  return schema;
}

}  // namespace

std::string config_schema() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "attnscale config"},
                 {"description", "What attnscale draws, scales, measures and writes."}};
  schema.update(object_schema(FieldPlace::kInConfig));
  schema["definitions"] = {{"experiment", experiment_schema()},
                           {"entries", Json::parse(schema_of(entries_schema()))},
                           {"law", Json::parse(schema_of(law_schema()))},
                           {"scaling", Json::parse(schema_of(scaling_schema()))},
                           {"range", Json::parse(schema_of(range_schema()))},
                           {"given", Json::parse(schema_of(given_schema()))},
                           {"matrix_file", Json::parse(schema_of(matrix_file_schema()))},
                           {"stop", Json::parse(schema_of(stop_schema()))}};
  return schema.dump(2) + "\n";
}

}  // namespace attnscale
