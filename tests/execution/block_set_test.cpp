#include "execution/block_set.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace attnscale {
namespace {

TEST(BlockSet, TouchingRangesBecomeOne) {
  BlockSet set;
  set.add({4, 6});
  set.add({0, 2});
  set.add({8, 9});
  EXPECT_EQ(set.ranges().size(), 3U);
  set.add({2, 4});
  EXPECT_EQ(set.ranges(), (std::vector<BlockRange>{{0, 6}, {8, 9}}));
  set.add({6, 8});
  EXPECT_EQ(set.ranges(), (std::vector<BlockRange>{{0, 9}}));
  set.add({3, 3});
  EXPECT_EQ(set.size(), 9);
}

// The same questions asked of one bit per block.
TEST(BlockSet, AgreesWithOneBitPerBlock) {
  constexpr std::int64_t kBlocks = 40;
  std::mt19937_64 words(1);
  const auto random_range = [&words] {
    const auto first = static_cast<std::int64_t>(words() % kBlocks);
    return BlockRange{first, first + static_cast<std::int64_t>(words() % 9)};
  };
  for (int repeat = 0; repeat < 500; ++repeat) {
    BlockSet a, b;
    std::vector<bool> bits_a(kBlocks + 10), bits_b(kBlocks + 10);
    const auto add = [](BlockRange range, BlockSet& set, std::vector<bool>& bits) {
      set.add(range);
      for (auto i = range.first; i < range.last; ++i) bits[static_cast<std::size_t>(i)] = true;
    };
    for (int i = 0; i < 5; ++i) add(random_range(), a, bits_a);
    for (int i = 0; i < 3; ++i) add(random_range(), b, bits_b);
    const BlockRange asked = random_range();
    for (std::int64_t i = 0; i < kBlocks + 9; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const BlockRange one{i, i + 1};
      const bool is_asked = i >= asked.first && i < asked.last;
      ASSERT_EQ(a.contains(one), bits_a[place]);
      ASSERT_EQ(a.common_with(b).contains(one), bits_a[place] && bits_b[place]);
      ASSERT_EQ(a.missing_from(asked).contains(one), is_asked && !bits_a[place]);
    }
  }
}

}  // namespace
}  // namespace attnscale
