#include "execution/block_set.h"

#include <algorithm>

namespace attnscale {

void BlockSet::add(BlockRange range) {
  if (range.size() <= 0) return;
  const auto touched = std::lower_bound(
      ranges_.begin(), ranges_.end(), range.first,
      [](const BlockRange& ours, std::int64_t first) { return ours.last < first; });
  auto after = touched;
  for (; after != ranges_.end() && after->first <= range.last; ++after) {
    range.first = std::min(range.first, after->first);
    range.last = std::max(range.last, after->last);
  }
  ranges_.insert(ranges_.erase(touched, after), range);
}

void BlockSet::add(const BlockSet& other) {
  for (const BlockRange& range : other.ranges_) add(range);
}

bool BlockSet::contains(BlockRange range) const {
  return missing_from(range).empty();
}

std::int64_t BlockSet::size() const {
  std::int64_t blocks = 0;
  for (const BlockRange& range : ranges_) blocks += range.size();
  return blocks;
}

BlockSet BlockSet::missing_from(BlockRange range) const {
  BlockSet missing;
  for (const BlockRange& ours : ranges_) {
    missing.add({range.first, std::min(ours.first, range.last)});
    range.first = std::max(range.first, ours.last);
  }
  missing.add(range);
  return missing;
}

BlockSet BlockSet::common_with(const BlockSet& other) const {
  BlockSet common;
  for (const BlockRange& ours : ranges_) {
    for (const BlockRange& theirs : other.ranges_) {
      common.add({std::max(ours.first, theirs.first), std::min(ours.last, theirs.last)});
    }
  }
  return common;
}

}  // namespace attnscale
