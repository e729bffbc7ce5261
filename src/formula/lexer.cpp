#include "formula/lexer.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace attnscale {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Bytes of the UTF-8 character that the text begins with.
std::size_t character_length(std::string_view text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  const auto end = std::find_if_not(text.begin() + 1, text.end(), continues);
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

FormulaError::FormulaError(std::size_t where, const std::string& sentence)
    : std::runtime_error(fmt::format("at character {}, {}", where, sentence)), character(where) {}

Token Lexer::take(char kind, std::size_t length) {
  const Token token{kind, text_.substr(0, length), 0, character_};
  text_.remove_prefix(length);
  character_ += length;
  return token;
}

Token Lexer::take_number() {
  double number = 0;
  const char* const begin = text_.data();
  const auto [end, error] = std::from_chars(begin, begin + text_.size(), number);
  const auto length = static_cast<std::size_t>(end - begin);
  if (error != std::errc()) {
    throw FormulaError(character_,
                       fmt::format("{} is beyond what a double can hold", text_.substr(0, length)));
  }
  Token token = take(Token::kNumber, length);
  token.number = number;
  return token;
}

Token Lexer::next() {
  take(Token::kEnd, std::min(text_.find_first_not_of(" \t\r\n"), text_.size()));
  if (text_.empty()) return take(Token::kEnd, 0);
  const char first = text_.front();
  if (is_digit(first) || (first == '.' && text_.size() > 1 && is_digit(text_[1]))) {
    return take_number();
  }
  if (is_letter(first)) {
    const auto end =
        std::ranges::find_if_not(text_, [](char c) { return is_letter(c) || is_digit(c); });
    return take(Token::kName, static_cast<std::size_t>(end - text_.begin()));
  }
  constexpr std::string_view kSigns = "+-*/^().,";
  if (kSigns.find(first) != std::string_view::npos && !text_.starts_with("**")) {
    return take(first, 1);
  }
  const std::string_view found = text_.substr(0, first == '*' ? 2 : character_length(text_));
  throw FormulaError(character_, fmt::format("found \"{}\": a formula is of numbers, names, + - * "
                                             "/ ^ (power), round brackets and q.k",
                                             found));
}

}  // namespace attnscale
