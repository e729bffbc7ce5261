// The boost sampler: every entry drawn with Boost.Random, one at a time, to be read and trusted.
#pragma once

#include "draw/score_tile.h"
#include "numerics/random_stream.h"

namespace attnscale {

/// SamplerRow::draw_block for any law: entries of the query, then of each of its keys in turn, from
/// one stream per block.
void draw_block_boost(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                      const TileSink& sink);

}  // namespace attnscale
