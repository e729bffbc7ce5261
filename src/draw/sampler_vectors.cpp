#include "draw/draw_block.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "draw/alignment.h"
#include "numerics/normal_kernel.h"

namespace attnscale {
namespace {

// A law's scalar function is called for this many entries at a time: a part of what it draws.
constexpr std::size_t kPart = 256;

// Key entries of a tile, unless one key takes more; some 20 ms, as a stop is asked for between
// tiles.
constexpr std::int64_t kTileEntries = std::int64_t{1} << 24;

bool has_kernel(const Law& law) {
  return law.row == find_law("normal");
}

// The entries of one vector of one query, part by part.
class VectorOfLaw {
 public:
  VectorOfLaw(const Law& law, const BlockAddress& address, std::int64_t query, std::int64_t vector)
      : law_(law),
        words_(address, StreamPurpose::kEntries, static_cast<std::uint64_t>(query),
               static_cast<std::uint64_t>(vector)) {}

  std::span<const double> next_part(std::size_t size) {
    const std::span<double> part = std::span(part_).first(size);
    law_.row->fill(law_.parameters, words_, part);
    for (double& entry : part) entry = law_.mean + law_.sd * entry;
    return part;
  }

 private:
  const Law& law_;
  RandomStream words_;
  std::array<double, kPart> part_;
};

// A sum with what its rounding lost (Knuth's two-sum).
struct CompensatedSum {
  double total = 0;
  double error = 0;

  void add(double x) {
    const double sum = total + x;
    const double x_as_added = sum - total;
    error += (total - (sum - x_as_added)) + (x - x_as_added);
    total = sum;
  }
};

double sum_of_squares(std::span<const double> part) {
  double sum = 0;
  for (const double entry : part) sum += entry * entry;
  return sum;
}

// Queries that are worked on together: their entries, entries[i * stride + query].
class QueryGroup {
 public:
  QueryGroup(const Draw& draw, const BlockAddress& address)
      : draw_(draw), address_(address), words_(stream_key(address, StreamPurpose::kEntries)) {}

  // Draws the entries of a tile's queries, and sums their squares if the tile asks for them.
  void draw_queries(const TileBuffer& tile) {
    first_query_ = tile.first_query;
    stride_ = tile.queries;
    entries_.resize(static_cast<std::size_t>(entry_rows(draw_.d) * stride_));
    const Law& law = draw_.entries.queries;
    if (has_kernel(law)) {
      draw_normal_entries(words_, first_query_, 0, {law.mean, law.sd}, draw_.d, entries_);
    } else {
      draw_entries_one_by_one(law);
    }
    if (!tile.squared_query_norms.empty()) sum_queries(tile);
    if (draw_.entries.alignment == 0) return;
    shifts_.resize(static_cast<std::size_t>(stride_));
    for (std::int64_t query = 0; query < stride_; ++query) {
      shifts_[static_cast<std::size_t>(query)] =
          alignment_shift(draw_.entries, draw_.d, entries_.data() + query, stride_);
    }
  }

  // Scores of the same queries against a tile's keys.
  void score_keys(const TileBuffer& tile) const {
    const Law& law = draw_.entries.keys;
    if (has_kernel(law)) {
      score_normal_keys(words_, first_query_, tile.first_key, tile.keys, {law.mean, law.sd},
                        {draw_.d, entries_, stride_, tile.scores.data(), tile.stride,
                         tile.squared_key_norms.data()});
      if (!tile.key_sums.empty()) sum_normal_keys(tile);
    } else {
      score_keys_one_by_one(tile);
    }
    if (draw_.entries.alignment == 0) return;
    if (!tile.squared_key_norms.empty()) align_squared_key_norms(draw_.entries, tile);
    if (!tile.key_sums.empty()) align_key_sums(draw_.entries, tile);
    align_scores(draw_.entries, shifts_, tile);
  }

 private:
  void draw_entries_one_by_one(const Law& law) {
    std::ranges::fill(entries_, 0.0);
    for (std::int64_t query = 0; query < stride_; ++query) {
      VectorOfLaw vector(law, address_, first_query_ + query, 0);
      for_each_part([&](std::size_t first, std::size_t size) {
        const std::span<const double> part = vector.next_part(size);
        for (std::size_t i = 0; i < size; ++i) entries_[place(first + i, query)] = part[i];
      });
    }
  }

