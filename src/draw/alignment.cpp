#include "draw/alignment.h"

#include <algorithm>

namespace attnscale {
namespace {

// How many of the tile's keys are aligned, the first ones of them; may be below 0.
std::int64_t aligned_among(const Entries& law, const TileBuffer& tile) {
  return std::min(tile.keys, aligned_of(law, tile.first_key + tile.keys) - tile.first_key);
}

// |k|^2 - (q.k / |q|)^2, the square of the key's part across the query. Eight roundings of |k|^2,
// what a key along the query can leave, count as 0: the root of such a remainder would not be
// small.
double squared_part_across(double squared_key_norm, double squared_along) {
  const double across = squared_key_norm - squared_along;
  return across > 0x1p-50 * squared_key_norm ? across : 0;
}

}  // namespace

// The products are summed as they come: their errors, at most d rounding errors of a sum that grows
// as d, are far below any error bar.
double alignment_shift(const Entries& law, std::int64_t d, const double* entries,
                       std::int64_t stride) {
  const Law& queries = law.queries;
  double sum = 0;
  double sum_with_standardised = 0;
  for (std::int64_t i = 0; i < d; ++i) {
    const double entry = entries[i * stride];
    sum += entry;
    sum_with_standardised += entry * ((entry - queries.mean) / queries.sd);
  }
  return law.alignment * law.keys.sd * sum_with_standardised +
         (1 - kept_share(law.alignment)) * law.keys.mean * sum;
}

double alignment_shift(const Entries& law, double squared_query_norm) {
  return law.alignment * law.keys.sd * (squared_query_norm / law.queries.sd);
}

void align_squared_key_norms(const Entries& law, const TileBuffer& tile) {
  const double kept = kept_share(law.alignment);
  const std::int64_t aligned = aligned_among(law, tile);
  for (std::int64_t key = 0; key < aligned; ++key) {
    const double* const scores = tile.scores.data() + key * tile.stride;
    double* const norms = tile.squared_key_norms.data() + key * tile.stride;
    for (std::size_t query = 0; query < tile.squared_query_norms.size(); ++query) {
      const double q2 = tile.squared_query_norms[query];
      const double score = kept * scores[query] + alignment_shift(law, q2);
      const double across =
          squared_part_across(norms[query], squared_part_along(scores[query], q2));
      norms[query] = kept * kept * across + squared_part_along(score, q2);
    }
  }
}

void align_key_sums(const Entries& law, const TileBuffer& tile) {
  const double kept = kept_share(law.alignment);
  const double of_query = law.alignment * (law.keys.sd / law.queries.sd);
  const std::int64_t aligned = aligned_among(law, tile);
  for (std::int64_t key = 0; key < aligned; ++key) {
    double* const sums = tile.key_sums.data() + key * tile.stride;
    for (std::size_t query = 0; query < tile.query_sums.size(); ++query) {
      sums[query] = kept * sums[query] + of_query * tile.query_sums[query];
    }
  }
}

void align_scores(const Entries& law, std::span<const double> shifts, const TileBuffer& tile) {
  const double kept = kept_share(law.alignment);
  const std::int64_t aligned = aligned_among(law, tile);
  for (std::int64_t key = 0; key < aligned; ++key) {
    double* const scores = tile.scores.data() + key * tile.stride;
    for (std::size_t query = 0; query < shifts.size(); ++query) {
      scores[query] = kept * scores[query] + shifts[query];
    }
  }
}

}  // namespace attnscale
