#include "numerics/rounded_products.h"

#include <algorithm>
#include <cmath>

namespace attnscale {

void raise_to_magnitudes(std::span<const double> entries, std::span<double> largest) {
  for (std::size_t row = 0; row < entries.size(); row += largest.size()) {
    for (std::size_t query = 0; query < largest.size(); ++query) {
      largest[query] = std::max(largest[query], std::abs(entries[row + query]));
    }
  }
}

void round_entries(Precision format, std::span<const double> largest, std::span<double> entries) {
  if (format == Precision::kFloat64) return;
  if (format < Precision::kInt8Row) {
    round_all(format, entries);
    return;
  }
  constexpr double kLargestInteger = 127;
  constexpr double kRounds = 0x1.8p+52;  // adding it leaves no place for a fraction
  for (std::size_t row = 0; row < entries.size(); row += largest.size()) {
    for (std::size_t query = 0; query < largest.size(); ++query) {
      const double step = largest[query] / kLargestInteger;
      double& entry = entries[row + query];
      if (step > 0) entry = step * ((entry / step + kRounds) - kRounds);
    }
  }
}

ATTNSCALE_VECTOR_CLONES
void add_up_products(Precision sum, std::span<const double> queries, std::span<const double> keys,
                     std::span<double> products) {
  std::fill(products.begin(), products.end(), 0.0);
  with_rounding_to(sum, [=](auto round) ATTNSCALE_INLINED {
    for (std::size_t row = 0; row < queries.size(); row += products.size()) {
      for (std::size_t query = 0; query < products.size(); ++query) {
        products[query] = round(products[query] + queries[row + query] * keys[row + query]);
      }
    }
  });
}

}  // namespace attnscale
