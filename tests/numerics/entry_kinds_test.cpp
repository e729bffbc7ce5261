// The ends of each kind of entry, which no reachable counter is known to hit: the kernel's inner
// functions on words made for the purpose, compiled for the baseline.
#include <gtest/gtest.h>

#include <cmath>

#include "numerics/vector_targets.h"
//
#include "numerics/entry_kinds-inl.h"

namespace attnscale {
namespace {

namespace kernel = HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint64_t kOnes = ~std::uint64_t{0};

kernel::Words word_of(std::uint64_t word) {
  return hn::Set(kernel::WordLanes(), word);
}

kernel::Doubles doubles_of(double x) {
  return hn::Set(kernel::DoubleLanes(), x);
}

double normal_of_tail(double outside) {
  return hn::GetLane(kernel::normal_within(doubles_of(1 - outside), doubles_of(outside)));
}

// The distribution function's own tail, erfc, at what its inverse gives. A relative error e of z
// moves it by the share (1 + z^2) e at most: e is 4 units of 2^-53 in the middle, and beyond 2.77
// the 2^-48 that the header promises and as much of rounding.
TEST(NormalWithin, InvertsTheNormalLawsTails) {
  for (double outside = 0.999; outside > 0x1p-64; outside *= 0.93) {
    const double z = normal_of_tail(outside);
    const double tolerance = (z < 2.77 ? 0x1p-51 : 0x1p-47) * (1 + z * z);
    EXPECT_NEAR(std::erfc(z / std::sqrt(2.0)) / outside, 1, tolerance) << outside;
  }
  EXPECT_EQ(normal_of_tail(1), 0);
  EXPECT_NEAR(normal_of_tail(0x1p-64), 9.16, 0.01);
}

// Near 0, z = inside sqrt(pi / 2) (1 + pi inside^2 / 12 ...).
TEST(NormalWithin, IsExactNearZero) {
  const double inside = 1e-9;
  EXPECT_DOUBLE_EQ(hn::GetLane(kernel::normal_within(doubles_of(inside), doubles_of(1 - inside))),
                   inside * std::sqrt(std::acos(-1.0) / 2));
}

TEST(ExponentialOfPositive, IsThatOfTheLibraryWithoutItsOne) {
  for (double x = 1e-12; x < 700; x *= 1.37) {
    const double expected = std::expm1(x);
    EXPECT_NEAR(hn::GetLane(kernel::expm1_of_positive(doubles_of(x))), expected,
                0x1p-50 * expected);
  }
  EXPECT_EQ(hn::GetLane(kernel::expm1_of_positive(doubles_of(0))), 0);
}

TEST(UnitOf, LeavesOutBothEnds) {
  EXPECT_EQ(hn::GetLane(kernel::unit_of(word_of(0))), 0x1p-53);
  EXPECT_EQ(hn::GetLane(kernel::unit_of(word_of(kOnes))), 1 - 0x1p-53);
}

// -2 ln of 2^-64, and of the largest one, which rounds to 1.
TEST(TailOf, ReachesFarAndFallsToZero) {
  const auto size_of = [](std::uint64_t word) {
    return hn::GetLane(kernel::minus_two_log<63>(kernel::tail_of(word_of(word))));
  };
  EXPECT_DOUBLE_EQ(size_of(0), 128 * std::log(2.0));
  EXPECT_EQ(size_of(1), size_of(0)) << "the lowest bit is the sign's alone";
  EXPECT_EQ(size_of(kOnes), 0);
}

TEST(SignedBy, TakesTheLowestBit) {
  EXPECT_EQ(hn::GetLane(kernel::signed_by(word_of(6), doubles_of(3))), 3);
  EXPECT_EQ(hn::GetLane(kernel::signed_by(word_of(7), doubles_of(3))), -3);
}

}  // namespace
}  // namespace attnscale
