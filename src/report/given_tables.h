// Given numbers on the screen: their weights and outputs, query by query, as the lesson's worked
// examples print them, and their metrics beside those of random numbers.
#pragma once

#include <span>
#include <vector>

#include "experiment/result_row.h"
#include "report/screen_table.h"

namespace attnscale {

/// One table per experiment, head and query: scaling, key, score, logit, weight, slope down the
/// keys, and a note with the output vector per scaling where there is one. Keys and queries count
/// from 0, as in the files. Of many queries or keys the first are shown, and a note says how many
/// more weights.csv holds.
std::vector<ScreenTable> given_tables(std::span<const WeightRow> weights,
                                      std::span<const OutputRow> outputs);

/// One table per experiment: metric and scaling down, given, random with its error, and the ratio
/// of the two across.
std::vector<ScreenTable> baseline_tables(std::span<const BaselineRow> rows);

}  // namespace attnscale
