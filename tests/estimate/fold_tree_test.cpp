#include "estimate/tally.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

namespace attnscale {
namespace {

// Moments of one block, with values that round at every merge.
CellMoments block_moments(std::int64_t block) {
  const auto x = static_cast<double>(block);
  const std::vector<double> values{1 / (x + 3), 1 / (x + 7), x / 3};
  const std::vector<std::span<const double>> columns{values};
  return {moments_of(columns)};
}

std::vector<std::int64_t> numbers_below(std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(FoldTree, AnyOrderOfBlocksGivesTheSameBits) {
  std::mt19937_64 shuffler(1);
  for (const std::int64_t blocks : {1, 2, 3, 7, 8, 13, 64, 100}) {
    FoldTree in_order;
    for (const std::int64_t block : numbers_below(blocks)) {
      in_order.add({0, block}, block_moments(block));
    }
    for (int repeat = 0; repeat < 20; ++repeat) {
      auto order = numbers_below(blocks);
      std::shuffle(order.begin(), order.end(), shuffler);
      FoldTree shuffled;
      for (const std::int64_t block : order) shuffled.add({0, block}, block_moments(block));
      EXPECT_EQ(shuffled, in_order) << blocks << " blocks";
      EXPECT_EQ(shuffled.fold(), in_order.fold()) << blocks << " blocks";
    }
  }
}

TEST(FoldTree, FoldsThreeBlocksAsThePairAndThenTheLast) {
  // Of numbers whose merges tell the order.
  const auto moments = [](std::int64_t block) { return block_moments(1 + 4 * block); };
  const CellMoments pair = merge(moments(0), moments(1));
  const CellMoments whole = merge(pair, moments(2));
  ASSERT_NE(pair, merge(moments(1), moments(0)));
  ASSERT_NE(whole, merge(moments(2), pair));
  FoldTree tree;
  for (const std::int64_t block : {1, 0}) tree.add({0, block}, moments(block));
  EXPECT_EQ(tree.fold(), pair);
  tree.add({0, 2}, moments(2));
  EXPECT_EQ(tree.fold(), whole);
}

TEST(FoldTree, KeepsOneNodeForEachBinaryDigitOfAFullPrefix) {
  FoldTree tree;
  for (std::int64_t block = 0; block < 1000; ++block) {
    tree.add({0, block}, block_moments(block));
    EXPECT_EQ(tree.pending().size(), std::popcount(static_cast<std::uint64_t>(block + 1)));
  }
}

}  // namespace
}  // namespace attnscale
