// Folds the moments of a cell's blocks in one fixed binary tree over block numbers, whatever order
// the blocks finish in, so that the result never depends on who measured what.
#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "estimate/tally.h"

namespace attnscale {

/// A canonical node: the blocks [index * 2^level, (index + 1) * 2^level).
struct FoldNode {
  int level = 0;
  std::int64_t index = 0;

  auto operator<=>(const FoldNode&) const = default;
};

class FoldTree {
 public:
  /// Adds a node whose blocks were not added before, and merges it with its sibling as long as
  /// there is one: at most (blocks in flight) x log(blocks) nodes are pending.
  void add(FoldNode node, CellMoments moments);

  /// The moments of blocks [0, blocks), all of which were added, pending nodes of the ragged right
  /// edge folded from the smallest to the largest.
  CellMoments fold() const;

  /// Nodes not yet merged, by level and index.
  const std::map<FoldNode, CellMoments>& pending() const { return pending_; }

  friend bool operator==(const FoldTree&, const FoldTree&) = default;

 private:
  std::map<FoldNode, CellMoments> pending_;
};

}  // namespace attnscale
