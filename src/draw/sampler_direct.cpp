#include "draw/draw_block.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "draw/alignment.h"
#include "numerics/normal_kernel.h"

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

}  // namespace

bool can_draw_direct(const Entries& entries) {
  return is_centred_normal(entries.queries) && is_centred_normal(entries.keys);
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
