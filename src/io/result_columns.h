// The columns of each file, in order: what they are called and hold, where a row keeps their
// values, and which may be empty: those that are optional or marked below, and no others. Whoever
// writes or reads a file visits them; a row is const when it is written and not when it is read.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "estimate/difference.h"
#include "estimate/pool.h"
#include "experiment/result_row.h"
#include "io/table.h"

namespace attnscale {

template <typename T, typename Row>
concept Is = std::is_same_v<std::remove_const_t<T>, Row>;

/// A column of a file; without words it is that of the metric of its name.
struct ColumnText {
  std::string_view name;
  std::string_view title = {};  ///< a few words, for an axis
  std::string_view unit = {};   ///< empty for texts, "1" for plain numbers
  std::string_view description = {};
};

/// A text that need not be there, such as the law of given numbers.
template <typename Text>
struct MayBeEmpty {
  Text& text;
};
template <typename Text>
MayBeEmpty(Text&) -> MayBeEmpty<Text>;

/// A text that follows from others of the line, for readers that want one column for a curve.
template <Empty kMay>
struct Derived {
  std::string text;
};

/// A number that is computed from given ones: where it is not finite its cell is empty, and the
/// line's status says what it was, such as "logit=inf weight=nan".
template <typename Number>
struct Computed {
  Number& number;
};
template <typename Number>
Computed(Number&) -> Computed<Number>;

/// The status of a line of computed numbers.
struct NumberStatus {};

// Each column stays a line.
// clang-format off

inline constexpr std::string_view kOfTheMetric = "that of the metric";

// Columns of several files.
inline constexpr ColumnText kKeys{"keys", "keys per query", "1", "How many keys a query is scored against; the most, where given queries see different numbers."};
inline constexpr ColumnText kMetric{"metric", "metric", "", "What was measured."};
inline constexpr ColumnText kQueries{"queries", "queries", "1", "How many queries the line is about."};
inline constexpr ColumnText kLeftOut{"left_out", "queries left out", "1", "How many queries the line is not about, as a score, logit or weight of theirs is not finite; in wide.csv the most of any metric."};
inline constexpr ColumnText kEstimate{"estimate", "estimate", kOfTheMetric, "Mean of the metric over queries; of statistics of logits that over all logits, of output_sd the root mean square."};
inline constexpr ColumnText kStdError{"std_error", "standard error", kOfTheMetric, "Standard error of the estimate; the query is the unit."};
inline constexpr ColumnText kCiLow{"ci_low", "95 % from", kOfTheMetric, "Lower end of the 95 % interval."};
inline constexpr ColumnText kCiHigh{"ci_high", "95 % to", kOfTheMetric, "Upper end of the 95 % interval."};
inline constexpr ColumnText kReference{"reference", "exact", kOfTheMetric, "Exact value, if theory knows it."};
inline constexpr ColumnText kStatus{"status", "status", "", "ok, or what is to be said of the line."};
inline constexpr ColumnText kQuery{"query", "query", "1", "Number of the query in its cell, from 0."};
inline constexpr ColumnText kHead{"head", "head", "1", "Number of the head, from 0."};

void visit_experiment(Is<ResultKey> auto& key, auto&& column) {
  column({"run", "run", "", "Name of the run."}, key.run);
  column({"seed", "seed", "1", "Where the random numbers started."}, key.seed);
  column({"experiment", "experiment", "", "Name of the experiment in the config."}, key.experiment);
}

void visit_entries(Is<ResultKey> auto& key, auto&& column) {
  column({"entries", "law of the entries", "", "Name of the law of the numbers in queries and keys; empty for given numbers."}, MayBeEmpty{key.entries});
  column({"entries_value", "number of the law", "1", "Value of the law's number, if that is swept."}, key.entries_value);
  column({"entries_series", "law of the entries", "", "Law and value in one: the name of a curve."},
         Derived<Empty::kAllowed>{key.entries.empty()
                                      ? std::string()
                                      : name_with_value(key.entries, key.entries_value)});
}

void visit_sizes(Is<ResultKey> auto& key, auto&& column, const ColumnText& keys = kKeys) {
  column({"d", "numbers in a query", "1", "Head size: numbers in one query and one key; empty for given scores without one."}, key.d);
  column(keys, key.keys);
}

void visit_scaling(Is<ResultKey> auto& key, auto&& column) {
  column({"scaling", "scaling", "", "Name of the rule that turns a score into a logit."}, key.scaling);
  column({"scaling_value", "number of the scaling", "1", "Value of the scaling's number, if that is swept."}, key.scaling_value);
  column({"series", "scaling", "", "Scaling and value in one: the name of a curve."}, Derived<Empty::kNever>{name_with_value(key.scaling, key.scaling_value)});
}

// Of given numbers, which have no law of entries.
void visit_given(Is<ResultKey> auto& key, auto&& column, const ColumnText& keys = kKeys) {
  visit_experiment(key, column);
  visit_sizes(key, column, keys);
  visit_scaling(key, column);
}

void visit_columns(Is<ResultKey> auto& key, auto&& column) {
  visit_experiment(key, column);
  visit_entries(key, column);
  visit_sizes(key, column);
  visit_scaling(key, column);
}

void visit_columns(Is<ResultRow> auto& row, auto&& column) {
  visit_columns(row.key, column);
  column(kMetric, row.metric);
  column(kQueries, row.queries);
  column(kLeftOut, row.left_out);
  column(kEstimate, row.estimate);
  column(kStdError, row.std_error);
  column(kCiLow, row.ci_low);
  column(kCiHigh, row.ci_high);
  column({"sd", "spread over queries", kOfTheMetric, "Standard deviation of the metric over queries."}, row.sd);
  column({"min", "smallest", kOfTheMetric, "Smallest value of a query."}, row.min);
  column({"q05", "5 % quantile", kOfTheMetric, "Value that 5 % of the queries do not exceed."}, row.q05);
  column({"median", "median", kOfTheMetric, "Value of the typical query."}, row.median);
  column({"q95", "95 % quantile", kOfTheMetric, "Value that 95 % of the queries do not exceed."}, row.q95);
  column({"max", "largest", kOfTheMetric, "Largest value of a query."}, row.max);
  column(kReference, row.reference);
  column({"z", "z", "1", "(estimate - reference) / std_error."}, row.z);
  column(kStatus, row.status);
}

void visit_columns(Is<CrossingRow> auto& row, auto&& column) {
  visit_experiment(row.key, column);
  visit_entries(row.key, column);
  column(kKeys, row.key.keys);
  visit_scaling(row.key, column);
  column(kMetric, row.metric);
  column({"statistic", "statistic", "", "mean or median."}, row.statistic);
  column({"level", "level", "1", "Top weight that is reached."}, row.level);
  column({"d", "d of the level", "1", "The d at which the level is reached, by a straight line in ln(1 - top weight) against ln d between measured sizes."}, row.d);
  column({"d_std_error", "standard error of d", "1", "Standard error of d, from those of the two neighbouring sizes by the delta method."}, row.d_std_error);
  column({"d_exact", "exact d", "1", "The d at which the exact mean reaches the level, if theory knows it."}, row.d_exact);
  column({"status", "status", "", "ok, below (reached at the smallest d already) or not_reached (not at the largest)."}, row.status);
}

void visit_columns(Is<ContrastRow> auto& row, auto&& column) {
  visit_experiment(row.key, column);
  visit_entries(row.key, column);
  visit_sizes(row.key, column);
  column(kMetric, row.metric);
  visit_scaling(row.key, column);
  column({"baseline", "baseline", "", "Scaling that is subtracted: the experiment's first."}, row.baseline);
  column(kQueries, row.queries);
  column(kLeftOut, row.left_out);
  column({"estimate", "difference", kOfTheMetric, "Mean over queries of the metric under the scaling less that under the baseline."}, row.estimate);
  column(kStdError, row.std_error);
  column(kCiLow, row.ci_low);
  column(kCiHigh, row.ci_high);
}

void visit_columns(Is<HistogramRow> auto& row, auto&& column) {
  visit_columns(row.key, column);
  column({"metric", "quantity", "", "What was counted: a metric, score or logit."}, row.metric);
  column({"bin_low", "from", kOfTheMetric, "Lower end of the bin, in log10 for slopes; empty for the bin of all that is lower."}, row.bin_low);
  column({"bin_high", "to", kOfTheMetric, "Upper end of the bin, in log10 for slopes; empty for the bin of all that is higher."}, row.bin_high);
  column({"count", "count", "1", "How many values lie in the bin."}, row.count);
  column({"density", "density", "1", "Share of the values in the bin, per unit of its axis."}, row.density);
}

void visit_columns(Is<SampleRow> auto& row, auto&& column) {
  visit_columns(row.key, column);
  column(kQuery, row.query);
}

void visit_columns(Is<WeightRow> auto& row, auto&& column) {
  visit_given(row.key, column);
  column(kHead, row.head);
  column(kQuery, row.query);
  column({"key", "key", "1", "Number of the key, from 0."}, row.key_number);
  column({"score", "score", "1", "q.k."}, Computed{row.score});
  column({"logit", "logit", "1", "The scaled score, which softmax sees."}, Computed{row.logit});
  column({"weight", "weight", "1", "What softmax makes of the query's logits."}, Computed{row.weight});
  column({"slope", "slope", "1", "weight (1 - weight)."}, Computed{row.slope});
  column(kStatus, NumberStatus{});
}

void visit_columns(Is<OutputRow> auto& row, auto&& column) {
  visit_given(row.key, column);
  column(kHead, row.head);
  column(kQuery, row.query);
  column({"component", "component", "1", "Number of the output's component, from 0."}, row.component);
  column({"output", "output", "1", "Sum of the values' components, by weight."}, Computed{row.output});
  column(kStatus, NumberStatus{});
}

void visit_numbers(Is<HeadNumbers> auto& numbers, auto&& column, const ColumnText& max_logit = {"max_logit"}) {
  column({"logit_sd"}, numbers.logit_sd);
  column(max_logit, numbers.max_logit);
  column({"top_weight"}, numbers.top_weight);
  column({"entropy"}, numbers.entropy);
  column({"effective_keys"}, numbers.effective_keys);
  column({"saturated"}, numbers.saturated);
  column(kStatus, numbers.status);
}

void visit_columns(Is<HeadRow> auto& row, auto&& column) {
  visit_given(row.key, column);
  column(kHead, row.head);
  column(kQueries, row.numbers.queries);
  column(kLeftOut, row.numbers.left_out);
  visit_numbers(row.numbers, column, {"max_logit", "largest absolute logit", "logit", "Largest absolute logit of any query of the head."});
}

void visit_columns(Is<QueryRow> auto& row, auto&& column) {
  visit_given(row.key, column, {"keys", "keys of the query", "1", "How many keys the query sees."});
  column(kHead, row.head);
  column(kQuery, row.query);
  visit_numbers(row.numbers, column);
}

void visit_columns(Is<BaselineRow> auto& row, auto&& column) {
  visit_given(row.key, column);
  column(kMetric, row.metric);
  column(kQueries, row.queries);
  column(kEstimate, row.estimate);
  column({"baseline_queries", "random queries", "1", "How many random queries were measured."}, row.normal.queries);
  column({"baseline", "random numbers", kOfTheMetric, "The same metric of random queries and keys, entries of mean 0 and spread 1."}, row.normal.estimate);
  column({"baseline_std_error", "standard error of random numbers", kOfTheMetric, "Standard error of baseline."}, row.normal.std_error);
  column({"ratio", "given / random", "1", "estimate / baseline."}, row.normal.ratio);
  column({"matched_queries", "matched queries", "1", "How many random queries were measured whose entries have the mean and spread of each head's own."}, row.matched.queries);
  column({"matched", "matched numbers", kOfTheMetric, "The same metric of those queries and their keys."}, row.matched.estimate);
  column({"matched_std_error", "standard error of matched numbers", kOfTheMetric, "Standard error of matched, from independent copies of the layer."}, row.matched.std_error);
  column({"matched_ratio", "given / matched", "1", "estimate / matched."}, row.matched.ratio);
}

void visit_columns(Is<CoverageRow> auto& row, auto&& column) {
  visit_columns(row.key, column);
  column(kMetric, row.metric);
  column({"runs", "runs", "1", "How many runs were pooled."}, row.runs);
  column(kReference, row.reference);
  column({"intervals", "intervals", "1", "How many of the runs have a 95 % interval here."}, row.intervals);
  column({"holding", "holding", "1", "How many of these intervals hold the exact value."}, row.holding);
  column({"share", "share that holds", "1", "holding / intervals; about 0.95 is right."}, row.share);
}

void visit_columns(Is<DifferenceRow> auto& row, auto&& column) {
  column({"experiment"}, row.key.experiment);
  visit_entries(row.key, column);
  visit_sizes(row.key, column);
  visit_scaling(row.key, column);
  column(kMetric, row.metric);
  column({"estimate_a"}, row.a);
  column({"std_error_a"}, row.a_std_error);
  column({"estimate_b"}, row.b);
  column({"std_error_b"}, row.b_std_error);
  column({"difference"}, row.difference);
  column(kStdError, row.std_error);
  column({"z"}, row.z);
  column({"shared"}, row.shared);
}

// clang-format on

}  // namespace attnscale
