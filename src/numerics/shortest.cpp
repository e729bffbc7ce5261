#include "numerics/shortest.h"

#include <array>
#include <charconv>

namespace attnscale {
namespace {

template <typename... Format>
std::string text_of(double number, Format... format) {
  // The longest shortest form of a double, such as -2.2250738585072014e-308, has 24 characters.
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, format...).ptr;
  return {text.data(), end};
}

}  // namespace

std::string shortest(double number) {
  return text_of(number);
}

std::string shortest(double number, int digits) {
  return text_of(number, std::chars_format::general, digits);
}

}  // namespace attnscale
