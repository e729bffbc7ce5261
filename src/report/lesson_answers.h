// Answers to the lesson's questions from the rows of a run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/result_row.h"

namespace attnscale {

/// Answers to the lesson's questions, each beginning with the number of its question:
/// 1 the spread of the scores against sqrt(d), and after the division; 2 the d from which the
/// unscaled softmax hands one key more than 0.9 of the weight; 3 the slope of a typical query,
/// unscaled and scaled; 4 what dividing by d does. If the rows answer only some of them, the last
/// line says what the others need. Only sizes d that run down a table, or a single cell, answer:
/// the questions are about d. If several grids of a run answer a question, each answer says which
/// it is from; of many, the first three are shown.
std::vector<std::string> lesson_answers(std::span<const ResultRow> rows,
                                        std::span<const CrossingRow> crossings);

}  // namespace attnscale
