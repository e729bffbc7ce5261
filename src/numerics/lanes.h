// How queries are laid out for the vector kernels: one query per lane, groups of a fixed width, so
// that nothing depends on the width of the machine's vectors.
#pragma once

#include <cstdint>

namespace attnscale {

/// A tile's stride is a multiple of this many queries: the doubles of one AVX-512 vector.
inline constexpr std::int64_t kLanes = 8;

/// The smallest multiple of kLanes that holds `queries`.
constexpr std::int64_t padded(std::int64_t queries) {
  return (queries + kLanes - 1) / kLanes * kLanes;
}

}  // namespace attnscale
