#include "numerics/vector_target.h"

#include "numerics/vector_targets.h"
//
#include <hwy/targets.h>

#include <cstdint>

namespace attnscale {
namespace {

// Targets are bits, the best the lowest.
std::int64_t best_target() {
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return usable & -usable;
}

}  // namespace

std::string vector_target() {
  return hwy::TargetName(best_target());
}

bool vector_target_keeps_bytes() {
  return (best_target() & (HWY_AVX2 | HWY_AVX3)) != 0;
}

}  // namespace attnscale
