// Which key head each query head of a layer uses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "audit/head_cells.h"

namespace attnscale {

/// The key head of a query head, both counted through all batches.
using HeadMap = std::function<std::int64_t(std::int64_t)>;

struct HeadOrder {
  HeadMap key_head;
  std::string words;    ///< how many heads there are, and how they are shared
  std::string finding;  ///< empty if the order is as models have it
};

/// Residuals of several fits as one.
struct PooledResidual {
  double squares = 0;
  double count = 0;
  void add(const LineFit& fit);
  double value() const;
};

/// Query head h uses key head h / share, unless its weights fit another order far better and that
/// one badly, with a residual above `good_residual`. `tensors` must outlive the answer.
HeadOrder find_head_order(const AuditTensors& tensors, double good_residual);

}  // namespace attnscale
