// What a run finds out, as plain values: each ...Row is one line of one of its files. Writers and
// screens read these and nothing else of an experiment.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscale {

/// Of a line of summary.csv. In order: a line pooled from several has the last of theirs.
enum class LineStatus {
  kDegenerate,
  kOk,
  kConverged,
  kMaxQueries,
  kRare,
  kSomeNonfinite,
  kNoMoment,
  kNonfinite
};

/// Of a line of crossings.csv.
enum class CrossingStatus { kOk, kBelow, kNotReached };

struct StatusRow {
  std::string_view name;   ///< as in the file
  std::string_view means;  ///< for a note on screen; empty if it needs none
};

/// In the order of the enum.
inline constexpr std::array<StatusRow, 8> kLineStatuses{{
    {"degenerate", "all numbers are equal"},
    {"ok", ""},
    {"converged", ""},
    {"max_queries", ""},
    {"rare", "few queries or scores decide the number; it has no interval"},
    {"some_nonfinite", "of the finite queries alone; others overflowed and are left out"},
    {"no_moment", "the law has no such moment; any number of a sample grows"},
    {"nonfinite", "a score, logit or weight overflowed or is not a number"},
}};
inline constexpr std::array<StatusRow, 3> kCrossingStatuses{{
    {"ok", ""},
    {"below", "already reached at the smallest d"},
    {"not_reached", "not at the largest d"},
}};

constexpr const auto& status_rows(LineStatus /*status*/) {
  return kLineStatuses;
}
constexpr const auto& status_rows(CrossingStatus /*status*/) {
  return kCrossingStatuses;
}

template <typename Status>
constexpr std::string_view name_of(Status status) requires requires {
  status_rows(status);
}
{ return status_rows(status)[static_cast<std::size_t>(status)].name; }

/// The cell and scaling of a line: the first columns of most files.
struct ResultKey {
  std::string run;
  std::int64_t seed = 0;
  std::string experiment;
  std::string entries;  ///< empty for given numbers
  std::optional<double> entries_value;
  std::optional<std::int64_t> d;  ///< empty for given scores without d
  std::int64_t keys = 0;          ///< the most, of given queries with different numbers of them
  std::string scaling;
  std::optional<double> scaling_value;

  friend auto operator<=>(const ResultKey&, const ResultKey&) = default;
};

/// The name of a scaling or a law, and the number of its sweep to six digits if it has one: "power
/// -0.25".
std::string name_with_value(std::string name, const std::optional<double>& value);

/// One line of summary.csv: one metric of one cell and scaling. A value that does not exist is
/// empty; `status` says why.
struct ResultRow {
  ResultKey key;
  std::string metric;
  std::int64_t queries = 0;   ///< that the estimate is of
  std::int64_t left_out = 0;  ///< that it is not of, as they are not finite
  std::optional<double> estimate, std_error, ci_low, ci_high;
  std::optional<double> sd, min, q05, median, q95, max;  ///< of the metric over queries
  std::optional<double> reference, z;
  LineStatus status = LineStatus::kOk;
  /// Queries expected to carry the estimate, by theory; in no file.
  std::optional<double> carrying;
  /// Standard error of the median; in no file.
  std::optional<double> median_std_error;

  friend bool operator==(const ResultRow&, const ResultRow&) = default;
};

/// One line of crossings.csv: the d at which a statistic of the top weight reaches a level.
struct CrossingRow {
  ResultKey key;          ///< `d` unused
  std::string metric;     ///< top_weight
  std::string statistic;  ///< mean or median
  double level = 0;
  std::optional<double> d;            ///< interpolated between measured sizes
  std::optional<double> d_std_error;  ///< of that, by the delta method
  std::optional<double> d_exact;      ///< from theory
  CrossingStatus status = CrossingStatus::kOk;
};

/// One line of contrasts.csv: a metric under one scaling less that under the baseline, from the
/// same queries. A value that does not exist is empty.
struct ContrastRow {
  ResultKey key;
  std::string metric;
  std::string baseline;  ///< the experiment's first scaling
  std::int64_t queries = 0;
  std::int64_t left_out = 0;  ///< not finite under one of both
  std::optional<double> estimate, std_error, ci_low, ci_high;
};

/// A metric of random queries. A value that does not exist is empty.
struct RandomNumbers {
  std::int64_t queries = 0;  ///< that were drawn; 0 if nobody asked
  std::optional<double> estimate, std_error;
  std::optional<double> ratio;  ///< of the given numbers' to it
};

/// One line of baselines.csv: a metric of given numbers beside that of random queries and keys with
/// as many entries and visible keys. A value that does not exist is empty.
struct BaselineRow {
  ResultKey key;
  std::string metric;
  std::int64_t queries = 0;        ///< given
  std::optional<double> estimate;  ///< of the given numbers
  RandomNumbers normal;            ///< of entries of mean 0 and spread 1
  RandomNumbers matched;           ///< of entries of each head's own mean and spread
};

/// One line of weights.csv: one key of one given query under one scaling. Indices from 0.
struct WeightRow {
  ResultKey key;
  std::int64_t head = 0, query = 0;
  std::int64_t key_number = 0;
  double score = 0, logit = 0, weight = 0, slope = 0;
};

/// What the queries of a head do under one scaling, or one query. A value that does not exist is
/// empty.
struct HeadNumbers {
  std::int64_t queries = 0;                   ///< that the numbers are of
  std::int64_t left_out = 0;                  ///< that they are not of, as they are not finite
  std::optional<double> logit_sd, max_logit;  ///< of all logits: spread, largest magnitude
  std::optional<double> top_weight, entropy, effective_keys, saturated;  ///< means over queries
  LineStatus status = LineStatus::kOk;
};

/// One line of heads.csv. Heads count from 0.
struct HeadRow {
  ResultKey key;
  std::int64_t head = 0;
  HeadNumbers numbers;
};

/// One line of queries.csv: one query of a head, and how many keys it sees.
struct QueryRow {
  ResultKey key;
  std::int64_t head = 0, query = 0;
  HeadNumbers numbers;
};

/// One line of outputs.csv: one component of one given query's attention output.
struct OutputRow {
  ResultKey key;
  std::int64_t head = 0, query = 0;
  std::int64_t component = 0;
  double output = 0;
};

/// One line of samples.csv: what was measured of one query, metric by metric.
struct SampleRow {
  ResultKey key;
  std::int64_t query = 0;  ///< within its cell, from 0
  /// Metric and value, of every metric in the experiment's order; no value if it is not finite.
  std::vector<std::pair<std::string, std::optional<double>>> values;
};

/// One line of histogram.csv.
struct HistogramRow {
  ResultKey key;
  std::string metric;
  std::optional<double> bin_low, bin_high;  ///< empty beyond the first and the last bin
  std::int64_t count = 0;
  std::optional<double> density;  ///< share of the values per unit of the axis
};

/// Everything a run finds out, in config order.
struct Results {
  std::vector<ResultRow> rows;
  std::vector<CrossingRow> crossings;
  std::vector<ContrastRow> contrasts;
  std::vector<HistogramRow> histogram;
  std::vector<SampleRow> samples;
  std::vector<WeightRow> weights;
  std::vector<OutputRow> outputs;
  std::vector<HeadRow> heads;
  std::vector<QueryRow> queries;
  std::vector<BaselineRow> baselines;
};

}  // namespace attnscale
