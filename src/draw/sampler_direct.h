// The direct sampler: scores of normal entries without the entries, exact in law, at a cost per
// score that does not grow with d.
#pragma once

#include <span>

#include "draw/score_tile.h"
#include "numerics/random_stream.h"

namespace attnscale {

/// SamplerRow::can_draw: centred normal entries on both sides.
bool can_draw_direct(const Entries& entries);

/// SamplerRow::draw_block. Given the query q, its scores are independent normals of mean 0 and
/// variance |q|^2 sd_k^2, and |q|^2 / sd_q^2 is chi-squared with d degrees of freedom: one such
/// number per query and one normal per key. An aligned key's score is
/// rho |q|^2 sd_k / sd_q + sqrt(1 - rho^2) |q| sd_k z. On request: a key's squared norm is
/// (score / |q|)^2, its part along q, and c sd_k^2 times a chi-squared number with d - 1 degrees of
/// freedom, its part across, c = 1, or 1 - rho^2 for an aligned key.
/// Precondition: can_draw_direct(draw.entries).
void draw_block_direct(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                       const TileSink& sink);

/// The squared norms |q|^2 behind the scores that draw_block_direct draws for the same arguments,
/// for queries first_query ... first_query + squared_norms.size() - 1 of the block.
/// Preconditions: can_draw_direct(draw.entries); squared_norms.size() is a multiple of kLanes.
void draw_squared_query_norms(const Draw& draw, const BlockAddress& address,
                              std::int64_t first_query, std::span<double> squared_norms);

}  // namespace attnscale
