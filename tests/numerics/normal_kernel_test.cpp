// What the kernels compute: published words, bytes, accuracy, addresses. Their statistics are in
// normal_statistics_test.cpp.
#include "numerics/normal_kernel.h"

#include <Random123/threefry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "numerics/entry_kernel.h"
#include "support/forced_target.h"

namespace attnscale {
namespace {

using ::testing::ElementsAreArray;
using Counter = std::array<std::uint64_t, 4>;

constexpr auto kWidth = static_cast<std::size_t>(kLanes);
constexpr StreamKey kKey{11, 0xfeedfacecafebeefU, 5, 0};

std::vector<double> entries_of(std::int64_t first_query, std::int64_t vector, std::int64_t d,
                               std::int64_t stride, EntryShape shape = {}) {
  std::vector<double> entries(static_cast<std::size_t>(entry_rows(d) * stride));
  draw_entries(kKey, first_query, vector, shape, d, entries);
  return entries;
}

// The lines "threefry4x64 13" of kat_vectors in Random123 1.14: counter, key, words.
struct PublishedVector {
  Counter counter;
  StreamKey key;
  Counter words;
};
constexpr std::uint64_t kOnes = ~std::uint64_t{0};
constexpr std::array kPublished{
    PublishedVector{
        {0, 0, 0, 0},
        {0, 0, 0, 0},
        {0x4071fabee1dc8e05, 0x02ed3113695c9c62, 0x397311b5b89f9d49, 0xe21292c3258024bc}},
    PublishedVector{
        {kOnes, kOnes, kOnes, kOnes},
        {kOnes, kOnes, kOnes, kOnes},
        {0x7eaed935479722b5, 0x90994358c429f31c, 0x496381083e07a75b, 0x627ed0d746821121}},
    PublishedVector{
        {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
        {0x452821e638d01377, 0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd, 0x3f84d5b5b5470917},
        {0x4361288ef9c1900c, 0x8717291521782833, 0x0d19db18c20cf47e, 0xa0b41d63ac8581e5}}};

TEST(Threefry, GivesThePublishedWordsInEveryLane) {
  for (const PublishedVector& published : kPublished) {
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      Counter first = published.counter;
      first[1] -= lane;  // the lane's number is added to the counter's query
      std::array<std::uint64_t, 4 * kWidth> words{};
      draw_words(published.key, first, words);
      const Counter of_lane{words[lane], words[kWidth + lane], words[2 * kWidth + lane],
                            words[3 * kWidth + lane]};
      EXPECT_EQ(of_lane, published.words) << "lane " << lane;
    }
  }
}

TEST(Threefry, FollowsRandom123ThroughCallsQueriesVectorsAndAttempts) {
  const Counter first{1000, kOnes - 3, 77, 2};  // the query wraps around within the lanes
  std::vector<std::uint64_t> words(12 * kWidth);
  draw_words(kKey, first, words);
  r123::Threefry4x64_R<13> random123;
  for (std::size_t call = 0; call < 3; ++call) {
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      const auto expected = random123({{first[0] + call, first[1] + lane, first[2], first[3]}},
                                      {{kKey[0], kKey[1], kKey[2], kKey[3]}});
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(words[(4 * call + i) * kWidth + lane], expected[i]);
      }
    }
  }
}

// A shape of every kind, with numbers that reach each of its branches.
const std::vector<EntryShape>& shapes() {
  using enum EntryKind;
  static const std::vector<EntryShape> all{{-0.25, 0.75, kNormal, {}},
                                           {-0.25, 0.75, kUniform, {}},
                                           {-0.25, 0.75, kExponential, {}},
                                           {-0.25, 0.75, kLogistic, {}},
                                           {-0.25, 0.75, kStudentT, {0.4}},
                                           {-0.25, 0.75, kTruncatedNormal, {8, 1, 1e-15}},
                                           {-0.25, 0.75, kMixedNormal, {0.1, 5, 1}},
                                           {-0.25, 0.75, kSigned, {0.5}}};
  return all;
}

