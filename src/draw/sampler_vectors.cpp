#include "draw/draw_block.h"

#include <algorithm>
#include <vector>

#include "draw/alignment.h"
#include "numerics/entry_kernel.h"

namespace attnscale {
namespace {

// Entries summed before a sum is added to the others with what its rounding lost.
constexpr std::int64_t kPart = 256;

// Key entries of a tile, unless one key takes more; some 20 ms, as a stop is asked for between
// tiles.
constexpr std::int64_t kTileEntries = std::int64_t{1} << 24;

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

// A block of a head: whole calls of the kernels among a vector's rows, and words of its own.
struct BlockRows {
  EntryShape queries;
  EntryShape keys;
  std::int64_t d;
  std::int64_t first_row;
  StreamKey words;
};

// Queries that are worked on together: their entries, entries[i * stride + query].
class GroupDraw {
 public:
  GroupDraw(const Draw& draw, const BlockAddress& address) : draw_(draw) {
    for (const EntriesBlock& block : blocks_of(draw.entries, draw.d)) {
      StreamKey words = stream_key(address, StreamPurpose::kEntries);
      words.back() += std::uint64_t{blocks_.size()} << 8;  // beyond the purposes
      blocks_.push_back(
          {entry_shape(block.queries), entry_shape(block.keys), block.d, rows_, words});
      rows_ += entry_rows(block.d);
    }
  }

  // Draws the entries of a tile's queries, and sums their squares if the tile asks for them.
  void draw_queries(const TileBuffer& tile) {
    first_query_ = tile.first_query;
    stride_ = tile.queries;
    entries_.resize(static_cast<std::size_t>(rows_ * stride_));
    draw_vector(0, &BlockRows::queries, entries_);
    if (!tile.squared_query_norms.empty()) sum_queries(tile);
    round_queries();
    if (draw_.entries.alignment == 0) return;
    shifts_.resize(static_cast<std::size_t>(stride_));
    for (std::int64_t query = 0; query < stride_; ++query) {
      shifts_[static_cast<std::size_t>(query)] =
          alignment_shift(draw_.entries, draw_.d, entries_.data() + query, stride_);
    }
  }

  // Scores of the same queries against a tile's keys.
  void score_keys(const TileBuffer& tile) {
    score_blocks(tile, entries_, tile.scores, tile.squared_key_norms);
    if (!tile.key_sums.empty()) sum_keys(tile);
    if (!draw_.products.empty()) multiply_rounded(tile);
    if (draw_.entries.alignment == 0) return;
    if (!tile.squared_key_norms.empty()) align_squared_key_norms(draw_.entries, tile);
    if (!tile.key_sums.empty()) align_key_sums(draw_.entries, tile);
    align_scores(draw_.entries, shifts_, tile);
  }

 private:
  // A block's rows of a vector.
  template <typename Number>
  std::span<Number> rows_of(const BlockRows& block, std::span<Number> entries) const {
    return entries.subspan(static_cast<std::size_t>(block.first_row * stride_),
                           static_cast<std::size_t>(entry_rows(block.d) * stride_));
  }

  void draw_vector(std::int64_t vector, EntryShape BlockRows::*side,
                   std::span<double> entries) const {
    for (const BlockRows& block : blocks_) {
      draw_entries(block.words, first_query_, vector, block.*side, block.d,
                   rows_of(block, entries));
    }
  }

  // Dot products of vectors with a tile's keys, and the keys' squared norms unless they are empty:
  // the blocks' added up.
  void score_blocks(const TileBuffer& tile, std::span<const double> vectors,
                    std::span<double> scores, std::span<double> norms) {
    for (const BlockRows& block : blocks_) {
      const bool is_first = block.first_row == 0;
      if (!is_first) {
        more_scores_.resize(scores.size());
        more_norms_.resize(norms.size());
      }
      const std::span<double> to = is_first ? scores : more_scores_;
      const std::span<double> norms_to = is_first ? norms : more_norms_;
      score_drawn_keys(block.words, first_query_, tile.first_key, tile.keys, block.keys,
                       {block.d, rows_of(block, vectors), stride_, to.data(), tile.stride,
                        norms.empty() ? nullptr : norms_to.data()});
      if (is_first) continue;
      add_columns(tile, more_scores_, scores);
      if (!norms.empty()) add_columns(tile, more_norms_, norms);
    }
  }

  // Of this group's queries: the others' numbers are not theirs to touch.
  void add_columns(const TileBuffer& tile, std::span<const double> more,
                   std::span<double> to) const {
    for (std::int64_t key = 0; key < tile.keys; ++key) {
      for (std::int64_t query = 0; query < stride_; ++query) {
        const auto place = static_cast<std::size_t>(key * tile.stride + query);
        to[place] += more[place];
      }
    }
  }

