#include "draw/draw_block.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace attnscale {
namespace {

// Calls work(law, entries) for the entries of each block of a vector.
template <typename Work>
void for_each_law(const std::vector<EntriesBlock>& blocks, Law EntriesBlock::*side,
                  std::span<double> vector, const Work& work) {
  for (const EntriesBlock& block : blocks) {
    const auto size = static_cast<std::size_t>(block.d);
    work(block.*side, vector.first(size));
    vector = vector.subspan(size);
  }
}

// mean + sd x for each standardised entry x, clipped.
void stretch(const Law& law, std::span<double> vector) {
  for (double& entry : vector) {
    entry = std::clamp(law.mean + law.sd * entry, -law.clip, law.clip);
  }
}

// Mixes the query's standardised entries into those of an aligned key.
void align(double alignment, std::span<const double> standardised_query, std::span<double> key) {
  const double kept = kept_share(alignment);
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = alignment * standardised_query[i] + kept * key[i];
  }
}

// Summed as they come: the error, at most d rounding errors of a sum that grows as sqrt(d), is far
// below any error bar at the sizes this sampler is used for.
double dot(std::span<const double> query, std::span<const double> key) {
  double score = 0;
  for (std::size_t i = 0; i < query.size(); ++i) score += query[i] * key[i];
  return score;
}

double sum(std::span<const double> vector) {
  return std::accumulate(vector.begin(), vector.end(), 0.0);
}

// Entries of a tile, unless one score takes more; some 30 ms, as a stop is asked for between tiles.
constexpr std::int64_t kEntriesAtOnce = std::int64_t{1} << 21;

}  // namespace

void draw_block_boost(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                      const TileSink& sink) {
  RandomStream words(address, StreamPurpose::kEntries);
  std::vector<double> query(static_cast<std::size_t>(draw.d));
  std::vector<double> standardised_query(query.size());
  std::vector<double> key(query.size());
  const Entries& entries = draw.entries;
  const std::vector<EntriesBlock> blocks = blocks_of(entries, draw.d);
  const auto draw_standardised = [&](const Law& law, std::span<double> vector) {
    law.row->fill(law.parameters, words, vector);
  };
  const std::int64_t aligned = entries.alignment == 0 ? 0 : aligned_of(entries, draw.keys);
  const bool gives_norms = draw.norms != NormRequest::kNone;
  const bool gives_sums = draw.norms == NormRequest::kSums;
  // More than one query in a tile only where it holds all their keys: the order of the draws is
  // query by query whatever the tile.
  const TileShape shape = tile_shape(draw.keys, 1, kEntriesAtOnce / draw.d);
  for_each_tile(draw, queries, shape, sink, [&](const TileBuffer& tile) {
    for (std::int64_t q = 0; q < tile.queries; ++q) {
      if (tile.first_key == 0) {
        for_each_law(blocks, &EntriesBlock::queries, standardised_query, draw_standardised);
        query = standardised_query;
        for_each_law(blocks, &EntriesBlock::queries, query, stretch);
        const auto place = static_cast<std::size_t>(q);
        if (gives_norms) tile.squared_query_norms[place] = dot(query, query);
        if (gives_sums) tile.query_sums[place] = sum(query);
      }
      for (std::int64_t k = 0; k < tile.keys; ++k) {
        for_each_law(blocks, &EntriesBlock::keys, key, draw_standardised);
        if (tile.first_key + k < aligned) align(entries.alignment, standardised_query, key);
        for_each_law(blocks, &EntriesBlock::keys, key, stretch);
        const auto place = static_cast<std::size_t>(k * tile.stride + q);
        tile.scores[place] = dot(query, key);
        if (gives_norms) tile.squared_key_norms[place] = dot(key, key);
        if (gives_sums) tile.key_sums[place] = sum(key);
      }
    }
  });
}

}  // namespace attnscale
