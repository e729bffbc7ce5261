// Which key head each query head of a layer uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/head_cells.h"

namespace attnscale {

struct HeadOrder {
  std::vector<HeadPlaces> heads;  ///< that belong together, for each head of queries
  std::string words;              ///< how many heads there are, and how they are shared
  std::string finding;            ///< empty if the order is as models have it
};

/// Query head h uses key head h / share, unless its weights fit another order far better and that
/// one badly, with a residual above `good_residual` or as large as what it explains.
HeadOrder find_head_order(const AuditTensors& tensors, double good_residual);

}  // namespace attnscale
