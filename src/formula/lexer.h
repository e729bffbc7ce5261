// The words of a formula, one after another.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attnscale {

/// What is wrong with the text of a formula: one sentence with the character, counted from 1.
struct FormulaError : std::runtime_error {
  FormulaError(std::size_t where, const std::string& sentence);

  std::size_t character;
};

struct Token {
  enum Kind : char { kEnd = 0, kNumber = '0', kName = 'a' };

  char kind = kEnd;  ///< or the sign that it is
  std::string_view text = {};
  double number = 0;
  std::size_t character = 1;  ///< where it begins

  std::string quoted() const { return kind == kEnd ? "the end" : '"' + std::string(text) + '"'; }
};

class Lexer {
 public:
  /// `text` must outlive the lexer and its tokens.
  explicit Lexer(std::string_view text) : text_(text) {}

  /// The next token; at the end that, again and again. Throws FormulaError.
  Token next();

 private:
  Token take(char kind, std::size_t length);
  Token take_number();

  std::string_view text_;  // what is left
  std::size_t character_ = 1;
};

}  // namespace attnscale
