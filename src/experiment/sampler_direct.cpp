#include "experiment/sampler_direct.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "experiment/alignment.h"
#include "numerics/normal_kernel.h"

namespace attnscale {
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

  for (std::int64_t first_query = 0; first_query < queries; first_query += shape.queries) {
    const std::int64_t group = std::min(shape.queries, queries - first_query);
    const std::span<double> sds =
        std::span(score_sds).first(static_cast<std::size_t>(padded(group)));
    draw_squared_query_norms(draw, address, first_query, sds);
    if (aligns) {
      shifts.assign(sds.begin(), sds.end());
      for (double& shift : shifts) shift = alignment_shift(draw.entries, shift);
    }
    for (double& sd : sds) sd = std::sqrt(sd) * draw.entries.keys.sd;

    for (std::int64_t first_key = 0; first_key < draw.keys; first_key += shape.keys) {
      const std::int64_t keys = std::min(shape.keys, draw.keys - first_key);
      const std::span<double> tile =
          std::span(scores).first(sds.size() * static_cast<std::size_t>(keys));
      draw_scaled_normals(words, first_query, first_key, sds, tile);
      if (aligns) {
        align_scores(draw.entries, first_key, keys, shifts, tile.data(), std::ssize(shifts));
      }
      if (!sink({first_query, group, first_key, keys, tile})) return;
    }
  }
}

}  // namespace attnscale
