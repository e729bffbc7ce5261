// The arithmetic of kernels that people run, by name.
#pragma once

#include <span>
#include <string_view>

#include "numerics/precision_steps.h"

namespace attnscale {

struct PrecisionSet {
  std::string_view name;
  std::string_view help;    ///< one line
  std::string_view source;  ///< where each step is said or read
  PrecisionSteps steps;
};

std::span<const PrecisionSet> precision_sets();

}  // namespace attnscale
