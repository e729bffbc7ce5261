// Runs the vector kernels on one instruction set of this machine, whatever else it has.
#pragma once

#include <cstdint>
#include <vector>

// Before any other Highway header, as the kernels do.
#include "numerics/vector_targets.h"
//
#include <hwy/targets.h>

namespace attnscale {

/// While it lives, kernels run on `target`, one of Highway's target bits.
class ForcedTarget {
 public:
  explicit ForcedTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
  }
  ~ForcedTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
};

/// The instruction sets of this machine that promise the same bytes, best first.
inline std::vector<std::int64_t> targets_with_same_bytes() {
  std::vector<std::int64_t> targets;
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2}) {
    if ((hwy::SupportedTargets() & target) != 0) targets.push_back(target);
  }
  return targets;
}

}  // namespace attnscale
