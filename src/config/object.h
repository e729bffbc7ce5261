// Reads a JSON object into a draft by its table, and writes a finished value by the same table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"
#include "config/json_document.h"

namespace attnscale {

/// Throws UserError if the value is no object, or has a key that is not among `keys`.
void expect_object(const JsonValue& value, const std::vector<std::string_view>& keys);

/// The value of the field in `object`: as it is written, or its default, which is put into
/// `storage` as if it had been written where the object begins. nullptr where there is neither.
/// Throws UserError if it is missing but required, or there but refused.
const JsonValue* find_value(const JsonValue& object, const Field& field, JsonValue& storage);

/// What a message about a key points at: the value of the key if it is there, else the object.
const JsonValue& said_or_whole(const JsonValue& object, std::string_view key);

/// Reads the object's keys in the table's order. `more_keys` are allowed too and left to the
/// caller.
template <typename Draft, typename Value>
void read_object(const JsonValue& object, const std::vector<Row<Draft, Value>>& rows, Draft& draft,
                 const std::vector<std::string_view>& more_keys = {}) {
  std::vector<std::string_view> keys = names_of(rows);
  keys.insert(keys.end(), more_keys.begin(), more_keys.end());
  expect_object(object, keys);
  for (const auto& row : rows) {
    JsonValue storage;
    const JsonValue* value = find_value(object, row.field, storage);
    if (value != nullptr) row.access.read(*value, row.field, draft);
  }
}

/// Adds the row's member, if it has a text.
template <typename Draft, typename Value>
void add_member(const Row<Draft, Value>& row, Value& value, std::vector<std::string>& members) {
  if (row.access.write == nullptr) return;
  const std::string text = row.access.write(row.field, value);
  if (!text.empty()) members.push_back(member_text(row.field.name, text));
}

template <typename Draft, typename Value>
std::vector<std::string> member_texts(const std::vector<Row<Draft, Value>>& rows, Value& value) {
  std::vector<std::string> members;
  for (const auto& row : rows) add_member(row, value, members);
  return members;
}

}  // namespace attnscale
