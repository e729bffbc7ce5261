// Which blocks of a cell: a set of block numbers held as ranges, so that a cell of any length costs
// no more memory than the holes in what is done of it.
#pragma once

#include <cstdint>
#include <vector>

namespace attnscale {

/// The blocks first ... last - 1.
struct BlockRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::int64_t size() const { return last - first; }
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

class BlockSet {
 public:
  BlockSet() = default;
  explicit BlockSet(BlockRange range) { add(range); }

  /// Adds a range; blocks that were there before stay.
  void add(BlockRange range);
  void add(const BlockSet& other);

  bool empty() const { return ranges_.empty(); }
  bool contains(BlockRange range) const;

  /// How many blocks.
  std::int64_t size() const;

  /// The blocks of `range` that are not in this set.
  BlockSet missing_from(BlockRange range) const;

  /// The blocks that are in both sets.
  BlockSet common_with(const BlockSet& other) const;

  /// In ascending order; no two touch.
  const std::vector<BlockRange>& ranges() const { return ranges_; }

  friend bool operator==(const BlockSet&, const BlockSet&) = default;

 private:
  std::vector<BlockRange> ranges_;
};

}  // namespace attnscale
