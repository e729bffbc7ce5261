// JSON as text: how a string is written, and how a file that may be hostile is read.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace attnscale {

/// The characters in double quotes, escaped as JSON asks. Other bytes stay as they are, so that
/// whoever reads the text refuses those that are no UTF-8; the JSON library would throw or replace.
std::string quote(std::string_view text);

/// The value that `text` spells. Throws std::runtime_error if it is not JSON, or nested deeper than
/// anything the program writes: what walks a value calls itself once for each level.
nlohmann::json parse_json(std::string_view text);

/// What a message shows of a text of any length: its beginning, cut between characters of UTF-8,
/// with dots where it was cut.
std::string shortened(std::string_view text, std::size_t longest = 60);

/// The same in double quotes; the dots follow them.
std::string quote_shortened(std::string_view text);

}  // namespace attnscale
