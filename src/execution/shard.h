// A share of a run: which blocks of every cell one of several machines measures.
#pragma once

#include <cstdint>

namespace attnscale {

/// Shard `index` of `count`, index 1 ... count.
struct Shard {
  std::int64_t index = 1;
  std::int64_t count = 1;

  friend bool operator==(const Shard&, const Shard&) = default;
};

}  // namespace attnscale
