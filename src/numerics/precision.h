// Numbers as narrower floating-point formats hold them, each kept in a double, so that what half
// precision does to a computation can be seen without hardware that has it. Knows nothing of what
// is computed.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attnscale {

/// IEEE 754's binary64, binary32 and binary16; NVIDIA's TF32 and the upper half of a binary32; and
/// the two formats of 8 bits (arXiv:2209.05433), of which E4M3 has no infinity, as they are and
/// with what is too large made the largest finite number. The integers of 8 bits, with a scale for
/// each row of d entries or for all of a query's, are no format of single numbers: see
/// round_entries.
enum class Precision {
  kFloat64,
  kFloat32,
  kTfloat32,
  kBfloat16,
  kFloat16,
  kFloat8E4M3,
  kFloat8E5M2,
  kSaturatedE4M3,
  kSaturatedE5M2,
  kInt8Row,
  kInt8Tensor
};

/// What decides which numbers a format holds.
struct FloatFormat {
  int digits;          ///< of the significand, in bits, the leading one included
  int smallest_power;  ///< the smallest positive (subnormal) number is 2^smallest_power
  double largest;      ///< the largest finite number
  /// What stands for larger ones.
  double beyond = std::numeric_limits<double>::infinity();
};

constexpr FloatFormat format_of(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return {24, -149, 0x1.fffffep127};
    case Precision::kTfloat32:
      return {11, -136, 0x1.ffcp127};
    case Precision::kBfloat16:
      return {8, -133, 0x1.fep127};
    case Precision::kFloat16:
      return {11, -24, 65504};
    case Precision::kFloat8E4M3:
      return {4, -9, 448, std::numeric_limits<double>::quiet_NaN()};
    case Precision::kFloat8E5M2:
      return {3, -16, 57344};
    case Precision::kSaturatedE4M3:
      return {4, -9, 448, 448};
    case Precision::kSaturatedE5M2:
      return {3, -16, 57344, 57344};
    case Precision::kInt8Row:
    case Precision::kInt8Tensor:
    case Precision::kFloat64:
      break;
  }
  return {53, -1074, std::numeric_limits<double>::max()};
}

/// The number of that format nearest to x, of two equally near the one whose last bit is 0, in one
/// rounding. Subnormal numbers are kept; from half a step beyond the largest number on, infinity,
/// or NaN in E4M3, or the largest number again. NaN and the sign of zero stay.
///
/// A sum, difference, product, quotient or square root of two numbers of a format, taken in double
/// and rounded by this, is what that format's own operation gives: 53 bits are at least twice its
/// own and two more, so the double's rounding never tips the second.
inline double round_to(Precision precision, double x) {
  if (precision == Precision::kFloat64 || std::isnan(x)) return x;
  if (precision == Precision::kFloat32) return static_cast<float>(x);  // the processor's own
  const FloatFormat format = format_of(precision);
  if (std::isinf(x)) return std::copysign(format.beyond, x);
  const auto power_of_two = [](int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  };
  constexpr std::uint64_t kExponentBits = 0x7ff;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>((bits >> 52) & kExponentBits) - 1023;
  // The distance between the format's numbers around x, and x in units of it.
  const int step = std::max(exponent - (format.digits - 1), format.smallest_power);
  constexpr double kRounds = 0x1.8p+52;  // adding it leaves no place for a fraction
  const double steps = (std::abs(x) * power_of_two(-step) + kRounds) - kRounds;
  const double rounded = steps * power_of_two(step);
  return std::copysign(rounded > format.largest ? format.beyond : rounded, x);
}

}  // namespace attnscale
