#include "draw/draw_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "draw/alignment.h"
#include "numerics/normal_kernel.h"
#include "numerics/vector_clones.h"

namespace attnscale {
namespace {

// Squared norms of a tile's keys, given their scores, as the header says.
void draw_squared_key_norms(const Draw& draw, const BlockAddress& address, const TileBuffer& tile) {
  const std::span<double> squared_norms = tile.squared_key_norms;
  if (draw.d == 1) {
    std::ranges::fill(squared_norms, 0.0);
  } else {
    draw_chi_squared_of_keys(stream_key(address, StreamPurpose::kKeyNorms), tile.first_query,
                             tile.first_key, tile.keys, draw.d - 1, squared_norms);
  }
  const Entries& entries = draw.entries;
  const std::int64_t aligned = entries.alignment == 0 ? 0 : aligned_of(entries, draw.keys);
  const double kept = kept_share(entries.alignment);
  const std::size_t stride = tile.squared_query_norms.size();
  for (std::int64_t key = 0; key < tile.keys; ++key) {
    const double sd = tile.first_key + key < aligned ? kept * entries.keys.sd : entries.keys.sd;
    const std::size_t start = static_cast<std::size_t>(key) * stride;
    for (std::size_t query = 0; query < stride; ++query) {
      squared_norms[start + query] =
          sd * sd * squared_norms[start + query] +
          squared_part_along(tile.scores[start + query], tile.squared_query_norms[query]);
    }
  }
}

bool is_fair_sign(const Law& law) {
  return law.row == find_law("rademacher") && law.mean == 0 && !law.is_clipped();
}

// Scores of four keys or fewer, of eight queries each: of its d bits, ones less zeros.
ATTNSCALE_VECTOR_CLONES
void add_up_signs(std::span<const std::uint64_t> words, std::int64_t d, double sd,
                  const TileBuffer& tile) {
  constexpr std::int64_t kBits = 64;
  const std::int64_t words_of_score = (d + kBits - 1) / kBits;
  const std::uint64_t bits_of_last = ~std::uint64_t{0} >> (words_of_score * kBits - d);
  auto word = words.begin();
  for (std::int64_t key = 0; key < tile.keys; ++key) {
    std::array<std::int64_t, kLanes> ones{};
    for (std::int64_t w = 1; w <= words_of_score; ++w) {
      const std::uint64_t mask = w == words_of_score ? bits_of_last : ~std::uint64_t{0};
      for (std::int64_t& count : ones) count += std::popcount(*word++ & mask);
    }
    double* const scores = tile.scores.data() + key * tile.stride;
    for (std::size_t query = 0; query < ones.size(); ++query) {
      scores[query] = sd * static_cast<double>(2 * ones[query] - d);
    }
  }
}

// Whole calls of the generator: four keys, of a word for every 64 bits.
void draw_signed_scores(const Draw& draw, const StreamKey& key, const TileBuffer& tile) {
  constexpr std::int64_t kKeys = 4;
  const std::int64_t words_of_score = (draw.d + 63) / 64;
  std::vector<std::uint64_t> words(static_cast<std::size_t>(kKeys * words_of_score * kLanes));
  for (std::int64_t query = 0; query < tile.stride; query += kLanes) {
    for (std::int64_t first = 0; first < tile.keys; first += kKeys) {
      const auto call = (tile.first_key + first) / kKeys * words_of_score;
      draw_words(key,
                 {static_cast<std::uint64_t>(call),
                  static_cast<std::uint64_t>(tile.first_query + query), 0, 0},
                 words);
      TileBuffer part = tile;
      part.keys = std::min(kKeys, tile.keys - first);
      part.scores = tile.scores.subspan(static_cast<std::size_t>(first * tile.stride + query));
      add_up_signs(words, draw.d, draw.entries.queries.sd * draw.entries.keys.sd, part);
    }
  }
  const auto squared_norm = [&](const Law& law) {
    return static_cast<double>(draw.d) * law.sd * law.sd;
  };
  std::ranges::fill(tile.squared_query_norms, squared_norm(draw.entries.queries));
  std::ranges::fill(tile.squared_key_norms, squared_norm(draw.entries.keys));
}

}  // namespace

bool can_draw_direct(const Entries& entries) {
  return is_centred_normal(entries) || (entries.blocks.empty() && is_fair_sign(entries.queries) &&
                                        is_fair_sign(entries.keys) && entries.alignment == 0);
}

void draw_squared_query_norms(const Draw& draw, const BlockAddress& address,
                              std::int64_t first_query, std::span<double> squared_norms) {
  draw_chi_squared(stream_key(address, StreamPurpose::kQueryNorms), first_query, draw.d,
                   squared_norms);
  const double variance = draw.entries.queries.sd * draw.entries.queries.sd;
  for (double& squared_norm : squared_norms) squared_norm *= variance;
}

void draw_block_direct(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                       const TileSink& sink) {
  const StreamKey words = stream_key(address, StreamPurpose::kScores);
  if (is_fair_sign(draw.entries.keys)) {
    for_each_tile(draw, queries, tile_shape(draw.keys, kLanes), sink,
                  [&](const TileBuffer& tile) { draw_signed_scores(draw, words, tile); });
    return;
  }
  const bool aligns = draw.entries.alignment != 0;
  const bool gives_norms = draw.norms != NormRequest::kNone;
  std::vector<double> score_sds;  // of each query, as the shifts are
  std::vector<double> shifts;
  for_each_tile(draw, queries, tile_shape(draw.keys, kLanes), sink, [&](const TileBuffer& tile) {
    if (tile.first_key == 0) {
      score_sds.resize(static_cast<std::size_t>(tile.stride));
      draw_squared_query_norms(draw, address, tile.first_query, score_sds);
      if (gives_norms) std::ranges::copy(score_sds, tile.squared_query_norms.begin());
      if (aligns) {
        shifts = score_sds;
        for (double& shift : shifts) shift = alignment_shift(draw.entries, shift);
      }
      for (double& sd : score_sds) sd = std::sqrt(sd) * draw.entries.keys.sd;
    }
    draw_scaled_normals(words, tile.first_query, tile.first_key, score_sds, tile.scores);
    if (aligns) align_scores(draw.entries, shifts, tile);
    if (gives_norms) draw_squared_key_norms(draw, address, tile);
  });
}

}  // namespace attnscale
