#include "numerics/score_panel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "numerics/vector_target.h"

namespace attnscale {
namespace {

// Numbers of many sizes and both signs, by a small congruence.
std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  std::vector<double> made;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    made.push_back(
        std::ldexp(static_cast<double>(seed >> 11) * 0x1p-53 - 0.5, static_cast<int>(seed % 7)));
  }
  return made;
}

// Whatever the width of the machine's vectors: fused, in the order of the components.
TEST(ScorePanel, IsTheFusedSumInTheOrderOfComponents) {
  for (const std::size_t d : {1, 2, 19, 128}) {
    const std::vector<double> queries = numbers(d * kBlockQueries, 1);
    const std::vector<double> keys = numbers(d * kPanelKeys, 2);
    const std::size_t stride = kPanelKeys + 3;
    std::vector<double> scores(kBlockQueries * stride, -7);
    score_panel(queries, keys, scores.data(), stride);
    for (std::size_t query = 0; query < kBlockQueries; ++query) {
      for (std::size_t key = 0; key < kPanelKeys; ++key) {
        double fused = 0;
        for (std::size_t i = 0; i < d; ++i) {
          fused = std::fma(queries[i * kBlockQueries + query], keys[i * kPanelKeys + key], fused);
        }
        const double found = scores[query * stride + key];
        if (vector_target_keeps_bytes()) {
          EXPECT_EQ(found, fused) << query << " " << key;
        }
        EXPECT_NEAR(found, fused, 1e-12 * static_cast<double>(d) * 4096);
      }
      for (std::size_t key = kPanelKeys; key < stride; ++key) {
        EXPECT_EQ(scores[query * stride + key], -7) << "written beyond the panel";
      }
    }
  }
}

}  // namespace
}  // namespace attnscale
