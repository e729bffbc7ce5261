#include "draw/alignment.h"

#include <algorithm>

namespace attnscale {
namespace {

// How many of the keys first_key ... first_key + keys - 1 are aligned, the first ones of them; may
// be below 0.
std::int64_t aligned_among(const Entries& law, std::int64_t first_key, std::int64_t keys) {
  return std::min(keys, aligned_of(law, first_key + keys) - first_key);
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

void align_squared_key_norms(const Entries& law, std::int64_t first_key, std::int64_t keys,
                             std::span<const double> squared_query_norms, const double* scores,
                             double* squared_key_norms, std::int64_t stride) {
  const double kept = kept_share(law.alignment);
  const std::int64_t aligned = aligned_among(law, first_key, keys);
  for (std::int64_t key = 0; key < aligned; ++key) {
    const double* const row = scores + key * stride;
    double* const norms = squared_key_norms + key * stride;
    for (std::size_t query = 0; query < squared_query_norms.size(); ++query) {
      const double q2 = squared_query_norms[query];
      const double score = kept * row[query] + alignment_shift(law, q2);
      const double across = squared_part_across(norms[query], squared_part_along(row[query], q2));
      norms[query] = kept * kept * across + squared_part_along(score, q2);
    }
  }
}

void align_scores(const Entries& law, std::int64_t first_key, std::int64_t keys,
                  std::span<const double> shifts, double* scores, std::int64_t stride) {
  const double kept = kept_share(law.alignment);
  const std::int64_t aligned = aligned_among(law, first_key, keys);
  for (std::int64_t key = 0; key < aligned; ++key) {
    double* row = scores + key * stride;
    for (std::size_t query = 0; query < shifts.size(); ++query) {
      row[query] = kept * row[query] + shifts[query];
    }
  }
}

}  // namespace attnscale
