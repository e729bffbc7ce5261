// Scores of a sampler's block in one table, query by query, with the squared norms where asked for.
#pragma once

#include <vector>

#include "draw/sampler.h"

namespace attnscale {

/// Normal entries of one mean and spread on both sides.
inline Entries normal_entries(double mean = 0, double sd = 1) {
  const Law law{find_law("normal"), {}, mean, sd};
  return {"normal", {}, law, law};
}

/// What a sampler draws of some queries of a block.
struct DrawnQueries {
  std::vector<double> scores;               ///< scores[query * keys + key]
  std::vector<double> squared_query_norms;  ///< one for each query; empty unless asked for
  std::vector<double> squared_key_norms;    ///< as the scores; empty unless asked for

  friend bool operator==(const DrawnQueries&, const DrawnQueries&) = default;
};

/// The first `queries` queries of a block.
inline DrawnQueries draw_queries(const SamplerRow& sampler, const Draw& draw,
                                 const BlockAddress& address, std::int64_t queries) {
  DrawnQueries drawn;
  drawn.scores.resize(static_cast<std::size_t>(queries * draw.keys));
  if (draw.norms == NormRequest::kSquaredNorms) {
    drawn.squared_query_norms.resize(static_cast<std::size_t>(queries));
    drawn.squared_key_norms.resize(drawn.scores.size());
  }
  sampler.draw_block(draw, address, queries, [&](const ScoreTile& tile) {
    const std::int64_t stride = padded(tile.queries);
    for (std::int64_t q = 0; q < tile.queries; ++q) {
      for (std::int64_t k = 0; k < tile.keys; ++k) {
        const auto from = static_cast<std::size_t>(k * stride + q);
        const auto to =
            static_cast<std::size_t>((tile.first_query + q) * draw.keys + tile.first_key + k);
        drawn.scores[to] = tile.scores[from];
        if (draw.norms == NormRequest::kNone) continue;
        drawn.squared_key_norms[to] = tile.squared_key_norms[from];
        drawn.squared_query_norms[static_cast<std::size_t>(tile.first_query + q)] =
            tile.squared_query_norms[static_cast<std::size_t>(q)];
      }
    }
    return true;
  });
  return drawn;
}

/// scores[query * keys + key] of the first `queries` queries of a block.
inline std::vector<double> draw_scores(const SamplerRow& sampler, const Draw& draw,
                                       const BlockAddress& address, std::int64_t queries) {
  return draw_queries(sampler, draw, address, queries).scores;
}

}  // namespace attnscale
