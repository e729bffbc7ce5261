// How a block of raw scores is drawn. One row of the table is one sampler; the config, the schema,
// `attnscale list samplers`, the plan and the table-wide tests all read that table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "draw/score_tile.h"
#include "numerics/random_stream.h"

namespace attnscale {

struct SamplerRow {
  std::string_view name;
  std::string_view help;  ///< one line
  bool draws_entries;     ///< draws every entry, so that its work grows with d
  double nanoseconds;     ///< rough time of a normal entry (of a score if none is drawn)
  std::int64_t max_d;
  std::int64_t max_keys;
  /// Whether the sampler has a rule for these entries.
  bool (*can_draw)(const Entries& entries);
  /// Draws the first `queries` queries of a block, tile by tile, every key of a group of queries
  /// before the next group. A query's scores depend on the address and the query's number in the
  /// block alone, so a shorter block is the beginning of a longer one.
  void (*draw_block)(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                     const TileSink& sink);
  /// Whether the sampler returns squared norms on request for entries that it can draw. If not, a
  /// draw must not ask for them. Sums need a sampler that draws entries.
  bool (*can_give_norms)(const Entries& entries) = [](const Entries&) { return false; };
  bool gives_products = false;  ///< rounded ones, as a draw may ask for
};

std::span<const SamplerRow> sampler_table();

/// The row of that name, or nullptr.
const SamplerRow* find_sampler(std::string_view name);

}  // namespace attnscale
