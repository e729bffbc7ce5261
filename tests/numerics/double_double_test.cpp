#include "numerics/double_double.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/units.h"

namespace attnscale {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The nearest double to a number is at most half a unit from it; the last part is the error of ours
// before it is rounded.
constexpr double kNearest = 0.5 + 1e-3;

TEST(DoubleDouble, HoldsTwiceTheDigits) {
  const DoubleDouble third = DoubleDouble(1.0) / 3.0;
  EXPECT_EQ(third.high, 1.0 / 3);
  EXPECT_EQ((third * 3.0 - 1.0).high, 0);
  EXPECT_LT(std::abs(((third + 1e10) - 1e10 - third).high), 1e10 * 0x1p-104);
  const DoubleDouble odd = DoubleDouble(0x1p53) + 1.0;  // takes 54 bits
  EXPECT_EQ((odd * 3.0 - 0x1.8p54 - 3.0).high, 0);
  EXPECT_EQ(((-odd) / odd).high, -1);
}

// e and ln 10 to 32 digits, each as the nearest double and the rest (OEIS A001113, A002392).
TEST(DoubleDouble, ExponentialAndLogarithmHaveTheDigitsOfTheirConstants) {
  const DoubleDouble e = plain::exp(DoubleDouble(1.0));
  EXPECT_EQ(e.high, 2.718281828459045);
  EXPECT_NEAR(e.low / 1.4456468917292502e-16, 1, 1e-14);
  const DoubleDouble ln10 = plain::log(DoubleDouble(10.0));
  EXPECT_EQ(ln10.high, 2.302585092994046);
  EXPECT_NEAR(ln10.low / -2.1707562233822494e-16, 1, 1e-14);
  EXPECT_EQ(plain::log(DoubleDouble(1.0)).high, 0);
}

TEST(DoubleDouble, LogarithmUndoesTheExponential) {
  for (double x = -600; x < 700; x += 0.731) {
    const DoubleDouble exact(x, x * 0x1p-60);
    const DoubleDouble miss = plain::log(plain::exp(exact)) - exact;
    EXPECT_LT(std::abs(miss.high), 0x1p-94) << x;
  }
}

// IEEE 754 rounds these to the nearest.
TEST(Power, IsNearestWhereAnOperationGivesTheNearest) {
  for (double x = 1e-150; x < 1e150; x *= 1.3177) {
    EXPECT_EQ(plain::power(x, 1), x);
    EXPECT_EQ(plain::power(x, 2), x * x);
    EXPECT_EQ(plain::power(x, -1), 1 / x);
    EXPECT_EQ(plain::power(x, 0.5), std::sqrt(x));
  }
  for (int k = -1022; k < 1024; ++k) EXPECT_EQ(plain::power(2, k), std::ldexp(1, k));
}

TEST(Power, IsNearestAtEveryHeadSize) {
  for (int d = 1; d < 30000; ++d) {
    for (const double power : {-1.0 / 3, -0.25, -0.75, 0.3, -1.7}) {
      const Quad exact = pow(Quad(d), Quad(power));
      EXPECT_LE(units_between(plain::power(d, power), exact), kNearest) << d << " " << power;
    }
  }
}

TEST(Power, OfSpecialNumbersIsWhatCGives) {
  const double numbers[] = {0,      -0.0,      1,          -1,        0.5,         -0.5, 2,
                            -2,     3,         -3,         2.5,       -2.5,        1e20, 1e300,
                            -1e300, kInfinity, -kInfinity, 0x1p-1074, std::nan("")};
  for (const double x : numbers) {
    for (const double power : numbers) {
      const double expected = std::pow(x, power);
      const double found = plain::power(x, power);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(found)) << x << " " << power;
      } else {
        EXPECT_DOUBLE_EQ(found, expected) << x << " " << power;
      }
    }
  }
}

}  // namespace
}  // namespace attnscale