  void sum_queries(const TileBuffer& tile) const {
    for (std::int64_t query = 0; query < stride_; ++query) {
      CompensatedSum squares;
      CompensatedSum entries;
      for_each_part([&](std::size_t first, std::size_t size) {
        double square = 0;
        double sum = 0;
        for (std::size_t i = 0; i < size; ++i) {
          const double entry = entries_[place(first + i, query)];
          square += entry * entry;
          sum += entry;
        }
        squares.add(square);
        entries.add(sum);
      });
      const auto here = static_cast<std::size_t>(query);
      tile.squared_query_norms[here] = squares.total + squares.error;
      if (!tile.query_sums.empty()) tile.query_sums[here] = entries.total + entries.error;
    }
  }

  // The keys' products with a vector of ones, for which they are drawn again.
  void sum_normal_keys(const TileBuffer& tile) const {
    std::vector<double> ones(entries_.size(), 0.0);
    std::fill_n(ones.begin(), draw_.d * stride_, 1.0);
    const Law& law = draw_.entries.keys;
    score_normal_keys(words_, first_query_, tile.first_key, tile.keys, {law.mean, law.sd},
                      {draw_.d, ones, stride_, tile.key_sums.data(), tile.stride});
  }

  void score_keys_one_by_one(const TileBuffer& tile) const {
    for (std::int64_t query = 0; query < stride_; ++query) {
      for (std::int64_t key = 0; key < tile.keys; ++key) {
        const auto here = static_cast<std::size_t>(key * tile.stride + query);
        const KeySums sums = sums_of(query, tile.first_key + key);
        tile.scores[here] = sums.score.total + sums.score.error;
        if (tile.squared_key_norms.empty()) continue;
        tile.squared_key_norms[here] = sums.squares.total + sums.squares.error;
        if (!tile.key_sums.empty()) tile.key_sums[here] = sums.entries.total + sums.entries.error;
      }
    }
  }

  // What is asked of a key: its product with the query, with itself and with a vector of ones.
  struct KeySums {
    CompensatedSum score;
    CompensatedSum squares;
    CompensatedSum entries;
  };

  KeySums sums_of(std::int64_t query, std::int64_t key) const {
    VectorOfLaw vector(draw_.entries.keys, address_, first_query_ + query, 1 + key);
    KeySums sums;
    for_each_part([&](std::size_t first, std::size_t size) {
      const std::span<const double> part = vector.next_part(size);
      double sum = 0;
      for (std::size_t i = 0; i < size; ++i) sum += entries_[place(first + i, query)] * part[i];
      sums.score.add(sum);
      if (draw_.norms == NormRequest::kNone) return;
      sums.squares.add(sum_of_squares(part));
      sums.entries.add(std::accumulate(part.begin(), part.end(), 0.0));
    });
    return sums;
  }

  template <typename Work>
  void for_each_part(const Work& work) const {
    const auto d = static_cast<std::size_t>(draw_.d);
    for (std::size_t first = 0; first < d; first += kPart) work(first, std::min(kPart, d - first));
  }

  std::size_t place(std::size_t entry, std::int64_t query) const {
    return entry * static_cast<std::size_t>(stride_) + static_cast<std::size_t>(query);
  }

  const Draw& draw_;
  const BlockAddress& address_;
  StreamKey words_;
  std::int64_t first_query_ = 0;
  std::int64_t stride_ = 0;
  std::vector<double> entries_;
  std::vector<double> shifts_;  // of each query, where keys are aligned
};

// Queries worked on together: as many as keep their entries in the first cache, at least kLanes.
std::int64_t group_size(std::int64_t d) {
  constexpr std::int64_t kEntries = 2048;
  return std::max(kLanes, kEntries / d / kLanes * kLanes);
}

}  // namespace

bool can_give_norms_vectors(const Entries& entries) {
  return entries.alignment == 0 || (entries.queries.mean == 0 && entries.keys.mean == 0);
}

void draw_block_vectors(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                        const TileSink& sink) {
  QueryGroup group(draw, address);
  const TileShape shape = tile_shape(draw.keys, kLanes, kTileEntries / draw.d);
  for_each_tile(draw, queries, shape, sink, [&](const TileBuffer& tile) {
    const std::int64_t step = std::min(tile.stride, group_size(draw.d));
    for (std::int64_t first = 0; first < tile.stride; first += step) {
      const TileBuffer part = tile.part(first, std::min(step, tile.stride - first));
      // A tile of some of the keys has kLanes queries, one group: it is drawn but once.
      if (tile.first_key == 0) group.draw_queries(part);
      group.score_keys(part);
    }
  });
}

}  // namespace attnscale
