// The commands that measure nothing: they answer from the config, the tables of the program, or the
// files of finished runs. Each returns what belongs on stdout.
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

/// Score, logit, weight and slope of each of a list of scores, under each scaling that it can have.
std::string softmax_text(const SoftmaxCommand& command, std::size_t width);

/// The names a config may use, with what each means.
std::string list_text(const ListCommand& command);

}  // namespace attnscale
