// Vector kernels that draw: random words, normal numbers, dot products with normal vectors and
// chi-squared numbers, one query per lane. Every number is a pure function of its address, so that
// it depends on no vector width, group or tile; bytes are the same on every machine with fused
// multiply-add (AVX2, AVX-512, 64-bit Arm). Knows nothing of laws, samplers or experiments.
//
// Addressing: Threefry4x64 with 13 rounds, its key a StreamKey, its counter (call, query, vector,
// attempt). Number i of a vector comes from call i / 4.
//
// Layout: queries is always the fastest axis, row[i * stride + query], with stride a multiple of
// kLanes; `first_query` is the number within the block of the first column. Lanes past the last
// query are drawn like any other.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "numerics/lanes.h"
#include "numerics/random_stream.h"

namespace attnscale {

/// Mean and standard deviation of a normal number.
struct NormalShape {
  double mean = 0;
  double sd = 1;
};

/// Rows that hold a vector of d entries for score_normal_keys: d rounded up to whole calls.
constexpr std::int64_t entry_rows(std::int64_t d) {
  return (d + 3) / 4 * 4;
}

/// The generator's words themselves: words[i * kLanes + lane] is word i % 4 of the call with
/// counter {first[0] + i / 4, first[1] + lane, first[2], first[3]}. Precondition: words.size() is a
/// multiple of 4 kLanes.
void draw_words(const StreamKey& key, const std::array<std::uint64_t, 4>& first,
                std::span<std::uint64_t> words);

/// Fills entries[i * stride + query], i < d, with independent normals, vector number `vector` of
/// each query, and the rows from d to entry_rows(d) with zeros.
/// Precondition: entries.size() = entry_rows(d) * stride.
void draw_normal_entries(const StreamKey& key, std::int64_t first_query, std::int64_t vector,
                         const NormalShape& shape, std::int64_t d, std::span<double> entries);

/// Where score_normal_keys finds the queries and leaves the scores.
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
void score_normal_keys(const StreamKey& key, std::int64_t first_query, std::int64_t first_key,
                       std::int64_t keys, const NormalShape& shape, const ScoreRows& rows);

/// scores[key * stride + query] = sds[query] * normal, number first_key + key of vector 0 of the
/// query; stride = sds.size().
/// Preconditions: first_key is a multiple of 4; scores.size() = keys * sds.size().
void draw_scaled_normals(const StreamKey& key, std::int64_t first_query, std::int64_t first_key,
                         std::span<const double> sds, std::span<double> scores);

/// One chi-squared number with `degrees` >= 1 degrees of freedom for every query. Exact: the square
/// of a normal for one degree, -2 ln u for two, else Marsaglia and Tsang, "A simple method for
/// generating gamma variables", ACM TOMS 26 (2000), by rejection with the attempt in the counter.
void draw_chi_squared(const StreamKey& key, std::int64_t first_query, std::int64_t degrees,
                      std::span<double> numbers);

/// The same for each of `keys` keys of every query, each from counters of its own:
/// numbers[key * stride + query] is number first_key + key of the query, stride =
/// numbers.size() / keys.
void draw_chi_squared_of_keys(const StreamKey& key, std::int64_t first_query,
                              std::int64_t first_key, std::int64_t keys, std::int64_t degrees,
                              std::span<double> numbers);

}  // namespace attnscale
