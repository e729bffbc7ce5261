// The tables of given numbers, of their heads, and of what was drawn beside them.
#pragma once

#include <span>
#include <vector>

#include "experiment/result_row.h"
#include "report/screen_table.h"

namespace attnscale {

/// One table per experiment, head and query: scaling, key, score, logit, weight, slope down the
/// keys, and a note with the output vector of each scaling if there is one. Keys and queries count
/// from 0, as in the files. Of many keys the first are shown, of many queries the first one; a note
/// says how many more weights.csv holds.
std::vector<ScreenTable> given_tables(std::span<const WeightRow> weights,
                                      std::span<const OutputRow> outputs);

/// One table per experiment: metric and scaling down, given, random with its error, and the ratio
/// of the two across.
std::vector<ScreenTable> baseline_tables(std::span<const BaselineRow> rows);

/// One table per experiment and scaling: the heads that stand furthest from the others first, and
/// in which number, as a multiple of the usual distance. A note says how many more heads.csv holds.
std::vector<ScreenTable> head_tables(std::span<const HeadRow> rows);

}  // namespace attnscale
