// Scores of a sampler's block in one table, query by query.
#pragma once

#include <vector>

#include "experiment/sampler.h"

namespace attnscale {

/// Normal entries of one mean and spread on both sides.
inline Entries normal_entries(double mean = 0, double sd = 1) {
  const Law law{find_law("normal"), {}, mean, sd};
  return {"normal", {}, law, law};
}

/// scores[query * keys + key] of the first `queries` queries of a block.
inline std::vector<double> draw_scores(const SamplerRow& sampler, const Draw& draw,
                                       const BlockAddress& address, std::int64_t queries) {
  std::vector<double> scores(static_cast<std::size_t>(queries * draw.keys));
  sampler.draw_block(draw, address, queries, [&](const ScoreTile& tile) {
    const std::int64_t stride = padded(tile.queries);
    for (std::int64_t q = 0; q < tile.queries; ++q) {
      for (std::int64_t k = 0; k < tile.keys; ++k) {
        scores[static_cast<std::size_t>((tile.first_query + q) * draw.keys + tile.first_key + k)] =
            tile.scores[static_cast<std::size_t>(k * stride + q)];
      }
    }
    return true;
  });
  return scores;
}

}  // namespace attnscale