// Everything the kernels draw, at sizes that leave calls and blocks incomplete.
std::vector<double> draw_everything() {
  std::vector<double> all;
  const auto keep = [&](const std::vector<double>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  for (const std::int64_t d : {1, 2, 3, 5, 17, 259, 1024}) {
    const std::vector<double> entries = entries_of(3, 0, d, 24, {0.5, 2});
    keep(entries);
    std::vector<double> scores(3 * 24);
    std::vector<double> squared_norms(scores.size());
    for (const EntryShape& shape : shapes()) {
      keep(entries_of(3, 0, d, 24, shape));
      score_drawn_keys(kKey, 3, 1, 3, shape,
                       {d, entries, 24, scores.data(), 24, squared_norms.data()});
      keep(scores);
      keep(squared_norms);
    }
    std::vector<double> squares(4096);
    draw_chi_squared(kKey, 9, d, squares);
    keep(squares);
    std::vector<double> squares_of_keys(5 * 24);
    draw_chi_squared_of_keys(kKey, 9, 3, 5, d, squares_of_keys);
    keep(squares_of_keys);
    std::vector<double> scaled(static_cast<std::size_t>(d) * 16);
    draw_scaled_normals(kKey, 0, 8, std::span(squares).first(16), scaled);
    keep(scaled);
  }
  return all;
}

TEST(NormalKernel, GivesTheSameBytesOnEveryInstructionSet) {
  const std::vector<double> chosen_by_itself = draw_everything();
  for (const std::int64_t target : targets_with_same_bytes()) {
    const ForcedTarget forced(target);
    const std::vector<double> all = draw_everything();
    ASSERT_EQ(all.size(), chosen_by_itself.size());
    EXPECT_EQ(std::memcmp(all.data(), chosen_by_itself.data(), all.size() * sizeof(double)), 0)
        << hwy::TargetName(target);
  }
}

TEST(NormalKernel, RunsOnTheBaselineWithinRounding) {
  // Without fused multiply-add every step of the polynomials rounds twice: a few units more.
  const std::vector<double> expected = entries_of(0, 0, 1000, 16);
  const ForcedTarget forced(HWY_STATIC_TARGET);
  const std::vector<double> baseline = entries_of(0, 0, 1000, 16);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(baseline[i], expected[i], 16 * 0x1p-52 * std::abs(expected[i])) << i;
  }
}

TEST(NormalKernel, NormalsAreBoxMullerOfTheWordsToEightRoundings) {
  // Errors, in units of 2^-53: logarithm 4 and halved by the root, root and radius 1 each, angle's
  // polynomial 4, product 1: below 8 in all. Long double supplies 64 bits.
  constexpr std::int64_t kD = 40000;
  std::vector<std::uint64_t> words(kD * kWidth);
  draw_words(kKey, {0, 0, 0, 0}, words);
  const std::vector<double> normals = entries_of(0, 0, kD, kLanes);
  long double largest = 0;
  for (std::size_t pair = 0; pair < kD / 2; ++pair) {
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      const std::uint64_t radius_word = words[2 * pair * kWidth + lane];
      const std::uint64_t angle_word = words[(2 * pair + 1) * kWidth + lane];
      // u is rounded to double by definition; everything after it is exact here.
      const long double u = static_cast<double>(radius_word) * 0x1p-64;
      const long double radius = std::sqrt(-2 * std::log(u));
      const long double t = static_cast<long double>(angle_word >> 12) * 0x1p-52L - 0.5L;
      const long double angle = t * std::numbers::pi_v<long double> / 2;
      const long double cosine = (angle_word & 1) != 0 ? -std::cos(angle) : std::cos(angle);
      const bool swap = (angle_word & 2) != 0;
      const long double first = radius * (swap ? std::sin(angle) : cosine);
      const long double second = radius * (swap ? cosine : std::sin(angle));
      const auto miss = [](double x, long double exact) { return std::abs((x - exact) / exact); };
      largest = std::max({largest, miss(normals[2 * pair * kWidth + lane], first),
                          miss(normals[(2 * pair + 1) * kWidth + lane], second)});
    }
  }
  EXPECT_LT(largest, 8 * 0x1p-53L);
}

