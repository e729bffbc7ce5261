// The vector kernel of q.k for queries and keys that are given: a few queries against a panel of
// keys at a time. Knows nothing of where they come from.
#pragma once

#include <cstddef>
#include <span>

namespace attnscale {

/// Queries and keys that the kernel takes at once. Both lie component by component:
/// queries[component * kBlockQueries + query] and keys[component * kPanelKeys + key].
inline constexpr std::size_t kBlockQueries = 6;
inline constexpr std::size_t kPanelKeys = 16;

/// scores[query * stride + key] = q.k, in double precision: fused multiply-adds in the order of the
/// components, so that no score depends on the width of vectors or on the other queries and keys.
void score_panel(std::span<const double> queries, std::span<const double> keys, double* scores,
                 std::size_t stride);

}  // namespace attnscale
