// Work that is cut into groups: which may be done in any order, by workers of their own, and is
// gathered in the order of the groups, so that no number depends on who did what.
#pragma once

#include <cstdint>
#include <functional>

namespace attnscale {

/// Puts what was found out of a group where it belongs.
using Gather = std::function<void()>;

/// What a worker does with a group; empty if it was told to stop.
using GroupWork = std::function<Gather(std::int64_t group)>;

/// Has groups 0 ... groups - 1 done by workers that it makes, and calls what they return one at a
/// time in the order of the groups. False if one of them stopped.
using GroupRunner =
    std::function<bool(std::int64_t groups, const std::function<GroupWork()>& make_worker)>;

/// One worker, one group after the other. For threads see execution/group_threads.h.
inline bool run_one_by_one(std::int64_t groups, const std::function<GroupWork()>& make_worker) {
  const GroupWork work = make_worker();
  for (std::int64_t group = 0; group < groups; ++group) {
    const Gather gather = work(group);
    if (!gather) return false;
    gather();
  }
  return true;
}

}  // namespace attnscale
