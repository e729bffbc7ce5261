#include "numerics/central_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace attnscale {
namespace {

// Of 1, 2, 4, 8, 16: mean 6.2; the deviations' powers summed by hand with exact fractions.
const std::vector<double> kNumbers = {1, 2, 4, 8, 16};
constexpr double kMean = 31.0 / 5;
constexpr double kSquare = 341 - 31 * kMean;
constexpr double kCube = 4681 - 3 * kMean * 341 + 2 * 5 * kMean * kMean * kMean;
constexpr double kFourth =
    69905 - 4 * kMean * 4681 + 6 * kMean * kMean * 341 - 3 * 5 * kMean * kMean * kMean * kMean;

// The sum of a power in the unit 1.
double plain(const CentralSums& sums, double CentralSums::*sum, int power) {
  return sums.*sum * std::pow(sums.unit, power);
}

void expect_sums(const CentralSums& sums, double shift) {
  EXPECT_EQ(sums.count, 5);
  EXPECT_DOUBLE_EQ(sums.mean, kMean + shift);
  // A few dozen roundings, of terms of the size of the sums.
  EXPECT_NEAR(plain(sums, &CentralSums::square, 2), kSquare, 1e-13 * kSquare);
  EXPECT_NEAR(plain(sums, &CentralSums::cube, 3), kCube, 1e-13 * kFourth);
  EXPECT_NEAR(plain(sums, &CentralSums::fourth, 4), kFourth, 1e-13 * kFourth);
}

TEST(CentralSums, AreThoseOfAllNumbersHoweverTheyArrive) {
  for (std::size_t first = 0; first <= kNumbers.size(); ++first) {
    for (std::size_t second = first; second <= kNumbers.size(); ++second) {
      const std::span<const double> numbers(kNumbers);
      CentralSums sums;
      sums.add(CentralSums::of(numbers.first(first)));
      sums.add(CentralSums::of(numbers.subspan(first, second - first)));
      sums.add(CentralSums::of(numbers.subspan(second)));
      expect_sums(sums, 0);
    }
  }
}

TEST(CentralSums, DoNotCancelFarFromZero) {
  // 2^26 and the numbers beside it are exact; its fourth power would leave nothing of them.
  constexpr double kShift = 67108864;
  CentralSums sums;
  for (const double number : kNumbers) {
    const double shifted = number + kShift;
    sums.add(CentralSums::of({&shifted, 1}));
  }
  EXPECT_NEAR(plain(sums, &CentralSums::square, 2), kSquare,
              1e-6 * kSquare);  // the mean is rounded to 2^-27
  EXPECT_NEAR(plain(sums, &CentralSums::cube, 3), kCube, 1e-6 * kFourth);
  EXPECT_NEAR(plain(sums, &CentralSums::fourth, 4), kFourth, 1e-6 * kFourth);
}

// Fourth powers of 1e-200 are 0, and of 1e200 infinite.
TEST(CentralSums, OfAnySizeAreThoseOfOrdinaryNumbersInAnotherUnit) {
  CentralSums ordinary;
  for (const double number : kNumbers) ordinary.add(CentralSums::of({&number, 1}));
  for (const double size : {0x1p-700, 0x1p700}) {
    CentralSums sums;
    for (const double number : kNumbers) {
      const double scaled = number * size;
      sums.add(CentralSums::of({&scaled, 1}));
    }
    EXPECT_EQ(sums.mean, ordinary.mean * size);
    EXPECT_EQ(sums.unit, ordinary.unit * size);
    EXPECT_EQ(sums.square, ordinary.square);
    EXPECT_EQ(sums.fourth, ordinary.fourth);
  }
}

}  // namespace
}  // namespace attnscale
