// What a table says about one key of an object: parser, error messages, schema and help all read
// it. A new key is one row in the table of its object.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace attnscale {

struct JsonValue;

/// What a value looks like.
enum class FieldType {
  kText,         ///< any text
  kName,         ///< a text that is safe as a file name and a CSV cell
  kChoice,       ///< one of the field's choices
  kBoolean,      ///< true or false
  kInteger,      ///< a number without fraction, within the field's bounds
  kNumber,       ///< a number within the field's bounds
  kIntegerAxis,  ///< an integer, a list or a range of them
  kNumberAxis,   ///< a number, a list or a range of them
  kChoiceList,   ///< a list of choices
  kOwn           ///< what the row's own functions make of it
};

/// Whether a key must be there, and what an experiment with `given` makes of it.
enum class FieldUse {
  kOptional,  ///< if it is missing, its default (if any) takes its place
  kRequired,
  kIfDrawn,          ///< optional; refused beside `given`
  kRequiredIfDrawn,  ///< required, or refused beside `given`
  kIfGiven,          ///< optional; refused without `given`
  kDefaultIfDrawn    ///< the default is for drawn experiments only
};

/// Which ends of its bounds a number may not reach.
enum class Ends { kIncluded, kLeastExcluded, kBothExcluded };

inline constexpr double kAnyNumber = std::numeric_limits<double>::max();

struct FieldBounds {
  double least = 0;
  double most = 0;
  Ends ends = Ends::kIncluded;
  std::string_view hint = "";  ///< what to write instead, said after the bounds
};

struct FieldChoices {
  std::string_view noun;  ///< what one choice is: "metric", "law"
  std::vector<std::string_view> (*names)() = nullptr;
  std::string_view also = "";  ///< what may stand there instead, said after the names
};

/// The names of the rows of a table, or those of an enum's list.
template <auto table>
std::vector<std::string_view> row_names() {
  std::vector<std::string_view> names;
  for (const auto& row : table()) names.push_back(row.name);
  return names;
}
template <const auto& names>
std::vector<std::string_view> listed_names() {
  return {names.begin(), names.end()};
}

struct Field {
  std::string_view name;
  FieldType type;
  FieldUse use;
  std::string_view fallback;  ///< the default, as JSON; empty if there is none
  std::string_view help;      ///< one line
  FieldBounds bounds = {};
  FieldChoices choices = {};
};

inline bool is_refused_beside_given(const Field& field) {
  return field.use == FieldUse::kIfDrawn || field.use == FieldUse::kRequiredIfDrawn;
}

/// How a key is read into a draft of its object and written from the finished value.
template <typename Draft, typename Value = Draft>
struct Access {
  /// Checks the JSON value and puts it into the draft. Throws UserError.
  void (*read)(const JsonValue& value, const Field& field, Draft& draft);
  /// The key's JSON text; empty where it is not written. nullptr for a key that never is, or that
  /// its object writes itself.
  std::string (*write)(const Field& field, Value& value) = nullptr;
  /// The keywords of JSON Schema, if they are not what the field's type says.
  std::string (*shape)(const Field& field) = nullptr;
};

/// A row of an object's table; rows are read, checked and documented in their order.
template <typename Draft, typename Value = Draft>
struct Row {
  Field field;
  Access<Draft, Value> access;
};

template <typename Draft, typename Value>
std::vector<std::string_view> names_of(const std::vector<Row<Draft, Value>>& rows) {
  std::vector<std::string_view> names;
  names.reserve(rows.size());
  for (const auto& row : rows) names.push_back(row.field.name);
  return names;
}

inline std::vector<std::string_view> names_of(const std::vector<Field>& fields) {
  std::vector<std::string_view> names;
  names.reserve(fields.size());
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

/// The field of that name, which the table must have.
template <typename Draft, typename Value>
const Field& field_named(const std::vector<Row<Draft, Value>>& rows, std::string_view name) {
  return std::ranges::find(rows, name, [](const auto& row) { return row.field.name; })->field;
}

}  // namespace attnscale
