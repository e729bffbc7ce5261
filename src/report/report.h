// What a reader sees after a run and from `attnscale show`: the tables of drawn experiments and of
// given numbers, the answers to the lesson's questions, and the formulas of the scalings. Knows
// nothing of where the rows come from.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.h"
#include "experiment/result_row.h"
#include "report/screen_table.h"

namespace attnscale {

/// "EXPERIMENT: SCALING = FORMULA" for every scaling of every experiment.
std::vector<std::string> formula_lines(const Config& config);

/// "EXPERIMENT: ..." for every experiment of given numbers whose heads share others', or whose
/// numbers hide keys: how many of each.
std::vector<std::string> given_lines(const Config& config);

/// What the tables do not show: formula_lines and given_lines.
struct ReportWords {
  std::vector<std::string> logits = {};
  std::vector<std::string> given = {};

  friend bool operator==(const ReportWords&, const ReportWords&) = default;
};

/// Of an experiment with more metrics than a screen holds, the lesson's alone with a line on how to
/// see the others; or all in the rows, as somebody asked for them.
enum class MetricsShown { kScreenful, kAsked };

/// The whole report of one run as text or markdown, for a screen of `width` characters; markdown is
/// as wide as it is. Ends with a line end; empty if there are no rows. The words follow, formulas
/// if there are scalings other than the lesson's three. Metrics that were asked for come alone,
/// without answers and words; markdown has all of them.
std::string report_text(const Results& run, const ReportWords& words, TableFormat format,
                        std::size_t width, MetricsShown shown = MetricsShown::kScreenful);

// Its parts.

/// The tables of one grid (result_grid.h) of an experiment under one heading.
struct MetricTables {
  std::string heading;
  std::vector<ScreenTable> tables;
};

/// Tables for every experiment in `rows`, if possible none wider than `width`. A cell is "estimate
/// +- standard error", with the exact value in brackets if there is one and room for it; a slope is
/// "median (mean)". A cell shows its status unless that is ok or converged; a note below counts the
/// converged values. Where room is short, errors are in brackets, as 0.8740(17); where that is not
/// enough, exact values are left out. Scalings go down and metrics across if one table per metric
/// would be too wide, or if an experiment has one cell; of many metrics of one cell each has a
/// line.
std::vector<MetricTables> metric_tables(std::span<const ResultRow> rows, std::size_t width,
                                        MetricsShown shown);

/// One table per experiment, head and query: scaling, key, score, logit, weight, slope down the
/// keys, and a note with the output vector of each scaling if there is one. Keys and queries count
/// from 0, as in the files. Of many keys the first are shown, of many queries the first one; a note
/// says how many more weights.csv holds.
std::vector<ScreenTable> given_tables(std::span<const WeightRow> weights,
                                      std::span<const OutputRow> outputs);

/// One table per experiment: metric and scaling down, given, random with its error, and the ratio
/// of the two across.
std::vector<ScreenTable> baseline_tables(std::span<const BaselineRow> rows);

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
