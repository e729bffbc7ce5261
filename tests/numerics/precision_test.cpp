#include "numerics/precision.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace attnscale {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Every finite non-negative number of a 16-bit format, ascending, from its bits: `stored` bits of
// the significand below an exponent that starts, for subnormal numbers, at 2^smallest_power a step.
std::vector<double> numbers_of(int stored, int exponents, int smallest_power) {
  std::vector<double> numbers;
  for (int exponent = 0; exponent < exponents; ++exponent) {
    for (int significand = 0; significand < 1 << stored; ++significand) {
      const int whole = exponent == 0 ? significand : significand + (1 << stored);
      numbers.push_back(std::ldexp(whole, smallest_power + std::max(exponent, 1) - 1));
    }
  }
  return numbers;
}

void expect_grid(Precision precision, const std::vector<double>& numbers) {
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
    const double low = numbers[i];
    const double high = numbers[i + 1];
    const double middle = (low + high) / 2;
    ASSERT_EQ(round_to(precision, low), low);
    ASSERT_EQ(round_to(precision, -low), -low);
    // Even is the number whose place in the list is.
    ASSERT_EQ(round_to(precision, middle), i % 2 == 0 ? low : high) << middle;
    ASSERT_EQ(round_to(precision, std::nextafter(middle, 0.0)), low) << middle;
    ASSERT_EQ(round_to(precision, std::nextafter(middle, kInfinity)), high) << middle;
  }
  EXPECT_EQ(round_to(precision, numbers.back()), numbers.back());
}

TEST(RoundTo, GivesTheNearestFloat16) {
  const std::vector<double> numbers = numbers_of(10, 31, -24);
  ASSERT_EQ(numbers.back(), 65504);
  ASSERT_EQ(numbers[1], 0x1p-24);
  expect_grid(Precision::kFloat16, numbers);
}

TEST(RoundTo, GivesTheNearestBfloat16) {
  const std::vector<double> numbers = numbers_of(7, 255, -133);
  ASSERT_EQ(numbers.back(), 0x1.fep127);
  ASSERT_EQ(numbers[1], 0x1p-133);
  expect_grid(Precision::kBfloat16, numbers);
}

TEST(RoundTo, GivesTheNearestTfloat32) {
  // A few of its exponents, which are float32's.
  const std::vector<double> numbers = numbers_of(10, 8, -136);
  EXPECT_EQ(numbers[1], 0x1p-136);
  expect_grid(Precision::kTfloat32, numbers);
  EXPECT_EQ(round_to(Precision::kTfloat32, 0x1.ffdffp127), 0x1.ffcp127);
  EXPECT_EQ(round_to(Precision::kTfloat32, 0x1.ffep127), kInfinity);
}

TEST(RoundTo, GivesTheNearestNumberOfEightBits) {
  std::vector<double> numbers = numbers_of(3, 16, -9);
  numbers.pop_back();  // the last place of E4M3 is NaN
  ASSERT_EQ(numbers.back(), 448);
  expect_grid(Precision::kFloat8E4M3, numbers);
  EXPECT_EQ(round_to(Precision::kFloat8E4M3, 464), 448);
  for (const double beyond : {464.0001, 1e300, kInfinity, -kInfinity}) {
    EXPECT_TRUE(std::isnan(round_to(Precision::kFloat8E4M3, beyond)));
  }
  numbers = numbers_of(2, 31, -16);
  ASSERT_EQ(numbers.back(), 57344);
  expect_grid(Precision::kFloat8E5M2, numbers);
  EXPECT_EQ(round_to(Precision::kFloat8E5M2, -61439), -57344);
  EXPECT_EQ(round_to(Precision::kFloat8E5M2, -61440), -kInfinity);
}

