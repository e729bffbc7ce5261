// Products of queries and keys whose entries are rounded and whose sums are narrow, one query per
// lane. Knows nothing of how entries are drawn.
#pragma once

#include <cstddef>
#include <span>

#include "numerics/precision.h"

namespace attnscale {

/// How the product of a query and a key is taken from their entries; by default in float64.
struct ProductRule {
  Precision entries = Precision::kFloat64;
  Precision scaled_queries = Precision::kFloat64;
  Precision quantised = Precision::kFloat64;
  Precision sum = Precision::kFloat64;
  double query_factor = 1;  ///< by which stored queries are multiplied before scaled_queries

  friend bool operator==(const ProductRule&, const ProductRule&) = default;
};

/// Raises largest[query] to the magnitudes of entries[i * stride + query], stride = largest.size().
void raise_to_magnitudes(std::span<const double> entries, std::span<double> largest);

/// Rounds entries[i * stride + query] to a format. Of the integers of 8 bits the step is
/// largest[query] / 127, half steps go to the even of both, and a largest of 0 leaves zeros;
/// stride = largest.size().
void round_entries(Precision format, std::span<const double> largest, std::span<double> entries);

/// products[query] = sum over i of queries[i * stride + query] keys[i * stride + query], rounded
/// after each i; stride = products.size().
void add_up_products(Precision sum, std::span<const double> queries, std::span<const double> keys,
                     std::span<double> products);

}  // namespace attnscale
