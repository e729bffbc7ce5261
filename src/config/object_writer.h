// From finished values to JSON text, by the object's table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"

namespace attnscale {

/// `[a, b, c]` from texts that are JSON already.
std::string list_text(const std::vector<std::string>& items);

/// `"key": value`, where the value is JSON already.
std::string member_text(std::string_view key, std::string_view value);

/// `{"a": 1, "b": 2}` from member texts.
std::string object_text(const std::vector<std::string>& members);

/// The same with a line for each member; the object begins and ends at `indent`.
std::string object_in_lines(const std::vector<std::string>& members, const std::string& indent);

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
