// Numbers as narrower floating-point formats hold them, each kept in a double, so that what half
// precision does to a computation can be seen without hardware that has it. Knows nothing of what
// is computed.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "numerics/vector_clones.h"

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

/// Calls work(round), round(x) = round_to(precision, x), whose format is worked out but once. In a
/// loop between vector clones it is done in vectors.
template <typename Work>
ATTNSCALE_INLINED inline auto with_rounding_to(Precision precision, const Work& work) {
  if (precision == Precision::kFloat64) {
    return work([](double x) ATTNSCALE_INLINED { return x; });
  }
  if (precision == Precision::kFloat32) {  // the processor's own
    return work([](double x)
                    ATTNSCALE_INLINED { return static_cast<double>(static_cast<float>(x)); });
  }
  constexpr std::uint64_t kExponentBits = std::uint64_t{0x7ff} << 52;
  const auto power_of_two = [](int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  };
  const FloatFormat format = format_of(precision);
  const double least = power_of_two(format.smallest_power + format.digits - 1);
  const double rounds = 1.5 * power_of_two(53 - format.digits);
  return work([=](double x) ATTNSCALE_INLINED {
    const double magnitude = std::abs(x);
    const double size = magnitude < 2 * format.largest ? magnitude : 2 * format.largest;
    // The power of two at or below it; a sum of 1.5 times 2^52 steps has no place for a fraction.
    const double power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) & kExponentBits);
    const double shift = (power > least ? power : least) * rounds;
    const double rounded = (size + shift) - shift;
    const double held = std::copysign(rounded > format.largest ? format.beyond : rounded, x);
    return x != x ? x : held;
  });
}

/// The number of that format nearest to x, of two equally near the one whose last bit is 0, in one
/// rounding. Subnormal numbers are kept; from half a step beyond the largest number on, infinity,
/// or NaN in E4M3, or the largest number again. NaN and the sign of zero stay.
///
/// A sum, difference, product, quotient or square root of two numbers of a format, taken in double
/// and rounded by this, is what that format's own operation gives: 53 bits are at least twice its
/// own and two more, so the double's rounding never tips the second.
inline double round_to(Precision precision, double x) {
  return with_rounding_to(precision, [x](auto round) { return round(x); });
}

/// The same of every number, in vectors.
void round_all(Precision precision, std::span<double> numbers);

/// The mean square of what rounding to a format does to a normal number of mean 0 and spread `sd`,
/// as if the format had no largest number. Errors within one step are taken as evenly spread, which
/// makes the root too large by 1e-5 of it in bfloat16, 0.2 % in E4M3 and 0.7 % in E5M2.
double rounding_variance(Precision precision, double sd);

}  // namespace attnscale
