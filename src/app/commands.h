// Commands that measure nothing: what they print on stdout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "report/screen_table.h"

namespace attnscale {

/// Cells, blocks, formulas and expected processor seconds of a config that `overrides` led to;
/// `width` is that of the screen in characters.
std::string plan_text(const Config& config, const std::vector<Override>& overrides,
                      TableFormat format, std::size_t width);

/// The tables of the finished runs in `folders`, the report or those of the named metrics alone; as
/// CSV one table of all their summaries.
std::string show_text(const std::vector<std::string>& folders, TableFormat format,
                      const std::vector<std::string>& metrics, ScreenSize screen);

/// Score, logit, weight and slope of each of a list of scores, and a bar for the weight, under each
/// scaling that it can have.
std::string softmax_text(const std::vector<double>& scores, std::optional<std::int64_t> d,
                         std::size_t width);

}  // namespace attnscale
