// The lesson's four questions, answered from the numbers of a run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/result_row.h"

namespace attnscale {

/// Answers to what the lesson says to look for, each beginning with the number of its question:
/// 1 the spread of the scores against sqrt(d), and after the division; 2 the d from which the
/// unscaled softmax hands one key more than 0.9 of the weight; 3 the slope of a typical query,
/// unscaled and scaled; 4 what dividing by d does. Only what the rows have numbers for is said, and
/// grids in which keys or entries run down answer nothing: the questions are about d. Where
/// several grids of the run answer one question each says which it is; of many the first three.
std::vector<std::string> lesson_answers(std::span<const ResultRow> rows,
                                        std::span<const CrossingRow> crossings);

}  // namespace attnscale
