// Numbers in two doubles: some 32 digits from IEEE 754 arithmetic alone, the same on every machine,
// where `long double` has 64 bits on one and 53 or 113 on another. For numbers that are computed
// once per cell or row and written with all their digits; too slow for scores.
#pragma once

#include <cmath>

namespace attnscale {

/// high + low, with |low| at most half a unit in the last place of high: `high` is the sum rounded
/// to double. Each operation has a relative error below 2^-101 (Joldes, Muller and Popescu, "Tight
/// and rigorous error bounds for basic building blocks of double-word arithmetic", ACM TOMS 44,
/// 2017), where nothing overflows and no low part is subnormal.
struct DoubleDouble {
  double high;
  double low = 0;

  // NOLINTNEXTLINE(google-explicit-constructor): a double is such a number.
  constexpr DoubleDouble(double number) : high(number) {}
  constexpr DoubleDouble(double larger, double smaller)
      : high(larger + smaller), low(smaller - (high - larger)) {}

  friend DoubleDouble operator-(const DoubleDouble& a) { return {-a.high, -a.low}; }

  friend DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble highs = exact_sum(a.high, b.high);
    const DoubleDouble lows = exact_sum(a.low, b.low);
    const DoubleDouble sum(highs.high, highs.low + lows.high);
    return {sum.high, sum.low + lows.low};
  }

  friend DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }

  friend DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const double product = a.high * b.high;
    const double error = std::fma(a.high, b.high, -product);
    return {product, error + (a.high * b.low + a.low * b.high)};
  }

  friend DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double first = a.high / b.high;
    const DoubleDouble rest = a - b * first;
    return {first, rest.high / b.high};
  }

 private:
  // Without loss (Knuth, TAOCP 2, 4.2.2).
  static DoubleDouble exact_sum(double a, double b) {
    const double sum = a + b;
    const double b_as_added = sum - a;
    return {sum, (a - (sum - b_as_added)) + (b - b_as_added)};
  }
};

}  // namespace attnscale

namespace attnscale::plain {

/// e^x with a relative error below 2^-95, rounded to 0 or infinity beyond a double's range.
DoubleDouble exp(const DoubleDouble& x);

/// Natural logarithm of a positive normal number, with an error below 2^-100 of the larger of its
/// size and 1.
DoubleDouble log(const DoubleDouble& x);

/// x^power, the nearest double but for one result in some 2^40: the exponential of the logarithm in
/// two doubles. Of special numbers what C's pow gives: 1 if power is 0, infinity of 0 to a negative
/// power, NaN of a negative number to a power that is not whole.
double power(double x, double power);

}  // namespace attnscale::plain
