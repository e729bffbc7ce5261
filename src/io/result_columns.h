// The columns of each file, in order: what they are called, where a row keeps their values, and
// which may be empty: those that are optional or marked below, and no others. Whoever writes or
// reads a file visits them; a row is const when it is written and not when it is read.
#pragma once

#include <string>
#include <type_traits>

#include "estimate/difference.h"
#include "estimate/pool.h"
#include "experiment/result_row.h"
#include "io/table.h"

namespace attnscale {

template <typename T, typename Row>
concept Is = std::is_same_v<std::remove_const_t<T>, Row>;

/// A text that need not be there, such as the law of given numbers.
template <typename Text>
struct MayBeEmpty {
  Text& text;
};

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

/// The status of a line of computed numbers.
struct NumberStatus {};

void visit_experiment(Is<ResultKey> auto& key, auto&& column) {
  column("run", key.run);
  column("seed", key.seed);
  column("experiment", key.experiment);
}

void visit_entries(Is<ResultKey> auto& key, auto&& column) {
  column("entries", MayBeEmpty{key.entries});
  column("entries_value", key.entries_value);
  column("entries_series",
         Derived<Empty::kAllowed>{key.entries.empty()
                                      ? std::string()
                                      : name_with_value(key.entries, key.entries_value)});
}

void visit_sizes(Is<ResultKey> auto& key, auto&& column) {
  column("d", key.d);
  column("keys", key.keys);
}

void visit_scaling(Is<ResultKey> auto& key, auto&& column) {
  column("scaling", key.scaling);
  column("scaling_value", key.scaling_value);
  column("series", Derived<Empty::kNever>{name_with_value(key.scaling, key.scaling_value)});
}

// Of given numbers, which have no law of entries.
void visit_given(Is<ResultKey> auto& key, auto&& column) {
  visit_experiment(key, column);
  visit_sizes(key, column);
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
  column("metric", row.metric);
  column("queries", row.queries);
  column("left_out", row.left_out);
  column("estimate", row.estimate);
  column("std_error", row.std_error);
  column("ci_low", row.ci_low);
  column("ci_high", row.ci_high);
  column("sd", row.sd);
  column("min", row.min);
  column("q05", row.q05);
  column("median", row.median);
  column("q95", row.q95);
  column("max", row.max);
  column("reference", row.reference);
  column("z", row.z);
  column("status", row.status);
}

void visit_columns(Is<CrossingRow> auto& row, auto&& column) {
  visit_experiment(row.key, column);
  visit_entries(row.key, column);
  column("keys", row.key.keys);
  visit_scaling(row.key, column);
  column("metric", row.metric);
  column("statistic", row.statistic);
  column("level", row.level);
  column("d", row.d);
  column("d_std_error", row.d_std_error);
  column("d_exact", row.d_exact);
  column("status", row.status);
}

void visit_columns(Is<ContrastRow> auto& row, auto&& column) {
  visit_experiment(row.key, column);
  visit_entries(row.key, column);
  visit_sizes(row.key, column);
  column("metric", row.metric);
  visit_scaling(row.key, column);
  column("baseline", row.baseline);
  column("queries", row.queries);
  column("left_out", row.left_out);
  column("estimate", row.estimate);
  column("std_error", row.std_error);
  column("ci_low", row.ci_low);
  column("ci_high", row.ci_high);
}

void visit_columns(Is<HistogramRow> auto& row, auto&& column) {
  visit_columns(row.key, column);
  column("metric", row.metric);
  column("bin_low", row.bin_low);
  column("bin_high", row.bin_high);
  column("count", row.count);
  column("density", row.density);
}

void visit_columns(Is<SampleRow> auto& row, auto&& column) {
  visit_columns(row.key, column);
  column("query", row.query);
}

void visit_columns(Is<WeightRow> auto& row, auto&& column) {
  visit_given(row.key, column);
  column("head", row.head);
  column("query", row.query);
  column("key", row.key_number);
  column("score", Computed{row.score});
  column("logit", Computed{row.logit});
  column("weight", Computed{row.weight});
  column("slope", Computed{row.slope});
  column("status", NumberStatus{});
}

void visit_columns(Is<OutputRow> auto& row, auto&& column) {
  visit_given(row.key, column);
  column("head", row.head);
  column("query", row.query);
  column("component", row.component);
  column("output", Computed{row.output});
  column("status", NumberStatus{});
}

void visit_numbers(Is<HeadNumbers> auto& numbers, auto&& column) {
  column("logit_sd", numbers.logit_sd);
  column("max_logit", numbers.max_logit);
  column("top_weight", numbers.top_weight);
  column("entropy", numbers.entropy);
  column("effective_keys", numbers.effective_keys);
  column("saturated", numbers.saturated);
  column("status", numbers.status);
}

void visit_columns(Is<HeadRow> auto& row, auto&& column) {
  visit_given(row.key, column);
  column("head", row.head);
  column("queries", row.numbers.queries);
  column("left_out", row.numbers.left_out);
  visit_numbers(row.numbers, column);
}

void visit_columns(Is<QueryRow> auto& row, auto&& column) {
  visit_given(row.key, column);
  column("head", row.head);
  column("query", row.query);
  visit_numbers(row.numbers, column);
}

void visit_columns(Is<BaselineRow> auto& row, auto&& column) {
  visit_given(row.key, column);
  column("metric", row.metric);
  column("queries", row.queries);
  column("estimate", row.estimate);
  column("baseline_queries", row.normal.queries);
  column("baseline", row.normal.estimate);
  column("baseline_std_error", row.normal.std_error);
  column("ratio", row.normal.ratio);
  column("matched_queries", row.matched.queries);
  column("matched", row.matched.estimate);
  column("matched_std_error", row.matched.std_error);
  column("matched_ratio", row.matched.ratio);
}

void visit_columns(Is<CoverageRow> auto& row, auto&& column) {
  visit_columns(row.key, column);
  column("metric", row.metric);
  column("runs", row.runs);
  column("reference", row.reference);
  column("intervals", row.intervals);
  column("holding", row.holding);
  column("share", row.share);
}

void visit_columns(Is<DifferenceRow> auto& row, auto&& column) {
  column("experiment", row.key.experiment);
  visit_entries(row.key, column);
  visit_sizes(row.key, column);
  visit_scaling(row.key, column);
  column("metric", row.metric);
  column("estimate_a", row.a);
  column("std_error_a", row.a_std_error);
  column("estimate_b", row.b);
  column("std_error_b", row.b_std_error);
  column("difference", row.difference);
  column("std_error", row.std_error);
  column("z", row.z);
  column("shared", row.shared);
}

}  // namespace attnscale
