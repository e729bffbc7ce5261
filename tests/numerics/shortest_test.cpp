#include "numerics/shortest.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>

namespace attnscale {
namespace {

std::uint64_t bits(double number) {
  return std::bit_cast<std::uint64_t>(number);
}

TEST(Shortest, IsFixedUnlessScientificIsShorter) {
  EXPECT_EQ(shortest(0.05), "0.05");
  EXPECT_EQ(shortest(-0.25), "-0.25");
  EXPECT_EQ(shortest(0.001), "0.001");  // as long as 1e-03
  EXPECT_EQ(shortest(0.0001), "1e-04");
  EXPECT_EQ(shortest(123456), "123456");
  EXPECT_EQ(shortest(100000), "1e+05");
  EXPECT_EQ(shortest(0.1 + 0.2), "0.30000000000000004");
}

TEST(Shortest, RoundsToTheDigitsAskedFor) {
  EXPECT_EQ(shortest(0.15000000000000002, 6), "0.15");
  EXPECT_EQ(shortest(-2952.4500000000003, 6), "-2952.45");
  EXPECT_EQ(shortest(1.0 / 3, 6), "0.333333");
  EXPECT_EQ(shortest(0.05, 6), "0.05");
  EXPECT_EQ(shortest(100000, 6), "100000");
  EXPECT_EQ(shortest(1234567, 6), "1.23457e+06");
  EXPECT_EQ(shortest(0.00005, 6), "5e-05");
}

TEST(Shortest, ReadsBackExactly) {
  // All finite doubles are equally likely by their bits.
  std::mt19937_64 engine(20240607);
  for (int i = 0; i < 100000; ++i) {
    const double number = std::bit_cast<double>(engine());
    if (!std::isfinite(number)) continue;
    ASSERT_EQ(bits(std::strtod(shortest(number).c_str(), nullptr)), bits(number));
  }
  for (const double edge :
       {0.0, -0.0, std::numeric_limits<double>::min(), -std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::max(), std::nextafter(1.0, 0.0), 2.2250738585072014e-308}) {
    EXPECT_EQ(bits(std::strtod(shortest(edge).c_str(), nullptr)), bits(edge));
  }
}

}  // namespace
}  // namespace attnscale
