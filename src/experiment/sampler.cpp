#include "experiment/sampler.h"

#include <algorithm>
#include <array>

#include "experiment/sampler_boost.h"

namespace attnscale {
namespace {

bool any_law(const Entries&) {
  return true;
}

constexpr std::array kSamplers{
    SamplerRow{"boost",
               "draws every entry with Boost.Random, one at a time: to be read and trusted", true,
               7, std::int64_t{1} << 20, std::int64_t{1} << 20, any_law, draw_block_boost},
};

}  // namespace

std::span<const SamplerRow> sampler_table() {
  return kSamplers;
}

const SamplerRow* find_sampler(std::string_view name) {
  for (const SamplerRow& row : kSamplers) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

TileShape tile_shape(std::int64_t keys, std::int64_t lanes) {
  constexpr std::int64_t kScores = 4096;  // 32 KiB: a tile and its logits stay in the first caches
  const std::int64_t queries = std::max(lanes, kScores / keys / lanes * lanes);
  return {queries, std::min(keys, std::max<std::int64_t>(1, kScores / queries))};
}

}  // namespace attnscale