TEST(NormalKernel, NumbersDependOnTheirAddressAlone) {
  const std::vector<double> wide = entries_of(0, 2, 7, 24);
  const std::vector<double> narrow = entries_of(8, 2, 5, 8);  // fewer queries, fewer entries
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_THAT(std::span(narrow).subspan(i * 8, 8),
                ElementsAreArray(std::span(wide).subspan(i * 24 + 8, 8)));
  }
  const std::vector<double> sds(16, 1.5);
  std::vector<double> all_keys(20 * 16);
  std::vector<double> last_keys(8 * 16);
  draw_scaled_normals(kKey, 0, 0, sds, all_keys);
  draw_scaled_normals(kKey, 0, 12, sds, last_keys);
  EXPECT_THAT(last_keys, ElementsAreArray(std::span(all_keys).subspan(12 * 16)));
  for (const std::int64_t degrees : {1, 2, 7}) {
    std::vector<double> of_key_0(16);
    draw_chi_squared(kKey, 0, degrees, of_key_0);
    draw_chi_squared_of_keys(kKey, 0, 0, 20, degrees, all_keys);
    draw_chi_squared_of_keys(kKey, 0, 12, 8, degrees, last_keys);
    EXPECT_THAT(of_key_0, ElementsAreArray(std::span(all_keys).first(16)));
    EXPECT_THAT(last_keys, ElementsAreArray(std::span(all_keys).subspan(12 * 16)));
    std::ranges::sort(all_keys);
    EXPECT_EQ(std::ranges::adjacent_find(all_keys), all_keys.end()) << "two keys share a number";
  }
}

TEST(NormalKernel, LongDotProductsAndNormsLoseNoAccuracy) {
  // Means of 1 make all partial sums large. The bound of score_drawn_keys holds always. With 256
  // blocks the errors inside them average out to about 0.3 u of the score, and the last rounding
  // adds at most 1: 3 u leave room. Without the compensation it would be 4 u of standard deviation.
  constexpr std::int64_t kLong = 65536;
  for (const std::int64_t d : {std::int64_t{3}, std::int64_t{1000}, kLong}) {
    const EntryShape shape{1, 2};
    const std::vector<double> query = entries_of(0, 0, d, kLanes, shape);
    const std::vector<double> key = entries_of(0, 1 + 6, d, kLanes, shape);
    std::vector<double> scores(kWidth);
    std::vector<double> squared_norms(kWidth);
    score_drawn_keys(kKey, 0, 6, 1, shape,
                     {d, query, kLanes, scores.data(), kLanes, squared_norms.data()});
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      long double exact = 0;
      long double magnitude = 0;
      long double squared_norm = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(d); ++i) {
        const long double term = static_cast<long double>(query[i * kWidth + lane]) *
                                 static_cast<long double>(key[i * kWidth + lane]);
        exact += term;
        magnitude += std::abs(term);
        const long double entry = key[i * kWidth + lane];
        squared_norm += entry * entry;
      }
      const long double u = 0x1p-53L;
      const long double error = std::abs(scores[lane] - exact);
      const long double norm_error = std::abs(squared_norms[lane] - squared_norm);
      EXPECT_LT(error, u * (67 * magnitude + 2 * std::abs(exact))) << "d = " << d;
      EXPECT_LT(norm_error, 69 * u * squared_norm) << "d = " << d;
      if (d == kLong) {
        EXPECT_LT(error, 3 * u * std::abs(exact));
        EXPECT_LT(norm_error, 3 * u * squared_norm);
      }
    }
  }
}

TEST(NormalKernel, RowsPastDAreZero) {
  const std::vector<double> entries = entries_of(0, 0, 5, kLanes);
  EXPECT_THAT(std::span(entries).subspan(5 * kWidth), ::testing::Each(0.0));
  EXPECT_THAT(std::span(entries).first(5 * kWidth), ::testing::Each(::testing::Ne(0.0)));
}

}  // namespace
}  // namespace attnscale
