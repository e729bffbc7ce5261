#include "draw/score_tile.h"

#include <algorithm>
#include <vector>

namespace attnscale {

TileShape tile_shape(std::int64_t keys, std::int64_t lanes, std::int64_t most_scores) {
  const std::int64_t scores = std::min(kTileScores, most_scores);
  const std::int64_t queries = std::max(lanes, scores / keys / lanes * lanes);
  return {queries, std::min(keys, std::max<std::int64_t>(1, scores / queries))};
}

void for_each_tile(const Draw& draw, std::int64_t queries, const TileShape& shape,
                   const TileSink& sink, const TileFill& fill) {
  const bool gives_norms = draw.norms != NormRequest::kNone;
  const bool gives_sums = draw.norms == NormRequest::kSums;
  const auto most_lanes = static_cast<std::size_t>(padded(std::min(shape.queries, queries)));
  std::vector<double> scores(most_lanes * static_cast<std::size_t>(shape.keys));
  std::vector<double> squared_query_norms(gives_norms ? most_lanes : 0);
  std::vector<double> squared_key_norms(gives_norms ? scores.size() : 0);
  std::vector<double> query_sums(gives_sums ? most_lanes : 0);
  std::vector<double> key_sums(gives_sums ? scores.size() : 0);
  std::vector<std::vector<double>> products(draw.products.size(), scores);
  for (std::int64_t first_query = 0; first_query < queries; first_query += shape.queries) {
    const std::int64_t group = std::min(shape.queries, queries - first_query);
    const auto lanes = static_cast<std::size_t>(padded(group));
    for (std::int64_t first_key = 0; first_key < draw.keys; first_key += shape.keys) {
      const std::int64_t keys = std::min(shape.keys, draw.keys - first_key);
      const std::size_t size = lanes * static_cast<std::size_t>(keys);
      TileBuffer tile{first_query, group, first_key, keys, std::span(scores).first(size)};
      if (gives_norms) {
        tile.squared_query_norms = std::span(squared_query_norms).first(lanes);
        tile.squared_key_norms = std::span(squared_key_norms).first(size);
      }
      if (gives_sums) {
        tile.query_sums = std::span(query_sums).first(lanes);
        tile.key_sums = std::span(key_sums).first(size);
      }
      for (auto& product : products) tile.products.push_back(std::span(product).first(size));
      fill(tile);
      const bool goes_on = sink({first_query,
                                 group,
                                 first_key,
                                 keys,
                                 tile.scores,
                                 tile.squared_query_norms,
                                 tile.squared_key_norms,
                                 tile.query_sums,
                                 tile.key_sums,
                                 {tile.products.begin(), tile.products.end()}});
      if (!goes_on) return;
    }
  }
}

}  // namespace attnscale
