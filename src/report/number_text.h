// Numbers as a reader sees them on the screen: rounded to sensible digits. For all digits see
// numerics/shortest.h and, in files, format_double of io/table.h.
#pragma once

#include <cstdint>
#include <string>

namespace attnscale {

/// `number` to `digits` >= 1 significant digits, trailing zeros kept: "2.00", "0.998", "1024".
/// Scientific below 1e-4 and from 1e6 on in magnitude: "7.7e-07". Zero is "0".
std::string rounded(double number, int digits);

/// The same without trailing zeros: "2", "0.125", "11.31".
std::string rounded_short(double number, int digits);

/// `number` with that many places after the point: "31.95".
std::string with_places(double number, int places);

/// A time that was estimated: "< 0.01", "0.32", "14".
std::string seconds_text(double seconds);

/// A slope to three digits, a tiny one to two: "0.221", "7.7e-07".
std::string slope_text(double slope);

/// How an error stands beside its estimate: "0.36120 +- 0.00023", or "0.36120(23)" in its last
/// digits, "512(23)" and "319.5(2.3)" from 1 on.
enum class ErrorForm { kPlusMinus, kLastDigits };

/// "0.36120 +- 0.00023": `error` to two significant digits and `estimate` to the same place; tiny
/// or huge numbers share a power of ten: "(1.20 +- 0.15)e-07". With an error far smaller than the
/// estimate, the estimate keeps six places: "1.000000 +- 1.0e-18".
std::string estimate_and_error(double estimate, double error,
                               ErrorForm form = ErrorForm::kPlusMinus);

/// "10,000": digits in groups of three.
std::string grouped(std::int64_t number);

}  // namespace attnscale
