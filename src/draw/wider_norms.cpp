#include "draw/wider_norms.h"

#include <algorithm>

#include "numerics/normal_kernel.h"

namespace attnscale {
namespace {

void add(std::span<const double> squared_norms, double sd, std::span<double> outside) {
  for (std::size_t n = 0; n < outside.size(); ++n) {
    outside[n] = squared_norms[n] + sd * sd * outside[n];
  }
}

}  // namespace

bool can_widen(const Entries& entries) {
  return is_centred_normal(entries) && entries.alignment == 0;
}

void draw_wider_norms(const Draw& draw, const BlockAddress& address, const WiderVectors& wider,
                      const ScoreTile& tile, std::span<double> queries, std::span<double> keys) {
  const std::int64_t outside_query = wider.query - draw.d;
  const std::int64_t outside_key = wider.key - draw.d;
  if (tile.first_key == 0) {
    std::ranges::fill(queries, 0.0);
    if (outside_query > 0) {
      draw_chi_squared(stream_key(address, StreamPurpose::kWiderQueries), tile.first_query,
                       outside_query, queries);
    }
    add(tile.squared_query_norms, draw.entries.queries.sd, queries);
  }
  std::ranges::fill(keys, 0.0);
  if (outside_key > 0) {
    draw_chi_squared_of_keys(stream_key(address, StreamPurpose::kWiderKeys), tile.first_query,
                             tile.first_key, tile.keys, outside_key, keys);
  }
  add(tile.squared_key_norms, draw.entries.keys.sd, keys);
}

}  // namespace attnscale
