// How a number is written for people. Files write numbers below 0.1 another way, see format_double
// in io/table.h.
#pragma once

#include <string>

namespace attnscale {

/// The shortest text that reads back as exactly `number`, fixed if both forms are as long:
/// "0.05", "-0.25", "0.001", "1e-04", "123456", "1e+05". Needs no locale.
std::string shortest(double number);

/// The same of `number` rounded to so many significant digits: "0.15" of 0.15000000000000002.
/// Scientific below 1e-4 and from 10^digits on in magnitude.
std::string shortest(double number, int digits);

}  // namespace attnscale
