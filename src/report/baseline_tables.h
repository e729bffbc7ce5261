// Given numbers beside random ones, on the screen.
#pragma once

#include <span>
#include <vector>

#include "experiment/result_row.h"
#include "report/screen_table.h"

namespace attnscale {

/// One table per experiment: metric and scaling down, given, random with its error, and the ratio
/// of the two across.
std::vector<ScreenTable> baseline_tables(std::span<const BaselineRow> rows);

}  // namespace attnscale
