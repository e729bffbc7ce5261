// The tables of the heads of given numbers.
#pragma once

#include <span>
#include <vector>

#include "experiment/result_row.h"
#include "report/screen_table.h"

namespace attnscale {

/// One table per experiment and scaling: the heads that stand furthest from the others first, and
/// in which number, as a multiple of the usual distance. A note says how many more heads.csv holds.
std::vector<ScreenTable> head_tables(std::span<const HeadRow> rows);

}  // namespace attnscale