  void sum_queries(const TileBuffer& tile) const {
    for (std::int64_t query = 0; query < stride_; ++query) {
      CompensatedSum squares;
      CompensatedSum entries;
      for (std::int64_t first = 0; first < rows_; first += kPart) {
        double square = 0;
        double sum = 0;
        for (std::int64_t i = first; i < std::min(rows_, first + kPart); ++i) {
          const double entry = entries_[static_cast<std::size_t>(i * stride_ + query)];
          square += entry * entry;
          sum += entry;
        }
        squares.add(square);
        entries.add(sum);
      }
      const auto here = static_cast<std::size_t>(query);
      tile.squared_query_norms[here] = squares.total + squares.error;
      if (!tile.query_sums.empty()) tile.query_sums[here] = entries.total + entries.error;
    }
  }

  // The keys' products with a vector of ones, for which they are drawn again.
  void sum_keys(const TileBuffer& tile) {
    std::vector<double> ones(entries_.size(), 0.0);
    for (const BlockRows& block : blocks_) {
      std::fill_n(rows_of(block, std::span(ones)).begin(), block.d * stride_, 1.0);
    }
    score_blocks(tile, ones, tile.key_sums, {});
  }

  // Entries of one key of each query, aligned as they are to be.
  void draw_key(std::int64_t key) {
    const Entries& law = draw_.entries;
    key_entries_.resize(entries_.size());
    draw_vector(1 + key, &BlockRows::keys, key_entries_);
    if (law.alignment == 0 || key >= aligned_of(law, draw_.keys)) return;
    const double kept = kept_share(law.alignment);
    const double of_query = law.alignment * (law.keys.sd / law.queries.sd);
    for (std::size_t n = 0; n < static_cast<std::size_t>(draw_.d * stride_); ++n) {
      key_entries_[n] = law.keys.mean + kept * (key_entries_[n] - law.keys.mean) +
                        of_query * (entries_[n] - law.queries.mean);
    }
  }

  // Of each rule the queries, and of a scale for all keys their largest magnitudes.
  void round_queries() {
    rounded_queries_.assign(draw_.products.size(), entries_);
    largest_of_keys_.assign(draw_.products.size(), {});
    for (std::size_t r = 0; r < draw_.products.size(); ++r) {
      const ProductRule& rule = draw_.products[r];
      std::vector<double>& queries = rounded_queries_[r];
      round_entries(rule.entries, {}, queries);
      for (double& entry : queries) entry *= rule.query_factor;
      round_all(rule.scaled_queries, queries);
      quantise(rule, {}, queries);
      if (rule.quantised != Precision::kInt8Tensor) continue;
      largest_of_keys_[r].assign(static_cast<std::size_t>(stride_), 0);
      for (std::int64_t key = 0; key < draw_.keys; ++key) {
        draw_key(key);
        round_entries(rule.entries, {}, key_entries_);
        raise_to_magnitudes(key_entries_, largest_of_keys_[r]);
      }
    }
  }

  // With the largest magnitude of each vector unless one of several is known.
  void quantise(const ProductRule& rule, std::vector<double> largest, std::span<double> entries) {
    if (rule.quantised >= Precision::kInt8Row && largest.empty()) {
      largest.assign(static_cast<std::size_t>(stride_), 0);
      raise_to_magnitudes(entries, largest);
    }
    round_entries(rule.quantised, largest, entries);
  }

  void multiply_rounded(const TileBuffer& tile) {
    for (std::int64_t key = 0; key < tile.keys; ++key) {
      draw_key(tile.first_key + key);
      for (std::size_t r = 0; r < draw_.products.size(); ++r) {
        const ProductRule& rule = draw_.products[r];
        rounded_key_ = key_entries_;
        round_entries(rule.entries, {}, rounded_key_);
        quantise(rule, largest_of_keys_[r], rounded_key_);
        add_up_products(rule.sum, rounded_queries_[r], rounded_key_,
                        tile.products[r].subspan(static_cast<std::size_t>(key * tile.stride),
                                                 static_cast<std::size_t>(stride_)));
      }
    }
  }

  const Draw& draw_;
  std::vector<BlockRows> blocks_;
  std::int64_t rows_ = 0;  // of a vector
  std::int64_t first_query_ = 0;
  std::int64_t stride_ = 0;
  std::vector<double> entries_;
  std::vector<double> shifts_;       // of each query, where keys are aligned
  std::vector<double> more_scores_;  // of a block after the first
  std::vector<double> more_norms_;
  std::vector<double> key_entries_;
  std::vector<double> rounded_key_;
  std::vector<std::vector<double>> rounded_queries_;  // of each rule
  std::vector<std::vector<double>> largest_of_keys_;
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
  GroupDraw group(draw, address);
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
