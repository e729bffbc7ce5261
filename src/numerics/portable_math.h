// Elementary functions from additions, multiplications, divisions and square roots alone, so that
// their bits are those of IEEE 754 arithmetic and of no libm. Scalar and inline: the compiler makes
// vectors of a loop over them. For exact values; samplers and metrics have vector kernels of their
// own.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attnscale {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace attnscale

namespace attnscale::plain {

/// e^x = power * (1 + fraction) with power a power of two and |fraction| below 0.42.
struct ScaledExponential {
  double power;
  double fraction;
};

/// Of x clamped to [-708, 700].
inline ScaledExponential scaled_exponential(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fee00000p-1;  // 32 bits: k * kLn2High is exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kRound = 0x1.8p+52;  // adding it leaves the nearest integer in the low bits
  x = x < -708 ? -708 : x;
  x = x > 700 ? 700 : x;
  const double shifted = x * kLog2E + kRound;
  const double k = shifted - kRound;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  // Taylor to degree 13: the remainder is below 5e-18 for |r| <= ln(2) / 2.
  double tail = 1.0 / 6227020800;
  tail = tail * r + 1.0 / 479001600;
  tail = tail * r + 1.0 / 39916800;
  tail = tail * r + 1.0 / 3628800;
  tail = tail * r + 1.0 / 362880;
  tail = tail * r + 1.0 / 40320;
  tail = tail * r + 1.0 / 5040;
  tail = tail * r + 1.0 / 720;
  tail = tail * r + 1.0 / 120;
  tail = tail * r + 1.0 / 24;
  tail = tail * r + 1.0 / 6;
  tail = tail * r + 0.5;
  const auto exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
  return {std::bit_cast<double>(exponent), r + r * r * tail};
}

/// e^x with relative error below 1e-15 from -708 to 700, clamped beyond: never 0 or infinite.
inline double exp(double x) {
  const auto [power, fraction] = scaled_exponential(x);
  return power * fraction + power;
}

/// e^x for x <= 0, and 0 below -708, where it is next to the smallest normal double.
inline double exp_of_negative(double x) {
  return x < -708 ? 0 : exp(x);
}

/// e^x - 1 with relative error below 1e-15, also near 0.
inline double expm1(double x) {
  const auto [power, fraction] = scaled_exponential(x);
  return power * fraction + (power - 1);
}

/// Natural logarithm of a positive normal number, relative error below 1e-15 away from 1 and
/// absolute error below 1e-16 near it.
inline double log(double x) {
  constexpr double kLn2High = 0x1.62e42fee00000p-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  // x = 2^k m with m in [sqrt(1/2), sqrt(2)).
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdULL;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  constexpr std::uint64_t kBias = 1023;
  const auto biased = (bits - kSqrtHalf + (kBias << 52)) >> 52;  // k + kBias
  const double m = std::bit_cast<double>(bits - ((biased - kBias) << 52));
  // log m = 2 atanh((m - 1) / (m + 1)); the argument is below 0.1716.
  const double f = (m - 1) / (m + 1);
  const double f2 = f * f;
  double series = 1.0 / 23;
  series = series * f2 + 1.0 / 21;
  series = series * f2 + 1.0 / 19;
  series = series * f2 + 1.0 / 17;
  series = series * f2 + 1.0 / 15;
  series = series * f2 + 1.0 / 13;
  series = series * f2 + 1.0 / 11;
  series = series * f2 + 1.0 / 9;
  series = series * f2 + 1.0 / 7;
  series = series * f2 + 1.0 / 5;
  series = series * f2 + 1.0 / 3;
  // Vectors of older machines convert no 64-bit integers: the bits of 2^52 + biased.
  constexpr std::uint64_t kTwo52 = 0x4330000000000000ULL;
  const double power = std::bit_cast<double>(kTwo52 | biased) - (0x1p52 + 1023);
  return power * kLn2High + (2 * f + (2 * f * f2 * series + power * kLn2Low));
}

/// log(1 + x) for x > -1, without cancellation near 0.
inline double log1p(double x) {
  const double u = 1 + x;
  return log(u) + (x - (u - 1)) / u;
}

/// Inverse hyperbolic sine of x >= 0.
inline double asinh(double x) {
  return log1p(x + x * x / (1 + std::sqrt(x * x + 1)));
}

/// Hyperbolic tangent, with the sign of x at 0 too.
inline double tanh(double x) {
  const double e = expm1(-2 * std::abs(x));
  return std::copysign(e / (2 + e), x);
}

/// cos(pi x) for 0 <= x <= 1.
double cos_pi(double x);

/// Density of the standard normal law.
inline double normal_density(double x) {
  constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;
  return kInverseSqrtTwoPi * exp(-0.5 * x * x);
}

/// Distribution function of the standard normal law, with relative error below 1e-13 down to
/// x = -37, where it is 0 from there on.
double normal_cdf(double x);

}  // namespace attnscale::plain
