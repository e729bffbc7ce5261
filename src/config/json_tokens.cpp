#include "config/json_tokens.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace attnscale {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '+' || c == '-' ||
         c == '.';
}

bool is_continuation_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::string byte_name(char c) {
  return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
}

std::string name_of_character(char c) {
  if (c == '\0') return "a NUL byte";
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F ? std::string(1, c) : byte_name(c);
}

// In the order of JsonExpectation.
constexpr std::array<const char*, 7> kExpectations = {
    "a value",      "a name in double quotes or }",
    "a value or ]", "a colon after the name",
    "a comma or }", "a comma or ]",
    "nothing more"};
static_assert(kExpectations.size() == 1 + static_cast<std::size_t>(JsonExpectation::kEndOfText));

// The walker is on the opening quote of a string that the library refused.
std::string explain_string(TokenWalker& walker) {
  constexpr std::string_view kEscapes = "\"\\/bfnrtu";
  constexpr std::string_view kHexadecimal = "0123456789abcdefABCDEF";
  TokenWalker inside = walker;
  inside.advance();
  while (!inside.at_end() && inside.peek() != '"') {
    const char c = inside.peek();
    if (c == '\n' || c == '\r')
      return "a text is not closed on its line; a double quote is missing";
    if (static_cast<unsigned char>(c) < 0x20) {
      walker = inside;
      return "a control character (" + byte_name(c) + ") in a text; write it as an escape";
    }
    if (c == '\\') {
      const char next = inside.peek(1);
      if (next == '\0' || kEscapes.find(next) == std::string_view::npos) {
        walker = inside;
        return std::string("unknown escape \\") + name_of_character(next) +
               " in a text; a backslash itself is written \\\\";
      }
      if (next == 'u') {
        const std::string_view digits = inside.rest().substr(2, 4);
        if (digits.size() < 4 || digits.find_first_not_of(kHexadecimal) != digits.npos) {
          walker = inside;
          return "\\u in a text takes four hexadecimal digits";
        }
      }
      inside.advance();
    }
    inside.advance();
  }
  if (inside.at_end()) return "a text is not closed; a double quote is missing";
  return "a text is not valid UTF-8, or half of a \\u pair is missing";
}

}  // namespace

void TokenWalker::advance(std::size_t bytes) {
  for (; bytes > 0 && !at_end(); --bytes) {
    const char c = text_[offset_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if (at_end() || !is_continuation_byte(text_[offset_])) {
      ++column_;
    }
  }
}

void TokenWalker::skip_blanks() {
  while (!at_end()) {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      advance();
    } else if (c == '/' && peek(1) == '/') {
      advance(std::min(rest().find('\n'), rest().size()));
    } else if (c == '/' && peek(1) == '*') {
      const std::size_t end = rest().find("*/", 2);
      if (end == std::string_view::npos) return;
      advance(end + 2);
    } else {
      return;
    }
  }
}

void TokenWalker::skip_separators() {
  skip_blanks();
  while (peek() == ',' || peek() == ':') {
    advance();
    skip_blanks();
  }
}

std::string_view TokenWalker::take_token() {
  const std::string_view from = rest();
  std::size_t length = 1;
  if (peek() == '"') {
    while (length < from.size() && from[length] != '"') length += from[length] == '\\' ? 2 : 1;
    ++length;
  } else if (is_word_character(peek())) {
    while (length < from.size() && is_word_character(from[length])) ++length;
  }
  length = std::min(length, from.size());
  advance(length);
  return from.substr(0, length);
}

std::string explain_token(const TokenWalker& walker, const std::string& expected) {
  const char c = walker.peek();
  if (c == '\'') return "a single quote; write JSON texts in double quotes";
  if (c == '/')
    return walker.peek(1) == '*' ? "a comment is not closed; */ is missing" : "a stray /";
  if (!is_word_character(c)) return "found " + name_of_character(c) + "; expected " + expected;
  TokenWalker ahead = walker;
  const std::string word(ahead.take_token());
  if (std::isalpha(static_cast<unsigned char>(c)) == 0 && !is_json_number(word)) {
    return "found " + word + ", which is not a JSON number; write it like 4, 0.5, -1 or 1e6";
  }
  return "found " + word + "; expected " + expected;
}

std::string explain_syntax_error(TokenWalker& walker, JsonExpectation expectation) {
  // Step over the separator that may be here.
  walker.skip_blanks();
  const bool after_value = expectation == JsonExpectation::kCommaOrBrace ||
                           expectation == JsonExpectation::kCommaOrBracket;
  const bool comma = after_value && walker.peek() == ',';
  std::string expected = kExpectations[static_cast<std::size_t>(expectation)];
  if (comma || (expectation == JsonExpectation::kColon && walker.peek() == ':')) {
    walker.advance();
    walker.skip_blanks();
    expected =
        expectation == JsonExpectation::kCommaOrBrace ? "a name in double quotes" : "a value";
    expectation = JsonExpectation::kValue;
  }

  // Name what is there instead.
  if (walker.at_end()) return "the text ends too early; expected " + expected;
  const char c = walker.peek();
  if (comma && (c == '}' || c == ']')) return std::string("a comma before ") + c + "; remove it";
  if (comma && c == ',') return "two commas in a row; remove one";
  const bool begins_value = c == '"' || c == '{' || c == '[' || is_word_character(c);
  if (after_value && !comma && begins_value) return "a comma is missing before this";
  if (expectation == JsonExpectation::kColon && begins_value)
    return "a colon is missing before this";
  if (expectation == JsonExpectation::kEndOfText) {
    return "found " + name_of_character(c) + " after the end of the JSON value";
  }
  return c == '"' ? explain_string(walker) : explain_token(walker, expected);
}

bool is_json_number(std::string_view token) {
  const std::string_view digits = token.substr(token.starts_with('-') ? 1 : 0);
  if (digits.empty() || std::isdigit(static_cast<unsigned char>(digits[0])) == 0) return false;
  if (digits.size() > 1 && digits[0] == '0' && std::isdigit(static_cast<unsigned char>(digits[1])))
    return false;
  const std::size_t point = digits.find('.');
  if (point != std::string_view::npos &&
      (point + 1 == digits.size() ||
       std::isdigit(static_cast<unsigned char>(digits[point + 1])) == 0))
    return false;
  double ignored = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), ignored);
  return error != std::errc::invalid_argument && end == token.data() + token.size();
}

}  // namespace attnscale
