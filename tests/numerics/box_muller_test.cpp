// The ends of the normal law, which no reachable counter is known to hit: the kernel's inner
// functions on words made for the purpose, compiled for the baseline.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "numerics/vector_targets.h"
//
#include "numerics/box_muller-inl.h"

namespace attnscale {
namespace {

namespace kernel = HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;

double radius_of(std::uint64_t word) {
  const auto word_lanes = hn::Set(kernel::WordLanes(), word);
  return hn::GetLane(hn::Sqrt(kernel::minus_two_log_uniform(word_lanes)));
}

TEST(BoxMuller, SmallestWordsReachNineStandardDeviations) {
  // u = 2^-65 for the word 0, else word * 2^-64; a few units in the last place.
  EXPECT_DOUBLE_EQ(radius_of(0), std::sqrt(130 * std::log(2.0)));
  EXPECT_DOUBLE_EQ(radius_of(1), std::sqrt(128 * std::log(2.0)));
  EXPECT_DOUBLE_EQ(radius_of(3), std::sqrt(2 * (64 * std::log(2.0) - std::log(3.0))));
  EXPECT_GT(radius_of(0), 9.49);
}

TEST(BoxMuller, LargestWordsGiveAFiniteRadiusThatFallsToZero) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  EXPECT_EQ(radius_of(kOnes), 0);  // u rounds to 1
  // u = 1 - 2^-53, the double next to 1: -2 ln u = 2^-52 (1 + 2^-54 ...).
  EXPECT_DOUBLE_EQ(radius_of(kOnes - (1U << 11) + 1), 0x1p-26);
  // Relative accuracy is kept near u = 1, where the logarithm itself goes to 0.
  for (int bit = 12; bit < 63; ++bit) {
    const double gap = std::ldexp(1.0, bit - 64);
    EXPECT_DOUBLE_EQ(radius_of(kOnes - (std::uint64_t{1} << bit) + 1),
                     std::sqrt(-2 * std::log1p(-gap)));
  }
}

TEST(BoxMuller, LogarithmIsContinuousWhereItsRangesMeet) {
  // The mantissa's range ends at sqrt(1/2) and sqrt(2); 4 units in the last place.
  for (const double x : {std::sqrt(0.5), std::sqrt(2.0), 1.0, 2.0, 1e-300, 1e300}) {
    for (const double near : {std::nextafter(x, 0.0), x, std::nextafter(x, 2 * x)}) {
      const double log =
          hn::GetLane(kernel::minus_two_log<0>(hn::Set(kernel::DoubleLanes(), near)));
      EXPECT_DOUBLE_EQ(log, -2 * std::log(near)) << near;
    }
  }
}

TEST(BoxMuller, LowBitsOfTheAngleWordChooseTheQuarter) {
  // t = 1/4: (c, s) = (cos, sin)(pi / 8).
  const std::uint64_t eighth = (std::uint64_t{3} << 62);
  const double c = std::cos(std::numbers::pi / 8);
  const double s = std::sin(std::numbers::pi / 8);
  const std::array<std::array<double, 2>, 4> expected{{{c, s}, {-c, s}, {s, c}, {s, -c}}};
  for (std::uint64_t low = 0; low < 4; ++low) {
    const auto point = kernel::point_on_circle(hn::Set(kernel::WordLanes(), eighth + low));
    EXPECT_DOUBLE_EQ(hn::GetLane(point.first), expected[low][0]);
    EXPECT_DOUBLE_EQ(hn::GetLane(point.second), expected[low][1]);
  }
}

}  // namespace
}  // namespace attnscale
