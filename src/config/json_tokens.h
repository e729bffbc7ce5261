// Where the tokens of a JSON text are, and what to say where it stops being JSON. A part of
// json_document; nothing else reads it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnscale {

/// Walks over a JSON text and counts lines and columns. Separators are not tokens.
class TokenWalker {
 public:
  explicit TokenWalker(std::string_view text) : text_(text) {}

  /// Steps over blanks and comments; an unclosed comment is where it stops.
  void skip_blanks();

  /// Steps over blanks, comments, commas and colons.
  void skip_separators();

  /// Returns the next token and moves past it. A run of letters, digits, signs and dots is one.
  std::string_view take_token();

  void advance(std::size_t bytes = 1);

  bool at_end() const { return offset_ >= text_.size(); }
  /// The next character, NUL at the end.
  char peek(std::size_t ahead = 0) const {
    return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0';
  }
  std::string_view rest() const { return text_.substr(offset_); }
  std::size_t line() const { return line_; }
  std::size_t column() const { return column_; }

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  std::size_t line_ = 1;
  std::size_t column_ = 1;
};

/// What the grammar asks for after the last good token.
enum class JsonExpectation {
  kValue,         ///< at the start of the text
  kNameOrEnd,     ///< after {
  kValueOrEnd,    ///< after [
  kColon,         ///< after a name
  kCommaOrBrace,  ///< after a value of an object
  kCommaOrBracket,
  kEndOfText
};

/// A sentence on the token at `walker`, which is no string and does not fit.
std::string explain_token(const TokenWalker& walker, const std::string& expected);

/// A sentence on the first thing after `walker` that is not JSON. Leaves `walker` there.
std::string explain_syntax_error(TokenWalker& walker, JsonExpectation expectation);

/// True for a number that JSON allows: 1, -0.5, 1e6; not 01, 1.5.2 or 0x10.
bool is_json_number(std::string_view token);

}  // namespace attnscale