TEST(RoundTo, OverflowsHalfAStepBeyondTheLargestNumber) {
  EXPECT_EQ(round_to(Precision::kFloat16, 65519.999), 65504);
  EXPECT_EQ(round_to(Precision::kFloat16, 65520), kInfinity);
  EXPECT_EQ(round_to(Precision::kFloat16, -65520), -kInfinity);
  EXPECT_EQ(round_to(Precision::kBfloat16, 0x1.fefffp127), 0x1.fep127);
  EXPECT_EQ(round_to(Precision::kBfloat16, 0x1.ffp127), kInfinity);
  EXPECT_EQ(round_to(Precision::kFloat32, 0x1.fffffefffffffp127), 0x1.fffffep127);
  EXPECT_EQ(round_to(Precision::kFloat32, 0x1.ffffffp127), kInfinity);
  for (const Precision precision :
       {Precision::kFloat32, Precision::kBfloat16, Precision::kFloat16}) {
    EXPECT_EQ(round_to(precision, std::numeric_limits<double>::max()), kInfinity);
    EXPECT_EQ(round_to(precision, kInfinity), kInfinity);
    EXPECT_TRUE(std::isnan(round_to(precision, std::nan(""))));
  }
}

// The processor's own conversion, for numbers of every size down to half the smallest float.
TEST(RoundTo, GivesTheProcessorsOwnFloat32) {
  std::mt19937_64 words(1);
  for (int i = 0; i < 200000; ++i) {
    const double significand = static_cast<double>(words() >> 11) * 0x1p-53 + 0.5;
    const double x = std::ldexp(significand, static_cast<int>(words() % 278) - 151);
    ASSERT_EQ(round_to(Precision::kFloat32, x), static_cast<double>(static_cast<float>(x))) << x;
    // A tie, and what is nearest to one.
    const double near_float = static_cast<double>(static_cast<float>(x));
    const double tie =
        (near_float + static_cast<double>(std::nextafter(static_cast<float>(x), 0.0F))) / 2;
    for (const double y : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, kInfinity), -tie}) {
      ASSERT_EQ(round_to(Precision::kFloat32, y), static_cast<double>(static_cast<float>(y))) << y;
    }
  }
}

TEST(RoundTo, FadesToAZeroOfTheSameSign) {
  for (const auto& [precision, smallest] :
       {std::pair{Precision::kFloat32, 0x1p-149}, std::pair{Precision::kBfloat16, 0x1p-133},
        std::pair{Precision::kFloat16, 0x1p-24}}) {
    EXPECT_EQ(round_to(precision, smallest / 2), 0);
    EXPECT_EQ(round_to(precision, std::nextafter(smallest / 2, 1.0)), smallest);
    EXPECT_EQ(round_to(precision, std::numeric_limits<double>::denorm_min()), 0);
    EXPECT_TRUE(std::signbit(round_to(precision, -smallest / 4)));
    EXPECT_TRUE(std::signbit(round_to(precision, -0.0)));
    EXPECT_FALSE(std::signbit(round_to(precision, 0.0)));
  }
}

// Each of 65,536 upper halves of a float, those of doubles of every size, and random doubles.
TEST(RoundAll, GivesTheSameBitsAsOneByOne) {
  std::mt19937_64 words(2);
  std::vector<double> numbers;
  for (std::uint32_t half = 0; half < 65536; ++half) {
    numbers.push_back(static_cast<double>(std::bit_cast<float>(half << 16)));
    numbers.push_back(std::bit_cast<double>(std::uint64_t{half} << 48));
    numbers.push_back(std::bit_cast<double>(words()));
  }
  for (int format = 0; format < static_cast<int>(Precision::kInt8Row); ++format) {
    const auto precision = static_cast<Precision>(format);
    std::vector<double> rounded = numbers;
    round_all(precision, rounded);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double alone = round_to(precision, numbers[i]);
      ASSERT_TRUE(std::isnan(alone) ? std::isnan(rounded[i])
                                    : std::bit_cast<std::uint64_t>(alone) ==
                                          std::bit_cast<std::uint64_t>(rounded[i]))
          << numbers[i] << " in format " << format;
    }
  }
}

TEST(RoundTo, LeavesEveryDoubleAsItIs) {
  for (const double x : {0.1, -1e308, 5e-324, 0x1.fffffffffffffp-1}) {
    EXPECT_EQ(round_to(Precision::kFloat64, x), x);
  }
}

}  // namespace
}  // namespace attnscale
