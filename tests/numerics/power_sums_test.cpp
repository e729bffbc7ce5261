#include "numerics/power_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace attnscale {
namespace {

// Logit of a key and query: no pattern along either.
double logit_of(std::size_t key, std::size_t query) {
  return 5 + std::sin(static_cast<double>(31 * key + 7 * query * query));
}

std::vector<double> tile_of(std::size_t first_key, std::size_t keys, std::size_t queries) {
  const auto stride = static_cast<std::size_t>(padded(static_cast<std::int64_t>(queries)));
  std::vector<double> tile(keys * stride, 1e6);  // padding that would show
  for (std::size_t key = 0; key < keys; ++key) {
    for (std::size_t query = 0; query < queries; ++query) {
      tile[key * stride + query] = logit_of(first_key + key, query);
    }
  }
  return tile;
}

TEST(PowerSums, AreMeansOfPowersAboutTheCentre) {
  for (const int powers : {2, 4}) {
    for (const std::size_t queries : {1U, 7U, 8U, 11U}) {
      PowerSums sums;
      sums.start(static_cast<std::int64_t>(queries), powers);
      sums.add_keys(tile_of(0, 3, queries), 3, {4.5});
      sums.add_keys(tile_of(3, 10, queries), 10, {4.5});
      for (std::size_t query = 0; query < queries; ++query) {
        for (int power = 1; power <= powers; ++power) {
          long double exact = 0;
          for (std::size_t key = 0; key < 13; ++key) {
            exact += std::pow(static_cast<long double>(logit_of(key, query)) - 4.5L, power) / 13;
          }
          // Terms up to 1.5^4, 13 additions, 4 roundings each.
          EXPECT_NEAR(
              sums.mean(static_cast<std::size_t>(power - 1), static_cast<std::int64_t>(query)),
              static_cast<double>(exact), 17 * 0x1p-53 * 5.1);
        }
      }
    }
  }
}

TEST(PowerSums, LoseNothingFarFromZero) {
  // Logits 2^30 + {-1, 1}: the central powers are 1 whatever the centre's size.
  const std::vector<double> tile = [] {
    std::vector<double> logits(2 * kLanes, 0x1p30 + 1);
    logits[0] = 0x1p30 - 1;
    return logits;
  }();
  PowerSums sums;
  sums.start(1, 4);
  sums.add_keys(tile, 2, {0x1p30});
  EXPECT_EQ(sums.mean(0, 0), 0);
  EXPECT_EQ(sums.mean(1, 0), 1);
  EXPECT_EQ(sums.mean(2, 0), 0);
  EXPECT_EQ(sums.mean(3, 0), 1);
}

TEST(PowerSums, StartOverForgetsWhatWasSeen) {
  PowerSums sums;
  sums.start(9, 4);
  sums.add_keys(tile_of(0, 5, 9), 5, {});
  sums.start(2, 2);
  sums.add_keys(std::vector<double>(kLanes, 3), 1, {1});
  EXPECT_EQ(sums.mean(0, 1), 2);
  EXPECT_EQ(sums.mean(1, 1), 4);
}

// Fourth powers of 1e-200 are 0, and of 1e200 infinite.
TEST(PowerSums, OfAnySizeAreThoseOfOrdinaryLogitsInAnotherUnit) {
  const std::vector<double> ordinary = tile_of(0, 3, 4);
  PowerSums expected;
  expected.start(4, 4);
  expected.add_keys(ordinary, 3, {5});
  for (const double size : {0x1p-700, 0x1p700}) {
    std::vector<double> tile = ordinary;
    for (double& logit : tile) logit *= size;
    PowerSums sums;
    sums.start(4, 4);
    sums.add_keys(tile, 3, {5 * size, size});
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(sums.mean(k, 3), expected.mean(k, 3));
  }
}

}  // namespace
}  // namespace attnscale
