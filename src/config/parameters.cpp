#include "config/parameters.h"

#include <fmt/core.h>

#include "config/json_document.h"
#include "config/object_writer.h"

namespace attnscale {
namespace {

Field required_number(std::string_view name, std::string_view help, FieldBounds bounds) {
  bounds.hint = help;
  return {name, FieldType::kNumberAxis, FieldUse::kRequired, "", help, bounds};
}

}  // namespace

std::vector<Field> parameters_of(const LawRow* row) {
  std::vector<Field> fields;
  if (row == nullptr) return fields;
  for (const LawParameter& one : row->parameters) {
    fields.push_back(
        required_number(one.name, one.help, {one.above, one.at_most, Ends::kLeastExcluded}));
  }
  return fields;
}

std::vector<Field> parameters_of(const ScalingRow* row) {
  std::vector<Field> fields;
  if (row == nullptr) return fields;
  for (const ScalingParameter& one : row->parameters) {
    fields.push_back(required_number(one.name, one.help, {one.least, one.most}));
  }
  return fields;
}

std::vector<NumberAxis> read_parameters(const JsonValue& object, const std::string& what,
                                        const std::vector<Field>& parameters) {
  std::vector<NumberAxis> axes;
  for (const Field& field : parameters) {
    const JsonValue* number = object.find(field.name);
    if (number == nullptr) {
      refuse(object, fmt::format("{} needs the key {}: {}", what, quote(field.name), field.help));
    }
    read_into(*number, field, axes.emplace_back());
  }
  return axes;
}

void expect_no_parameters(const JsonValue& name, const std::string& what, std::string_view key,
                          const std::vector<Field>& parameters) {
  if (parameters.empty()) return;
  std::vector<std::string> members = {member_text(key, quote(name.text))};
  for (const Field& field : parameters) members.push_back(member_text(field.name, "..."));
  refuse(name, fmt::format("{} needs a number; write {}", what, object_text(members)));
}

}  // namespace attnscale
