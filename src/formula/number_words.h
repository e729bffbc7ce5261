// A number in words, where it is one that people know.
#pragma once

#include <string>
#include <vector>

namespace attnscale {

/// Other spellings of a number, such as {"1/128", "1/d"} of 0.0078125 at d = 128, the ones without
/// d first; none of an integer that is not a function of d or of what is not recognised. A number
/// of four digits or more is recognised by its digits: 0.08839 is 1/sqrt(128).
std::vector<std::string> number_words(double number, double d);

}  // namespace attnscale
