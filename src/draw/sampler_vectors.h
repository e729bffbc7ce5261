// The vectors sampler: every entry of every query and key is drawn, eight queries side by side.
#pragma once

#include "draw/score_tile.h"
#include "numerics/random_stream.h"

namespace attnscale {

/// SamplerRow::draw_block for any law, normal ones with the vector kernel, others with the law's
/// scalar function and a stream for each vector. Memory: d entries for eight queries; no key is
/// stored. Each score's rounding error is at most 257 u sum |q_i k_i| + 2 u |score|, u = 2^-53,
/// whatever d (67 u in place of 257 u for normal keys), and each squared norm's at most 259 u of it
/// if the key is not aligned.
void draw_block_vectors(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                        const TileSink& sink);

/// SamplerRow::can_give_norms: not for aligned keys if a law has a mean, as the sum of a key's
/// entries is not kept.
bool can_give_norms_vectors(const Entries& entries);

}  // namespace attnscale
