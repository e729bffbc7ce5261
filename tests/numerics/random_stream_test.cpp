#include "numerics/random_stream.h"

#include <Random123/threefry.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace attnscale {
namespace {

using Block = std::array<std::uint64_t, 4>;
constexpr BlockAddress kAddress{17, 0xfeedfacecafebeefU, 4};

// The lines "threefry4x64 20" of kat_vectors in Random123 1.14: counter, key, words.
struct PublishedVector {
  Block counter;
  Block key;
  Block words;
};
constexpr std::uint64_t kOnes = ~std::uint64_t{0};
constexpr std::array kPublished{
    PublishedVector{
        {0, 0, 0, 0},
        {0, 0, 0, 0},
        {0x09218ebde6c85537, 0x55941f5266d86105, 0x4bd25e16282434dc, 0xee29ec846bd2e40b}},
    PublishedVector{
        {kOnes, kOnes, kOnes, kOnes},
        {kOnes, kOnes, kOnes, kOnes},
        {0x29c24097942bba1b, 0x0371bbfb0f6f4e11, 0x3c231ffa33f83a1c, 0xcd29113fde32d168}},
    PublishedVector{
        {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
        {0x452821e638d01377, 0xbe5466cf34e90c6c, 0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd},
        {0xa7e8fde591651bd9, 0xbaafd0c30138319b, 0x84a5c1a729e685b9, 0x901d406ccebc1ba4}}};

Block random123_words(const Block& counter, const Block& key) {
  const auto words = r123::Threefry4x64()({{counter[0], counter[1], counter[2], counter[3]}},
                                          {{key[0], key[1], key[2], key[3]}});
  return {words[0], words[1], words[2], words[3]};
}

std::vector<std::uint64_t> words_of(RandomStream stream, std::size_t count) {
  std::vector<std::uint64_t> words(count);
  for (std::uint64_t& word : words) word = stream();
  return words;
}

TEST(RandomStream, InstalledGeneratorGivesThePublishedWords) {
  for (const PublishedVector& published : kPublished) {
    EXPECT_EQ(random123_words(published.counter, published.key), published.words);
  }
}

TEST(RandomStream, BeginsWithThePublishedWordsOfTheZeroAddress) {
  RandomStream stream({0, 0, 0}, StreamPurpose::kEntries);
  for (const std::uint64_t word : kPublished[0].words) EXPECT_EQ(stream(), word);
}

TEST(RandomStream, CountsFromZeroUnderTheKeyOfItsAddress) {
  RandomStream stream(kAddress, StreamPurpose::kKeyNorms);
  for (std::uint64_t call = 0; call < 5; ++call) {
    for (const std::uint64_t word : random123_words(
             {call, 0, 0, 0}, {kAddress.seed, kAddress.cell, kAddress.block, std::uint64_t{3}})) {
      EXPECT_EQ(stream(), word);
    }
  }
}

std::vector<RandomStream> neighbours() {
  const auto at = [](BlockAddress address) {
    return RandomStream(address, StreamPurpose::kEntries);
  };
  const auto [seed, cell, block] = kAddress;
  return {at({seed + 1, cell, block}),
          at({seed ^ std::uint64_t{1} << 32, cell, block}),
          at({seed ^ std::uint64_t{1} << 52, cell, block}),
          at({seed, cell + 1, block}),
          at({seed, cell, block + 1}),
          at({seed + 1, cell, block - 1}),
          at({cell, seed, block}),
          RandomStream(kAddress, StreamPurpose::kScores)};
}

// Correlation of n uniforms: sqrt(n) r is standard normal. Bits that agree: binomial. Each within 5
// standard deviations: false alarm 16 * 6e-7 = 1e-5 for other streams; the streams are fixed.
TEST(RandomStream, NeighbouringAddressesAreUncorrelated) {
  constexpr std::size_t kWords = 20000;
  const auto words = words_of(RandomStream(kAddress, StreamPurpose::kEntries), kWords);
  for (const RandomStream& neighbour : neighbours()) {
    const auto others = words_of(neighbour, kWords);
    double product = 0;
    double agreeing = 0;
    for (std::size_t i = 0; i < kWords; ++i) {
      const auto uniform = [](std::uint64_t word) {
        return std::ldexp(static_cast<double>(word), -64) - 0.5;
      };
      product += 12 * uniform(words[i]) * uniform(others[i]);
      agreeing += std::popcount(~(words[i] ^ others[i]));
    }
    EXPECT_LT(std::abs(product) / std::sqrt(static_cast<double>(kWords)), 5);
    EXPECT_LT(std::abs(agreeing - 32.0 * kWords) / std::sqrt(16.0 * kWords), 5);
  }
}

TEST(RandomStream, NeighbouringAddressesShareNoWord) {
  // Chance of any common word of 9 streams of 2000: (18000^2 / 2) / 2^64 = 9e-12.
  const auto first = words_of(RandomStream(kAddress, StreamPurpose::kEntries), 2000);
  std::set<std::uint64_t> seen(first.begin(), first.end());
  for (const RandomStream& neighbour : neighbours()) {
    for (const std::uint64_t word : words_of(neighbour, 2000)) {
      EXPECT_TRUE(seen.insert(word).second);
    }
  }
}

TEST(HashText, IsFnv1a) {
  // From the list of test cases published with the FNV hash.
  EXPECT_EQ(hash_text(""), 0xcbf29ce484222325U);
  EXPECT_EQ(hash_text("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(hash_text("foobar"), 0x85944171f73967e8U);
}

}  // namespace
}  // namespace attnscale
