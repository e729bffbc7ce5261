#include "config/schema.h"

#include <fmt/core.h>

#include "config/object.h"
#include "config/values.h"

namespace attnscale {

std::string schema_of(const std::string& shape) {
  return fmt::format("{{{}}}", shape);
}

std::string reference_shape(std::string_view definition) {
  return fmt::format(R"("$ref": "#/definitions/{}")", definition);
}

std::string reference_to(std::string_view definition) {
  return schema_of(reference_shape(definition));
}

std::string any_of(const std::vector<std::string>& schemas) {
  return member_text("anyOf", list_text(schemas));
}

std::string names_shape(const std::vector<std::string_view>& names) {
  return member_text("enum", list_text(names, quote));
}

std::string names_shape(const std::vector<std::string_view>& names,
                        const std::vector<std::string>& descriptions) {
  return names_shape(names) + ", " +
         member_text("markdownEnumDescriptions", list_text(descriptions, quote));
}

std::string number_shape(std::string_view type, const FieldBounds& bounds) {
  const bool open_below = bounds.ends != Ends::kIncluded;
  const bool open_above = bounds.ends == Ends::kBothExcluded;
  std::string shape = member_text("type", quote(type));
  if (bounds.least > -kAnyNumber) {
    shape +=
        ", " + member_text(open_below ? "exclusiveMinimum" : "minimum", number_text(bounds.least));
  }
  if (bounds.most < kAnyNumber) {
    shape +=
        ", " + member_text(open_above ? "exclusiveMaximum" : "maximum", number_text(bounds.most));
  }
  return shape;
}

std::string axis_shape(std::string_view type, const FieldBounds& bounds) {
  const std::string one = number_shape(type, bounds);
  return any_of({schema_of(one), schema_of(distinct_list_shape(one)), reference_to("range")});
}

std::string list_shape(const std::string& item_shape) {
  return fmt::format(R"("type": "array", "items": {{{}}}, "minItems": 1)", item_shape);
}

std::string distinct_list_shape(const std::string& item_shape) {
  return list_shape(item_shape) + R"(, "uniqueItems": true)";
}

std::string required_shape(const std::vector<std::string_view>& keys) {
  return member_text("required", list_text(keys, quote));
}

std::string shape_of(const Field& field) {
  const std::string_view number = is_whole(field) ? "integer" : "number";
  switch (field.type) {
    case FieldType::kText:
      return R"("type": "string")";
    case FieldType::kName:
      return R"("type": "string", "pattern": )" + quote(name_pattern());
    case FieldType::kChoice:
      return names_shape(field.choices.names());
    case FieldType::kBoolean:
      return R"("type": "boolean")";
    case FieldType::kInteger:
    case FieldType::kNumber:
      return number_shape(number, field.bounds);
    case FieldType::kIntegerAxis:
    case FieldType::kNumberAxis:
      return axis_shape(number, field.bounds);
    case FieldType::kChoiceList:
      return distinct_list_shape(names_shape(field.choices.names()));
    case FieldType::kOwn:
      return reference_shape(field.name);
  }
  return {};
}

std::string property_text(const Field& field, const std::string& shape) {
  std::string schema = member_text("description", quote(field.help)) + ", " + shape;
  if (!field.fallback.empty()) schema += ", " + member_text("default", field.fallback);
  return member_text(field.name, schema_of(schema));
}

std::string object_shape(const std::vector<std::string>& properties,
                         const std::vector<std::string_view>& required, OtherKeys others) {
  std::string shape = R"("type": "object", )" + member_text("properties", object_text(properties));
  if (!required.empty()) shape += ", " + required_shape(required);
  if (others == OtherKeys::kRefused) shape += R"(, "additionalProperties": false)";
  return shape;
}

}  // namespace attnscale
