// JSON as text: how values are written, and how a file that may be hostile is read.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace attnscale {

/// "a, b, c".
template <typename Texts>
std::string join(const Texts& texts, std::string_view between = ", ") {
  std::string all;
  for (const std::string_view text : texts) {
    if (!all.empty()) all += between;
    all += text;
  }
  return all;
}

/// The characters in double quotes, escaped as JSON asks. Other bytes stay as they are, so that
/// whoever reads the text refuses those that are no UTF-8; the JSON library would throw or replace.
std::string quote(std::string_view text);

/// `[a, b, c]` from texts that are JSON already.
std::string list_text(const std::vector<std::string>& items);

/// The same from the JSON texts that `text_of` makes of the items.
template <typename Item, typename TextOf>
std::string list_text(const std::vector<Item>& items, const TextOf& text_of) {
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const Item& item : items) texts.push_back(text_of(item));
  return list_text(texts);
}

/// `"key": value`, where the value is JSON already.
std::string member_text(std::string_view key, std::string_view value);

/// `{"a": 1, "b": 2}` from member texts.
std::string object_text(const std::vector<std::string>& members);

/// The same with a line for each member; the object begins and ends at `indent`.
std::string object_in_lines(const std::vector<std::string>& members, const std::string& indent);

/// The value that `text` spells. Throws std::runtime_error if it is not JSON, or nested deeper than
/// anything the program writes: what walks a value calls itself once for each level.
nlohmann::json parse_json(std::string_view text);

/// What a message shows of a text of any length: its beginning, cut between characters of UTF-8,
/// with dots where it was cut.
std::string shortened(std::string_view text, std::size_t longest = 60);

/// The same in double quotes; the dots follow them.
std::string quote_shortened(std::string_view text);

}  // namespace attnscale
