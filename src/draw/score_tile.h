// Scores on their way from a sampler to what scales them: tile by tile, every key of a group of
// queries before the next group. Knows nothing of how a score is drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "draw/entries.h"
#include "numerics/lanes.h"
#include "numerics/rounded_products.h"

namespace attnscale {

/// What a sampler returns in addition to the scores: nothing, |q|^2 of every query and |k|^2 of
/// every key, or these and the sums of their entries.
enum class NormRequest { kNone, kSquaredNorms, kSums };

/// What is drawn in one cell: `keys` keys of `d` entries for every query. The requests for norms
/// and rounded products are no part of what is drawn: they move no score by a bit and have no place
/// in a cell's identity.
struct Draw {
  Entries entries;
  std::int64_t d = 1;
  std::int64_t keys = 1;
  NormRequest norms = NormRequest::kNone;
  std::vector<ProductRule> products = {};  ///< beside the scores, of the same entries
};

/// Scores of some queries of a block against some of their keys: scores[key * stride + query].
/// Norms and sums are empty unless they were asked for.
template <typename Number>
struct TileOf {
  std::int64_t first_query;  ///< within the block
  std::int64_t queries;
  std::int64_t first_key;
  std::int64_t keys;
  std::span<Number> scores;
  std::span<Number> squared_query_norms = {};  ///< |q|^2 of each query: `stride` numbers
  std::span<Number> squared_key_norms = {};    ///< |k|^2, laid out as the scores are
  std::span<Number> query_sums = {};           ///< of all entries of each query
  std::span<Number> key_sums = {};
  std::vector<std::span<Number>> products = {};  ///< of each rule, laid out as the scores are

  std::int64_t stride = padded(queries);

  /// The same of `count` of the queries.
  TileOf part(std::int64_t first, std::int64_t count) const {
    const auto start = static_cast<std::size_t>(first);
    TileOf tile{first_query + first, count, first_key, keys, scores.subspan(start)};
    if (!squared_query_norms.empty()) {
      tile.squared_query_norms =
          squared_query_norms.subspan(start, static_cast<std::size_t>(count));
      tile.squared_key_norms = squared_key_norms.subspan(start);
    }
    if (!query_sums.empty()) {
      tile.query_sums = query_sums.subspan(start, static_cast<std::size_t>(count));
      tile.key_sums = key_sums.subspan(start);
    }
    for (const auto& product : products) tile.products.push_back(product.subspan(start));
    tile.stride = stride;
    return tile;
  }
};

/// A tile to be read. Lanes past the last query hold finite numbers, and norms that are not
/// negative.
using ScoreTile = TileOf<const double>;

/// A tile to be filled.
using TileBuffer = TileOf<double>;

/// Takes one tile; returns false to abandon the block.
using TileSink = std::function<bool(const ScoreTile&)>;

/// Fills a tile: its scores, and its squared norms and sums unless they are empty. A query's are
/// written with its first keys and stay there for its other keys.
using TileFill = std::function<void(const TileBuffer&)>;

/// Queries and keys of one tile: a multiple of `lanes` queries, and at most 4096 scores, or
/// `most_scores` if that is less, as far as `lanes` queries of one key allow. More than `lanes`
/// queries share a tile only if it holds all their keys. A function of its arguments alone, so that
/// tiles never depend on the machine.
struct TileShape {
  std::int64_t queries;
  std::int64_t keys;
};
constexpr std::int64_t kTileScores =
    4096;  // 32 KiB: a tile and its logits stay in the first caches
TileShape tile_shape(std::int64_t keys, std::int64_t lanes, std::int64_t most_scores = kTileScores);

/// Fills the tiles of the first `queries` queries of a block one by one, in the same memory, and
/// passes each on to `sink`, until the sink abandons the block.
void for_each_tile(const Draw& draw, std::int64_t queries, const TileShape& shape,
                   const TileSink& sink, const TileFill& fill);

}  // namespace attnscale
