#include "draw/sampler_vectors.h"

#include <algorithm>
#include <array>
#include <vector>

#include "draw/alignment.h"
#include "numerics/normal_kernel.h"

namespace attnscale {
namespace {

// A law's scalar function is called for this many entries at a time: a part of what it draws.
constexpr std::size_t kPart = 256;

// Key entries of a tile where one key allows, some 20 ms: a stop is asked between tiles.
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

// Where the scores of some queries and keys go, [key * stride + query], and the squared norms of
// the keys, laid out alike: nullptr where nobody asks for them.
struct TilePlace {
  double* scores;
  double* squared_key_norms;
  std::int64_t stride;
};

// Queries that are worked on together: their entries, entries[i * stride + query].
class QueryGroup {
 public:
  QueryGroup(const Draw& draw, const BlockAddress& address)
      : draw_(draw), address_(address), words_(stream_key(address, StreamPurpose::kEntries)) {}

  // Draws the entries of `stride` queries.
  void draw_queries(std::int64_t first_query, std::int64_t stride) {
    draw_query_entries(first_query, stride);
    if (draw_.norms == NormRequest::kSquaredNorms) sum_squared_norms();
    if (draw_.entries.alignment == 0) return;
    shifts_.resize(static_cast<std::size_t>(stride));
    for (std::int64_t query = 0; query < stride; ++query) {
      shifts_[static_cast<std::size_t>(query)] =
          alignment_shift(draw_.entries, draw_.d, entries_.data() + query, stride);
    }
  }

  // Of the group's queries, where norms were asked for.
  std::span<const double> squared_norms() const { return squared_norms_; }

  // Scores of the group's queries against some of their keys.
  void score_keys(std::int64_t first_key, std::int64_t keys, const TilePlace& tile) const {
    const Law& law = draw_.entries.keys;
    if (has_kernel(law)) {
      score_normal_keys(
          words_, first_query_, first_key, keys, {law.mean, law.sd},
          {draw_.d, entries_, stride_, tile.scores, tile.stride, tile.squared_key_norms});
    } else {
      score_keys_one_by_one(first_key, keys, tile);
    }
    if (draw_.entries.alignment == 0) return;
    if (tile.squared_key_norms != nullptr) {
      align_squared_key_norms(draw_.entries, first_key, keys, squared_norms_, tile.scores,
                              tile.squared_key_norms, tile.stride);
    }
    align_scores(draw_.entries, first_key, keys, shifts_, tile.scores, tile.stride);
  }

 private:
  void draw_query_entries(std::int64_t first_query, std::int64_t stride) {
    first_query_ = first_query;
    stride_ = stride;
    entries_.resize(static_cast<std::size_t>(entry_rows(draw_.d) * stride));
    const Law& law = draw_.entries.queries;
    if (has_kernel(law)) {
      draw_normal_entries(words_, first_query, 0, {law.mean, law.sd}, draw_.d, entries_);
    } else {
      draw_entries_one_by_one(law);
    }
  }

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

  void sum_squared_norms() {
    squared_norms_.resize(static_cast<std::size_t>(stride_));
    for (std::int64_t query = 0; query < stride_; ++query) {
      CompensatedSum squares;
      for_each_part([&](std::size_t first, std::size_t size) {
        double sum = 0;
        for (std::size_t i = 0; i < size; ++i) {
          const double entry = entries_[place(first + i, query)];
          sum += entry * entry;
        }
        squares.add(sum);
      });
      squared_norms_[static_cast<std::size_t>(query)] = squares.total + squares.error;
    }
  }

  void score_keys_one_by_one(std::int64_t first_key, std::int64_t keys,
                             const TilePlace& tile) const {
    for (std::int64_t query = 0; query < stride_; ++query) {
      for (std::int64_t key = 0; key < keys; ++key) {
        const std::int64_t here = key * tile.stride + query;
        double* const norm =
            tile.squared_key_norms == nullptr ? nullptr : tile.squared_key_norms + here;
        tile.scores[here] = score_of(query, first_key + key, norm);
      }
    }
  }

  // The key's squared norm goes to `squared_norm` where that is not nullptr.
  double score_of(std::int64_t query, std::int64_t key, double* squared_norm) const {
    VectorOfLaw vector(draw_.entries.keys, address_, first_query_ + query, 1 + key);
    CompensatedSum score;
    CompensatedSum squares;
    for_each_part([&](std::size_t first, std::size_t size) {
      const std::span<const double> part = vector.next_part(size);
      double sum = 0;
      for (std::size_t i = 0; i < size; ++i) sum += entries_[place(first + i, query)] * part[i];
      score.add(sum);
      if (squared_norm != nullptr) squares.add(sum_of_squares(part));
    });
    if (squared_norm != nullptr) *squared_norm = squares.total + squares.error;
    return score.total + score.error;
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
  std::vector<double> shifts_;         // of each query, where keys are aligned
  std::vector<double> squared_norms_;  // of each query, where norms are asked for
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
  const bool gives_norms = draw.norms == NormRequest::kSquaredNorms;
  QueryGroup group(draw, address);
  const TileShape shape = tile_shape(draw.keys, kLanes, kTileEntries / draw.d);
  for_each_tile(draw, queries, shape, sink, [&](const TileBuffer& tile) {
    const std::int64_t stride = tile.stride();
    const std::int64_t step = std::min(stride, group_size(draw.d));
    for (std::int64_t offset = 0; offset < stride; offset += step) {
      // A tile of some of the keys has kLanes queries, one group: it is drawn but once.
      if (tile.first_key == 0) {
        group.draw_queries(tile.first_query + offset, std::min(step, stride - offset));
        if (gives_norms) {
          std::ranges::copy(group.squared_norms(), tile.squared_query_norms.begin() + offset);
        }
      }
      group.score_keys(tile.first_key, tile.keys,
                       {tile.scores.data() + offset,
                        gives_norms ? tile.squared_key_norms.data() + offset : nullptr, stride});
    }
  });
}

}  // namespace attnscale
