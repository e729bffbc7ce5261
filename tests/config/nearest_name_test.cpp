#include "config/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

#include <array>

namespace attnscale {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"d", "keys", "queries", "top_weight",
                                                    "entropy"};

TEST(NearestName, CountsEditsByHand) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);  // two replaced, one added
  EXPECT_EQ(edit_distance("wieght", "weight"), 1U);   // neighbours swapped
  EXPECT_EQ(edit_distance("Keys", "keys"), 0U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // optimal string alignment edits no letter twice
}

TEST(NearestName, FindsWhatWasMeant) {
  EXPECT_EQ(nearest_name("top_wieght", kNames), "top_weight");
  EXPECT_EQ(nearest_name("querys", kNames), "queries");
  EXPECT_EQ(nearest_name("D", kNames), "d");
  const std::vector<std::string_view> presets{"gemma4", "gemma2_27b"};
  EXPECT_EQ(nearest_name("gemma2", presets), "gemma2_27b");  // not gemma4, a letter away
  EXPECT_EQ(nearest_name("key", kNames), "keys");
  const std::vector<std::string_view> steps{"product_sum", "product", "logit"};
  EXPECT_EQ(nearest_name("prod", steps), "product");  // of which the other is an extension
  EXPECT_EQ(nearest_name("prod", std::vector<std::string_view>{"product", "prodigy"}),
            std::nullopt);
}

TEST(NearestName, FindsANameByItsParts) {
  const std::vector<std::string_view> scalings{"none", "div_sqrt_d_twice", "div_sqrt_d", "mup"};
  EXPECT_EQ(nearest_name("sqrt_d", scalings), "div_sqrt_d");  // the shorter of two
  EXPECT_EQ(nearest_name("sqrt", scalings), "div_sqrt_d");
  EXPECT_EQ(nearest_name("top", kNames), "top_weight");
  const std::vector<std::string_view> metrics{"top_weight", "wrong_top"};
  EXPECT_EQ(nearest_name("top", metrics), "top_weight");  // the first of two
  EXPECT_EQ(nearest_name("weight", kNames), "top_weight");
  EXPECT_EQ(nearest_name("qrt_d", scalings), std::nullopt);  // no whole part
}

TEST(NearestName, DoesNotGuessWildly) {
  EXPECT_EQ(nearest_name("x", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("temperature", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("kezz", kNames), std::nullopt) << "half of the letters are wrong";
  EXPECT_EQ(nearest_name("keys", {}), std::nullopt);
}

TEST(NearestName, SaysItInOneSentence) {
  EXPECT_EQ(unknown_name("key", "kyes", kNames),
            "unknown key \"kyes\"; did you mean \"keys\"? Allowed: d, keys, queries, top_weight, "
            "entropy");
  EXPECT_EQ(unknown_name("key", "zzz", kNames),
            "unknown key \"zzz\". Allowed: d, keys, queries, top_weight, entropy");
}

}  // namespace
}  // namespace attnscale
