#include "io/column_words.h"

#include <fmt/core.h>

#include "experiment/metric.h"

namespace attnscale {
namespace {

struct Words {
  std::string_view file;  // empty for all that have no row of their own
  std::string_view column;
  std::string_view title;
  std::string_view unit;
  std::string_view description;
};

constexpr std::string_view kOfTheMetric = "that of the metric";

// Each row stays a line or two.
// clang-format off
constexpr Words kWords[] = {
    {"", "run", "run", "", "Name of the run."},
    {"", "seed", "seed", "1", "Where the random numbers started."},
    {"", "experiment", "experiment", "", "Name of the experiment in the config."},
    {"", "entries", "law of the entries", "", "Name of the law of the numbers in queries and keys; empty for given numbers."},
    {"", "entries_value", "number of the law", "1", "Value of the law's number, if that is swept."},
    {"", "entries_series", "law of the entries", "", "Law and value in one: the name of a curve."},
    {"", "d", "numbers in a query", "1", "Head size: numbers in one query and one key; empty for given scores without one."},
    {"crossings.csv", "d", "d of the level", "1", "The d at which the level is reached, by a straight line in ln(1 - top weight) against ln d between measured sizes."},
    {"", "keys", "keys per query", "1", "How many keys a query is scored against; the most, where given queries see different numbers."},
    {"", "scaling", "scaling", "", "Name of the rule that turns a score into a logit."},
    {"", "scaling_value", "number of the scaling", "1", "Value of the scaling's number, if that is swept."},
    {"", "series", "scaling", "", "Scaling and value in one: the name of a curve."},
    {"", "metric", "metric", "", "What was measured."},
    {"histogram.csv", "metric", "quantity", "", "What was counted: a metric, score or logit."},
    {"", "queries", "queries", "1", "How many queries the line is about."},
    {"", "left_out", "queries left out", "1", "How many queries the line is not about, as a score, logit or weight of theirs is not finite; in wide.csv the most of any metric."},
    {"", "estimate", "estimate", kOfTheMetric, "Mean of the metric over queries; of statistics of logits that over all logits, of output_sd the root mean square."},
    {"contrasts.csv", "estimate", "difference", kOfTheMetric, "Mean over queries of the metric under the scaling less that under the baseline."},
    {"", "std_error", "standard error", kOfTheMetric, "Standard error of the estimate; the query is the unit."},
    {"", "ci_low", "95 % from", kOfTheMetric, "Lower end of the 95 % interval."},
    {"", "ci_high", "95 % to", kOfTheMetric, "Upper end of the 95 % interval."},
    {"", "sd", "spread over queries", kOfTheMetric, "Standard deviation of the metric over queries."},
    {"", "min", "smallest", kOfTheMetric, "Smallest value of a query."},
    {"", "q05", "5 % quantile", kOfTheMetric, "Value that 5 % of the queries do not exceed."},
    {"", "median", "median", kOfTheMetric, "Value of the typical query."},
    {"", "q95", "95 % quantile", kOfTheMetric, "Value that 95 % of the queries do not exceed."},
    {"", "max", "largest", kOfTheMetric, "Largest value of a query."},
    {"", "reference", "exact", kOfTheMetric, "Exact value, if theory knows it."},
    {"", "z", "z", "1", "(estimate - reference) / std_error."},
    {"", "status", "status", "", "ok, or what is to be said of the line."},
    {"crossings.csv", "status", "status", "", "ok, below (reached at the smallest d already) or not_reached (not at the largest)."},
    {"", "statistic", "statistic", "", "mean or median."},
    {"", "level", "level", "1", "Top weight that is reached."},
    {"", "d_std_error", "standard error of d", "1", "Standard error of d, from those of the two neighbouring sizes by the delta method."},
    {"", "d_exact", "exact d", "1", "The d at which the exact mean reaches the level, if theory knows it."},
    {"", "baseline", "baseline", "", "Scaling that is subtracted: the experiment's first."},
    {"baselines.csv", "baseline", "random numbers", kOfTheMetric, "The same metric of random queries and keys, entries of mean 0 and spread 1."},
    {"", "baseline_queries", "random queries", "1", "How many random queries were measured."},
    {"", "baseline_std_error", "standard error of random numbers", kOfTheMetric, "Standard error of baseline."},
    {"", "ratio", "given / random", "1", "estimate / baseline."},
    {"", "matched_queries", "matched queries", "1", "How many random queries were measured whose entries have the mean and spread of each head's own."},
    {"", "matched", "matched numbers", kOfTheMetric, "The same metric of those queries and their keys."},
    {"", "matched_std_error", "standard error of matched numbers", kOfTheMetric, "Standard error of matched, from independent copies of the layer."},
    {"", "matched_ratio", "given / matched", "1", "estimate / matched."},
    {"", "runs", "runs", "1", "How many runs were pooled."},
    {"", "intervals", "intervals", "1", "How many of the runs have a 95 % interval here."},
    {"", "holding", "holding", "1", "How many of these intervals hold the exact value."},
    {"", "share", "share that holds", "1", "holding / intervals; about 0.95 is right."},
    {"", "bin_low", "from", kOfTheMetric, "Lower end of the bin, in log10 for slopes; empty for the bin of all that is lower."},
    {"", "bin_high", "to", kOfTheMetric, "Upper end of the bin, in log10 for slopes; empty for the bin of all that is higher."},
    {"", "count", "count", "1", "How many values lie in the bin."},
    {"", "density", "density", "1", "Share of the values in the bin, per unit of its axis."},
    {"heads.csv", "max_logit", "largest absolute logit", "logit", "Largest absolute logit of any query of the head."},
    {"queries.csv", "keys", "keys of the query", "1", "How many keys the query sees."},
    {"", "query", "query", "1", "Number of the query in its cell, from 0."},
    {"", "head", "head", "1", "Number of the head, from 0."},
    {"", "key", "key", "1", "Number of the key, from 0."},
    {"", "component", "component", "1", "Number of the output's component, from 0."},
    {"", "score", "score", "1", "q.k."},
    {"", "logit", "logit", "1", "The scaled score, which softmax sees."},
    {"", "weight", "weight", "1", "What softmax makes of the query's logits."},
    {"", "slope", "slope", "1", "weight (1 - weight)."},
    {"", "output", "output", "1", "Sum of the values' components, by weight."},
};
// clang-format on

}  // namespace

ColumnWords column_words(std::string_view file, std::string_view column) {
  const Words* found = nullptr;
  for (const Words& row : kWords) {
    if (row.column != column || (!row.file.empty() && row.file != file)) continue;
    if (found == nullptr || !row.file.empty()) found = &row;
  }
  if (found != nullptr) {
    return {std::string(found->title), std::string(found->unit), std::string(found->description)};
  }
  for (const auto& [ending, what] : {std::pair<std::string_view, std::string_view>{"", ""},
                                     {"_se", "standard error"},
                                     {"_reference", "exact"},
                                     {"_median", "median"}}) {
    if (!column.ends_with(ending)) continue;
    const MetricRow* metric = find_metric(column.substr(0, column.size() - ending.size()));
    if (metric == nullptr) continue;
    const std::string title(metric->title);
    return {what.empty() ? title : fmt::format("{}, {}", title, what), std::string(metric->unit),
            fmt::format("{}{}{}.", what, what.empty() ? "" : ": ", metric->help)};
  }
  return {};
}

}  // namespace attnscale
