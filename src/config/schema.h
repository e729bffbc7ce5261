// JSON Schema (draft-07) of a table, for editors and other tools. A shape is the keywords of a
// schema as JSON text, without the braces around them. What holds across several keys (limits of
// one sampler, shapes that must agree) only the reader checks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"

namespace attnscale {

/// A schema of that shape: `{shape}`.
std::string schema_of(const std::string& shape);

/// `"$ref": ...` to the definition of that name, and the schema of that shape.
std::string reference_shape(std::string_view definition);
std::string reference_to(std::string_view definition);

std::string any_of(const std::vector<std::string>& schemas);

/// One of these texts.
std::string names_shape(const std::vector<std::string_view>& names);
std::string names_shape(const std::vector<std::string_view>& names,
                        const std::vector<std::string>& descriptions);

/// The name of a row, or of a row that `takes` holds for, with what an editor says of it.
template <typename TableRow>
std::string described_names_shape(std::span<const TableRow> table,
                                  bool (*takes)(const TableRow&) = nullptr) {
  std::vector<std::string_view> names;
  std::vector<std::string> descriptions;
  for (const TableRow& row : table) {
    if (takes != nullptr && !takes(row)) continue;
    names.push_back(row.name);
    descriptions.emplace_back(row.help);
    if constexpr (requires { row.formula; }) {
      descriptions.back() += ": `" + std::string(row.formula) + "`";
    }
  }
  return names_shape(names, descriptions);
}

/// A number ("integer" or "number") within the bounds.
std::string number_shape(std::string_view type, const FieldBounds& bounds);

/// A number, a list or a range of them.
std::string axis_shape(std::string_view type, const FieldBounds& bounds);

/// A list of one item or more.
std::string list_shape(const std::string& item_shape);
std::string distinct_list_shape(const std::string& item_shape);

/// `"required": [keys]`.
std::string required_shape(const std::vector<std::string_view>& keys);

/// What the field's type says; kOwn without a shape of its row is the definition of that name.
std::string shape_of(const Field& field);

/// One property: its help, its shape and its default.
std::string property_text(const Field& field, const std::string& shape);

/// Which keys an object may have beside those of its table.
enum class OtherKeys { kRefused, kLeftToAlternatives };

std::string object_shape(const std::vector<std::string>& properties,
                         const std::vector<std::string_view>& required, OtherKeys others);

template <typename Draft, typename Value>
std::string object_shape(const std::vector<Row<Draft, Value>>& rows,
                         OtherKeys others = OtherKeys::kRefused) {
  std::vector<std::string> properties;
  std::vector<std::string_view> required;
  for (const auto& [field, access] : rows) {
    properties.push_back(
        property_text(field, access.shape != nullptr ? access.shape(field) : shape_of(field)));
    if (field.use == FieldUse::kRequired) required.push_back(field.name);
  }
  return object_shape(properties, required, others);
}

}  // namespace attnscale
