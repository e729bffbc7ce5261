// Aligned keys without their entries: from the score of an independent key to that of an aligned
// one, for samplers that do not hold every entry. draw/entries says what alignment is.
#pragma once

#include <cstdint>
#include <span>

#include "draw/score_tile.h"

namespace attnscale {

/// What every aligned score of a query gains: k = mean + sd (rho x + kept y) and k' = mean + sd y
/// give q.k = kept q.k' + shift with shift = rho sd q.x + (1 - kept) mean sum q.
/// `entries` holds entry i of the query at entries[i * stride].
double alignment_shift(const Entries& law, std::int64_t d, const double* entries,
                       std::int64_t stride);

/// The same if only |q|^2 is known of the query. Precondition: entries of mean 0.
double alignment_shift(const Entries& law, double squared_query_norm);

/// Turns the squared norms of a tile's independent keys into those of aligned keys, as far as these
/// keys are aligned. The scores are still those of the independent keys, to be aligned afterwards.
/// What k' has across the query, |k'|^2 - (q.k')^2 / |q|^2, shrinks to kept^2 of it, and what it
/// has along the query becomes (q.k)^2 / |q|^2. A sum of two squares: |q.k| is above |q| |k| by
/// rounding at most. Precondition: entries of mean 0.
void align_squared_key_norms(const Entries& law, const TileBuffer& tile);

/// The same of the sums of their entries.
void align_key_sums(const Entries& law, const TileBuffer& tile);

/// (q.k / |q|)^2, the square of the key's part along the query; 0 for a query of zeros. The score
/// is not squared: for small entries the square would be 0.
inline double squared_part_along(double score, double squared_query_norm) {
  return squared_query_norm > 0 ? score * (score / squared_query_norm) : 0;
}

/// Turns the scores of a tile's independent keys into those of aligned keys, as far as these keys
/// are aligned. `shifts` has one number for each query of the tile.
void align_scores(const Entries& law, std::span<const double> shifts, const TileBuffer& tile);

}  // namespace attnscale
