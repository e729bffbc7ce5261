#include "experiment/alignment.h"

#include <algorithm>

namespace attnscale {

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

void align_scores(const Entries& law, std::int64_t first_key, std::int64_t keys,
                  std::span<const double> shifts, double* scores, std::int64_t stride) {
  const double kept = kept_share(law.alignment);
  const std::int64_t aligned = std::min(keys, aligned_of(law, first_key + keys) - first_key);
  for (std::int64_t key = 0; key < aligned; ++key) {
    double* row = scores + key * stride;
    for (std::size_t query = 0; query < shifts.size(); ++query) {
      row[query] = kept * row[query] + shifts[query];
    }
  }
}

}  // namespace attnscale
