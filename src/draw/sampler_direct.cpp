#include "draw/sampler_direct.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "draw/alignment.h"
#include "numerics/normal_kernel.h"

namespace attnscale {
namespace {

// Squared norms of a tile's keys, given their scores, as the header says.
void draw_squared_key_norms(const Draw& draw, const BlockAddress& address, const ScoreTile& tile,
                            std::span<double> squared_norms) {
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
    const std::size_t row = static_cast<std::size_t>(key) * stride;
    for (std::size_t query = 0; query < stride; ++query) {
      squared_norms[row + query] =
          sd * sd * squared_norms[row + query] +
          squared_part_along(tile.scores[row + query], tile.squared_query_norms[query]);
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
  const TileShape shape = tile_shape(draw.keys, kLanes);
  std::vector<double> score_sds(static_cast<std::size_t>(padded(std::min(shape.queries, queries))));
  std::vector<double> scores(score_sds.size() * static_cast<std::size_t>(shape.keys));
  const bool aligns = draw.entries.alignment != 0;
  std::vector<double> shifts;
  const bool gives_norms = draw.norms == NormRequest::kSquaredNorms;
  std::vector<double> squared_query_norms;
  std::vector<double> squared_key_norms(gives_norms ? scores.size() : 0);

  for (std::int64_t first_query = 0; first_query < queries; first_query += shape.queries) {
    const std::int64_t group = std::min(shape.queries, queries - first_query);
    const std::span<double> sds =
        std::span(score_sds).first(static_cast<std::size_t>(padded(group)));
    draw_squared_query_norms(draw, address, first_query, sds);
    if (gives_norms) squared_query_norms.assign(sds.begin(), sds.end());
    if (aligns) {
      shifts.assign(sds.begin(), sds.end());
      for (double& shift : shifts) shift = alignment_shift(draw.entries, shift);
    }
    for (double& sd : sds) sd = std::sqrt(sd) * draw.entries.keys.sd;

    for (std::int64_t first_key = 0; first_key < draw.keys; first_key += shape.keys) {
      const std::int64_t keys = std::min(shape.keys, draw.keys - first_key);
      const std::span<double> tile_scores =
          std::span(scores).first(sds.size() * static_cast<std::size_t>(keys));
      draw_scaled_normals(words, first_query, first_key, sds, tile_scores);
      if (aligns) {
        align_scores(draw.entries, first_key, keys, shifts, tile_scores.data(), std::ssize(shifts));
      }
      ScoreTile tile{first_query, group, first_key, keys, tile_scores};
      if (gives_norms) {
        const std::span<double> norms = std::span(squared_key_norms).first(tile_scores.size());
        tile.squared_query_norms = squared_query_norms;
        draw_squared_key_norms(draw, address, tile, norms);
        tile.squared_key_norms = norms;
      }
      if (!sink(tile)) return;
    }
  }
}

}  // namespace attnscale
