// Norms of vectors of which a head is a part, such as those of a whole projection.
#pragma once

#include <cstdint>
#include <span>

#include "draw/score_tile.h"
#include "numerics/random_stream.h"

namespace attnscale {

/// Entries of the vectors that are normalised, of which a head has d.
struct WiderVectors {
  std::int64_t query = 0;
  std::int64_t key = 0;
};

inline constexpr std::int64_t kWidestVector = std::int64_t{1} << 32;

/// True if what lies outside the head can be drawn: centred normal entries, no key aligned.
bool can_widen(const Entries& entries);

/// Squared norms of wider vectors: those of a tile and, from streams of their own, what the other
/// entries add, so that no other number moves. Preconditions: can_widen(draw.entries), widths of at
/// least d; queries.size() = stride, keys.size() = scores.size(); a query's is written with its
/// first keys.
void draw_wider_norms(const Draw& draw, const BlockAddress& address, const WiderVectors& wider,
                      const ScoreTile& tile, std::span<double> queries, std::span<double> keys);

}  // namespace attnscale
