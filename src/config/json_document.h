// A JSON text as values that remember where they were, so that every later complaint can name
// line, column and JSON Pointer. Knows JSON, and nothing of what a config means. nlohmann/json does
// the reading and stays out of this header.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/user_error.h"
#include "io/json_text.h"

namespace attnscale {

enum class JsonKind { kNull, kBoolean, kNumber, kString, kArray, kObject };

/// What a text is called in messages, and where its relative paths begin.
struct JsonSource {
  std::string name;
  std::filesystem::path folder = {};  ///< empty for the working directory
  std::string stem = {};              ///< of a file's name; empty if the text is in no file
};

/// Where a value is. Line and column count from 1, columns in characters; line 0 if the source
/// has no lines, such as an option of the command line.
struct JsonPlace {
  std::shared_ptr<const JsonSource> source;
  std::size_t line = 0;
  std::size_t column = 0;
};

/// "file:line:column", or the source alone if it has no lines.
std::string to_text(const JsonPlace& place);

struct JsonMember;

/// One value. Every number is kept as a double, exact for all integers below 2^53, beside the
/// characters it was written with.
struct JsonValue {
  JsonKind kind = JsonKind::kNull;
  bool boolean = false;
  double number = 0;
  std::string text;  ///< a string's characters in UTF-8, or a number as written
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;
  JsonPlace place;
  std::string pointer;  ///< RFC 6901; empty for the whole document

  /// The member of that name, or nullptr.
  const JsonValue* find(std::string_view name) const;
  JsonValue* find(std::string_view name);
};

struct JsonMember {
  std::string name;
  JsonPlace place;  ///< of the name
  JsonValue value;
};

/// The text is not JSON at all (as opposed to JSON that says something wrong).
class JsonSyntaxError : public UserError {
 public:
  using UserError::UserError;
};

/// Reads one JSON text; `//` and `/* */` comments count as blanks. Throws JsonSyntaxError, or
/// UserError for a key that one object has twice.
JsonValue read_json(std::string_view text, const JsonSource& source);

/// `parent` followed by one more name or index, escaped as RFC 6901 asks.
std::string child_pointer(const std::string& parent, std::string_view name);

/// Writes `place` into `value` and all it holds, and `pointer` with the pointers that follow from
/// it.
void move_to(JsonValue& value, const JsonPlace& place, const std::string& pointer);

/// What a message calls the value: short text as written, or "a list", "an object".
std::string describe(const JsonValue& value);

/// JSON text with a line for each item and member, two blanks further in than what holds it.
std::string in_lines(std::string_view json);

/// Adds a warning about the value: place, JSON Pointer, message.
void warn(std::vector<std::string>& warnings, const JsonValue& value, const std::string& message);

/// Throws UserError: place, JSON Pointer, message.
[[noreturn]] void refuse(const JsonPlace& place, const std::string& pointer,
                         const std::string& message);
[[noreturn]] void refuse(const JsonValue& value, const std::string& message);

/// The same with the message "found VALUE; expected `expected`".
[[noreturn]] void refuse_found(const JsonValue& value, const std::string& expected);

}  // namespace attnscale
