// Vector kernels that draw random words, normal and chi-squared numbers, one query per lane. Every
// number is a pure function of its address, so that it depends on no vector width, group or tile;
// bytes are the same on every machine with fused multiply-add (AVX2, AVX-512, 64-bit Arm). Knows
// nothing of laws, samplers or experiments.
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

/// The generator's words themselves: words[i * kLanes + lane] is word i % 4 of the call with
/// counter {first[0] + i / 4, first[1] + lane, first[2], first[3]}. Precondition: words.size() is a
/// multiple of 4 kLanes.
void draw_words(const StreamKey& key, const std::array<std::uint64_t, 4>& first,
                std::span<std::uint64_t> words);

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
