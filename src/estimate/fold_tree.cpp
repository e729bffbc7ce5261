#include "estimate/fold_tree.h"

#include <utility>

namespace attnscale {

void FoldTree::add(FoldNode node, CellMoments moments) {
  while (true) {
    const auto sibling = pending_.find({node.level, node.index ^ 1});
    if (sibling == pending_.end()) break;
    const bool is_left = node.index % 2 == 0;
    moments = is_left ? merge(moments, sibling->second) : merge(sibling->second, moments);
    pending_.erase(sibling);
    node = {node.level + 1, node.index / 2};
  }
  pending_.emplace(node, std::move(moments));
}

CellMoments FoldTree::fold() const {
  CellMoments folded;
  // Once every block of a prefix is in, at most one node a level is pending: the binary digits of
  // the number of blocks, the smallest level furthest right.
  for (const auto& [node, moments] : pending_) {
    folded = folded.empty() ? moments : merge(moments, folded);
  }
  return folded;
}

}  // namespace attnscale
