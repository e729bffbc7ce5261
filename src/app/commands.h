// Commands that measure nothing: what they print on stdout.
#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"

namespace attnscale {

/// Cells, blocks, formulas and expected processor seconds of a config; `width` is that of the
/// screen in characters. Warnings go to `warnings`.
std::string plan_text(const PlanCommand& command, std::size_t width,
                      std::vector<std::string>& warnings);

/// The tables of finished runs.
std::string show_text(const ShowCommand& command, std::size_t width);

/// Score, logit, weight and slope of each of a list of scores, and a bar for the weight, under each
/// scaling that it can have.
std::string softmax_text(const SoftmaxCommand& command, std::size_t width);

}  // namespace attnscale
