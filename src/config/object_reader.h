// From a JSON object to a draft, by the object's table.
#pragma once

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

}  // namespace attnscale
