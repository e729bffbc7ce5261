// How far estimates may lie from their exact values, and which lie further: the check that `verify`
// and every run end with. Knows rows of results and what their names mean, not how they came about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan.h"
#include "experiment/result_row.h"

namespace attnscale {

/// A check of right numbers raises one false alarm in this many runs.
inline constexpr double kRunsPerFalseAlarm = 1000;

/// A line that rests on fewer queries than this decides nothing. See supporting_queries.
inline constexpr double kLeastSupporting = 300;

/// The kurtosis of fewer queries than this decides nothing: its own error rests on eighth powers.
inline constexpr std::int64_t kLeastForKurtosis = 100'000;

/// Further off than this many of its standard errors, a line that decides nothing has error bars
/// that missed what is rare.
inline constexpr double kMisjudged = 6;

/// One line against its exact value.
struct CheckedLine {
  ResultRow row;
  double supporting;  ///< queries that it rests on
  double distance;  ///< |estimate - reference| beyond the reference's own error, in standard errors
  double bound;     ///< the distance allowed
};

struct ReferenceCheck {
  std::int64_t lines = 0;      ///< that have an exact value
  std::int64_t undecided = 0;  ///< of these, resting on too few queries
  /// Of the undecided, statistics of logits so far off that their error bars cannot be right, and
  /// the furthest of them. (Means of queries are judged by fragile_means.)
  std::int64_t misjudged = 0;
  std::optional<CheckedLine> most_misjudged;
  std::int64_t beyond = 0;         ///< further than allowed
  std::vector<CheckedLine> worst;  ///< the furthest, as a share of their bounds; at most five
};

/// How many queries a mean rests on: n m^2 / (m^2 + sd^2), where m is the exact mean, or its
/// distance from the other end of the metric's range if that is smaller. At most row.queries and
/// row.carrying: if a sample saw none of the rare queries that carry the mean, its sd says nothing
/// about them. For a rare event this is the expected number of occurrences. For the spread and
/// kurtosis of logits: the same for the numbers that are averaged, by the delta method, and at most
/// scores / kurtosis. `kurtosis` is the exact one of the cell's scores, or NaN.
double supporting_queries(const ResultRow& row, double kurtosis);

/// Compares all lines of the plan's cells that have an exact value. The bounds are two-sided
/// Student quantiles with one degree of freedom for each thirty queries that a line rests on, at a
/// level that all lines together exceed once in kRunsPerFalseAlarm runs (Bonferroni). An exact
/// value counts as good to kExactError; those of logits, which are closed formulas, as
/// exact.
ReferenceCheck check_estimates(const Plan& plan, const std::vector<ResultRow>& rows);

/// "top_weight of softmax at d=4 keys=8 (normal) under none"
std::string describe_line(const ResultRow& row);

/// What is wrong with the number of queries of a line of this cell, as words that follow the line's
/// name; empty if nothing is.
std::string check_queries(const Experiment& experiment, const Cell& cell, const ResultRow& row);

/// What is wrong with the scalings of a config at its sizes d: those of the table must multiply
/// scores by what their name says, computed a second time here. One sentence each.
std::vector<std::string> check_scaling_names(const Config& config);

}  // namespace attnscale
