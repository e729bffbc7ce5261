// How each sampler draws a block: the functions of its row in the table, one source file each.
#pragma once

#include <span>

#include "draw/score_tile.h"
#include "numerics/random_stream.h"

namespace attnscale {

/// The vectors sampler, for any law: every entry of every query and key is drawn, eight queries
/// side by side. Memory: d entries for eight queries; no key is stored. Each score's rounding error
/// is that of score_drawn_keys, and each squared norm's at most 259 u of it, u = 2^-53, whatever d,
/// if the key is not aligned.
void draw_block_vectors(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                        const TileSink& sink);

/// Not for aligned keys if a law has a mean, as the sum of a key's entries is not kept.
bool can_give_norms_vectors(const Entries& entries);

/// The direct sampler: scores without the entries, exact in law. Of fair signs: given the query
/// each product of two is a fair sign of its own, so that a score is a sum of d of them, the ones
/// less the zeros of d random bits. Of normal entries, at a cost per score that does not grow with
/// d: given the query q, its scores are independent normals of mean 0 and variance |q|^2 sd_k^2,
/// and |q|^2 / sd_q^2 is chi-squared with d degrees of freedom: one such number per query and one
/// normal per key. An aligned key's score is rho |q|^2 sd_k / sd_q + sqrt(1 - rho^2) |q| sd_k z. On
/// request: a key's squared norm is (score / |q|)^2, its part along q, and c sd_k^2 times a
/// chi-squared number with d - 1 degrees of freedom, its part across, c = 1, or 1 - rho^2 for an
/// aligned key.
/// Precondition: can_draw_direct(draw.entries).
void draw_block_direct(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                       const TileSink& sink);

/// Centred normal entries on both sides, or fair signs of which no key is aligned.
bool can_draw_direct(const Entries& entries);

/// The squared norms |q|^2 behind the scores that draw_block_direct draws of normal entries for the
/// same arguments, for queries first_query ... first_query + squared_norms.size() - 1 of the block.
/// Preconditions: can_draw_direct(draw.entries); squared_norms.size() is a multiple of kLanes.
void draw_squared_query_norms(const Draw& draw, const BlockAddress& address,
                              std::int64_t first_query, std::span<double> squared_norms);

/// The boost sampler, for any law: entries of the query, then of each of its keys in turn, drawn
/// with Boost.Random from one stream per block, to be read and trusted.
void draw_block_boost(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                      const TileSink& sink);

}  // namespace attnscale
