// Vector kernels that draw the entries of queries and keys, and dot products with keys that are
// drawn and used at once, one query per lane. Every number is a pure function of its address, so
// that it depends on no vector width, group or tile; bytes are the same on every machine with fused
// multiply-add (AVX2, AVX-512, 64-bit Arm). Knows nothing of the table of laws, of samplers or
// experiments.
//
// Addresses and layout are those of normal_kernel.h: entry i of a vector comes from call i / 4, and
// from attempt 1 of that call where a kind takes more than one word an entry.
#pragma once

#include <cstdint>
#include <span>

#include "numerics/entry_shape.h"
#include "numerics/random_stream.h"

namespace attnscale {

/// Rows that hold a vector of d entries for score_drawn_keys: d rounded up to whole calls.
constexpr std::int64_t entry_rows(std::int64_t d) {
  return (d + 3) / 4 * 4;
}

/// Fills entries[i * stride + query], i < d, with independent entries, vector number `vector` of
/// each query, and the rows from d to entry_rows(d) with zeros.
/// Precondition: entries.size() = entry_rows(d) * stride.
void draw_entries(const StreamKey& key, std::int64_t first_query, std::int64_t vector,
                  const EntryShape& shape, std::int64_t d, std::span<double> entries);

/// Where score_drawn_keys finds the queries and leaves the scores.
struct ScoreRows {
  std::int64_t d;                         ///< entries of a vector
  std::span<const double> query_entries;  ///< entry_rows(d) rows of query_stride, zero from row d
  std::int64_t query_stride;
  double* scores;  ///< scores[key * score_stride + query]
  std::int64_t score_stride;
  double* squared_key_norms = nullptr;  ///< laid out as scores; nullptr where nobody asks for them
};

/// Dot products of each query with keys first_key ... first_key + keys - 1, whose entries are
/// vectors 1 + key of the query, drawn and used at once: no key is ever stored.
///
/// Entries are summed in blocks of 256, each in four chains of fused multiply-adds; block sums add
/// up with a compensation (Knuth's two-sum), in one order always. Error at most
/// 67 u sum |q_i k_i| + 2 u |score|, u = 2^-53, whatever d. Squares of the keys' entries are summed
/// in the same way: error at most 69 u |k|^2.
void score_drawn_keys(const StreamKey& key, std::int64_t first_query, std::int64_t first_key,
                      std::int64_t keys, const EntryShape& shape, const ScoreRows& rows);

}  // namespace attnscale
