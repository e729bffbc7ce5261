// How a block of raw scores is drawn. One row of the table is one sampler; the config, the schema,
// `attnscale list samplers`, the plan and the table-wide tests all read that table.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "draw/entries.h"
#include "numerics/lanes.h"
#include "numerics/random_stream.h"

namespace attnscale {

/// What a sampler returns beside the scores: nothing, or |q|^2 of every query and |k|^2 of every
/// key.
enum class NormRequest { kNone, kSquaredNorms };

/// What is drawn in one cell: `keys` keys of `d` entries for every query. The request for norms is
/// no part of what is drawn: it moves no score by a bit and has no place in a cell's identity.
struct Draw {
  Entries entries;
  std::int64_t d = 1;
  std::int64_t keys = 1;
  NormRequest norms = NormRequest::kNone;
};

/// Scores of some queries of a block against some of their keys: scores[key * stride + query],
/// stride = padded(queries). Lanes past the last query hold finite numbers, norms there none below
/// 0. Norms are empty where they were not asked for.
struct ScoreTile {
  std::int64_t first_query;  ///< within the block
  std::int64_t queries;
  std::int64_t first_key;
  std::int64_t keys;
  std::span<const double> scores;
  std::span<const double> squared_query_norms = {};  ///< |q|^2 of each query: `stride` numbers
  std::span<const double> squared_key_norms = {};    ///< |k|^2, laid out as the scores are
};

/// Takes one tile; returns false to abandon the block.
using TileSink = std::function<bool(const ScoreTile&)>;

struct SamplerRow {
  std::string_view name;
  std::string_view help;  ///< one line
  bool draws_entries;     ///< draws every entry, so that its work grows with d
  double nanoseconds;     ///< rough time of one entry (of one score where none is drawn)
  std::int64_t max_d;
  std::int64_t max_keys;
  /// Whether the sampler has a rule for these entries.
  bool (*can_draw)(const Entries& entries);
  /// Draws the first `queries` queries of a block, tile by tile, every key of a group of queries
  /// before the next group. A query's scores depend on the address and the query's number in the
  /// block alone, so a shorter block is the beginning of a longer one.
  void (*draw_block)(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                     const TileSink& sink);
  /// Whether the sampler returns squared norms on request for entries that it can draw. Where it
  /// does not, a draw must not ask for them.
  bool (*can_give_norms)(const Entries& entries) = [](const Entries&) { return false; };
};

std::span<const SamplerRow> sampler_table();

/// The row of that name, or nullptr.
const SamplerRow* find_sampler(std::string_view name);

/// Queries and keys of one tile: a multiple of `lanes` queries, and at most 4096 scores, or
/// `most_scores` where that is less, as far as `lanes` queries of one key allow. More than `lanes`
/// queries share a tile only where it holds all their keys. A function of its arguments alone, so
/// that tiles never depend on the machine.
struct TileShape {
  std::int64_t queries;
  std::int64_t keys;
};
constexpr std::int64_t kTileScores =
    4096;  // 32 KiB: a tile and its logits stay in the first caches
TileShape tile_shape(std::int64_t keys, std::int64_t lanes, std::int64_t most_scores = kTileScores);

}  // namespace attnscale
