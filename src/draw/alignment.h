// Aligned keys without their entries: from the score of an independent key to that of an aligned
// one, for samplers that do not hold every entry. What alignment is says draw/entries.
#pragma once

#include <cstdint>
#include <span>

#include "draw/entries.h"

namespace attnscale {

/// What every aligned score of a query gains: k = mean + sd (rho x + kept y) and k' = mean + sd y
/// give q.k = kept q.k' + shift with shift = rho sd q.x + (1 - kept) mean sum q.
/// `entries` holds entry i of the query at entries[i * stride].
double alignment_shift(const Entries& law, std::int64_t d, const double* entries,
                       std::int64_t stride);

/// The same where all that is known of the query is |q|^2. Precondition: entries of mean 0.
double alignment_shift(const Entries& law, double squared_query_norm);

/// Turns the squared norms of independent keys first_key ... first_key + keys - 1 into those of
/// aligned keys, as far as these keys are aligned, given the scores of the independent keys, to be
/// aligned afterwards; both laid out alike, [key * stride + query]. What k' has across the query,
/// |k'|^2 - (q.k')^2 / |q|^2, shrinks to kept^2 of it, and what it has along the query becomes
/// (q.k)^2 / |q|^2. A sum of two squares: |q.k| is above |q| |k| by rounding at most.
/// Precondition: entries of mean 0.
void align_squared_key_norms(const Entries& law, std::int64_t first_key, std::int64_t keys,
                             std::span<const double> squared_query_norms, const double* scores,
                             double* squared_key_norms, std::int64_t stride);

/// (q.k / |q|)^2, the square of the key's part along the query; 0 for a query of zeros. The score
/// is not squared: of small entries that would be 0.
inline double squared_part_along(double score, double squared_query_norm) {
  return squared_query_norm > 0 ? score * (score / squared_query_norm) : 0;
}

/// Turns the scores of independent keys first_key ... first_key + keys - 1 into those of aligned
/// keys, as far as these keys are aligned: scores[key * stride + query] of shifts.size() queries.
void align_scores(const Entries& law, std::int64_t first_key, std::int64_t keys,
                  std::span<const double> shifts, double* scores, std::int64_t stride);

}  // namespace attnscale
