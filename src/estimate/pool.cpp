#include "estimate/pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "estimate/crossings.h"
#include "estimate/estimate.h"
#include "estimate/interval.h"
#include "experiment/metric.h"

namespace attnscale {
namespace {

// A line of a file in every run.
template <typename Row>
using SameLine = std::vector<const Row*>;

template <typename Row>
std::vector<SameLine<Row>> same_lines(std::span<const Results> runs,
                                      std::vector<Row> Results::*rows) {
  std::vector<SameLine<Row>> lines;
  for (const Row& row : runs.front().*rows) lines.push_back({&row});
  for (const Results& run : runs.subspan(1)) {
    const std::vector<Row>& others = run.*rows;
    for (std::size_t i = 0; i < std::max(lines.size(), others.size()); ++i) {
      const bool both = i < lines.size() && i < others.size();
      ResultKey key = both ? others[i].key : ResultKey{};
      if (both) key.seed = lines[i].front()->key.seed;
      if (!both || key != lines[i].front()->key || others[i].metric != lines[i].front()->metric) {
        throw std::runtime_error(
            fmt::format("the runs do not have the same lines: line {} of a file differs", i + 2));
      }
      lines[i].push_back(&others[i]);
    }
  }
  return lines;
}

// A run's part in a mean.
struct Part {
  std::int64_t queries;
  std::optional<double> estimate;
  std::optional<double> std_error;  // none where nothing varied, or where there is none to estimate
};

struct PooledMean {
  std::int64_t queries = 0;
  std::optional<double> estimate, std_error;
};

PooledMean pool_parts(const std::vector<Part>& parts) {
  PooledMean mean;
  for (const Part& part : parts) mean.queries += part.queries;
  double sum = 0;
  double squares = 0;
  for (const Part& part : parts) {
    if (!part.estimate) return {mean.queries, {}, {}};
    const double share = static_cast<double>(part.queries) / static_cast<double>(mean.queries);
    const double error = share * part.std_error.value_or(0);
    sum += share * *part.estimate;
    squares += error * error;
  }
  mean.estimate = sum;
  if (squares > 0 && std::isfinite(squares)) mean.std_error = std::sqrt(squares);
  return mean;
}

template <typename Row>
void pool_mean(const SameLine<Row>& line, Row& row) {
  std::vector<Part> parts;
  for (const Row* run : line) parts.push_back({run->queries, run->estimate, run->std_error});
  const PooledMean mean = pool_parts(parts);
  row.queries = mean.queries;
  row.left_out = 0;
  for (const Row* run : line) row.left_out += run->left_out;
  row.estimate = mean.estimate;
  row.std_error = mean.std_error;
}

template <typename Row>
bool all_have_intervals(const SameLine<Row>& line) {
  return std::ranges::all_of(line, [](const Row* run) { return run->ci_low.has_value(); });
}

void pool_distribution(const SameLine<ResultRow>& line, ResultRow& row) {
  double squares = 0;
  for (const ResultRow* run : line) {
    if (!run->sd || !row.estimate) return;
    const auto queries = static_cast<double>(run->queries);
    const double apart = *run->estimate - *row.estimate;
    squares += (queries - 1) * *run->sd * *run->sd + queries * apart * apart;
    row.min = std::min(row.min.value_or(*run->min), *run->min);
    row.max = std::max(row.max.value_or(*run->max), *run->max);
  }
  row.sd = std::sqrt(squares / static_cast<double>(row.queries - 1));
}

ResultRow pool_line(const SameLine<ResultRow>& line) {
  ResultRow row;
  row.key = line.front()->key;
  row.metric = line.front()->metric;
  row.status = (*std::ranges::max_element(line, {}, &ResultRow::status))->status;
  pool_mean(line, row);
  pool_distribution(line, row);
  const MetricRow* metric = find_metric(row.metric);
  if (row.estimate && metric != nullptr && all_have_intervals(line)) fill_interval(*metric, row);
  fill_reference(line.front()->reference, row);
  return row;
}

ContrastRow pool_line(const SameLine<ContrastRow>& line) {
  ContrastRow row = *line.front();
  row.ci_low = row.ci_high = std::nullopt;
  pool_mean(line, row);
  if (!row.estimate || !all_have_intervals(line)) return row;
  const MetricRow* metric = find_metric(row.metric);
  const double error = row.std_error.value_or(0);
  Interval interval = student_interval({*row.estimate, error}, row.queries);
  if (metric != nullptr && metric->is_fraction) {
    // The mean square of what is -1, 0 or 1 is the share of queries that differ.
    const double differing =
        error * error * static_cast<double>(row.queries - 1) + *row.estimate * *row.estimate;
    interval = paired_fraction_interval(*row.estimate, differing, row.queries);
  }
  row.ci_low = interval.low;
  row.ci_high = interval.high;
  return row;
}

// The given side is the same in every run.
BaselineRow pool_line(const SameLine<BaselineRow>& line) {
  BaselineRow row = *line.front();
  for (const auto side : {&BaselineRow::normal, &BaselineRow::matched}) {
    std::vector<Part> parts;
    for (const BaselineRow* run : line) {
      const RandomNumbers& random = run->*side;
      parts.push_back({random.queries, random.estimate, random.std_error});
    }
    const PooledMean mean = pool_parts(parts);
    RandomNumbers& pooled = row.*side;
    pooled = {mean.queries, mean.estimate, mean.std_error, {}};
    if (row.estimate && mean.estimate.value_or(0) != 0)
      pooled.ratio = *row.estimate / *mean.estimate;
  }
  return row;
}

template <typename Row>
std::vector<Row> pool_rows(std::span<const Results> runs, std::vector<Row> Results::*rows) {
  std::vector<Row> pooled;
  for (const SameLine<Row>& line : same_lines(runs, rows)) {
    const bool is_drawn = std::is_same_v<Row, BaselineRow> || !line.front()->key.entries.empty();
    pooled.push_back(is_drawn ? pool_line(line) : *line.front());
  }
  return pooled;
}

// Adds up counts. An open bin, which is only there if something is in it, may be of some runs
// alone.
std::vector<HistogramRow> pool_histograms(std::span<const Results> runs) {
  using Bins = std::map<std::pair<double, double>, HistogramRow>;
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  std::vector<std::pair<std::pair<ResultKey, std::string>, Bins>> histograms;
  std::map<std::pair<ResultKey, std::string>, std::size_t> places;
  for (const Results& run : runs) {
    for (HistogramRow row : run.histogram) {
      row.key.seed = runs.front().histogram.front().key.seed;
      const auto name = std::pair(row.key, row.metric);
      const auto [place, is_new] = places.try_emplace(name, histograms.size());
      if (is_new) histograms.emplace_back(name, Bins());
      const std::pair ends(row.bin_low.value_or(-kOpen), row.bin_high.value_or(kOpen));
      const auto [bin, is_first] = histograms[place->second].second.try_emplace(ends, row);
      if (!is_first) bin->second.count += row.count;
    }
  }
  std::vector<HistogramRow> rows;
  for (auto& [name, bins] : histograms) {
    std::int64_t total = 0;
    for (const auto& [ends, row] : bins) total += row.count;
    for (auto& [ends, row] : bins) {
      if (row.density) {
        row.density = static_cast<double>(row.count) / static_cast<double>(total) /
                      (ends.second - ends.first);
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// From the pooled means; exact sizes are those of any run.
std::vector<CrossingRow> pool_crossings(const std::vector<ResultRow>& rows, const Results& first) {
  std::vector<CrossingRow> crossings = find_crossings(rows);
  const auto name = [](const CrossingRow& row) {
    return std::tie(row.key, row.metric, row.statistic, row.level);
  };
  for (CrossingRow& row : crossings) {
    const auto same = std::ranges::find(first.crossings, name(row), name);
    if (same != first.crossings.end()) row.d_exact = same->d_exact;
  }
  return crossings;
}

}  // namespace

Results pool_results(std::span<const Results> runs) {
  Results pooled;
  pooled.rows = pool_rows(runs, &Results::rows);
  pooled.crossings = pool_crossings(pooled.rows, runs.front());
  pooled.contrasts = pool_rows(runs, &Results::contrasts);
  pooled.baselines = pool_rows(runs, &Results::baselines);
  pooled.histogram = pool_histograms(runs);
  pooled.weights = runs.front().weights;
  pooled.outputs = runs.front().outputs;
  pooled.heads = runs.front().heads;
  pooled.queries = runs.front().queries;
  return pooled;
}

std::vector<CoverageRow> coverage_of(std::span<const Results> runs) {
  std::vector<CoverageRow> coverage;
  for (const SameLine<ResultRow>& line : same_lines(runs, &Results::rows)) {
    const ResultRow& first = *line.front();
    if (!first.reference || first.key.entries.empty()) continue;
    CoverageRow row{first.key, first.metric, std::ssize(line), *first.reference, 0, 0, {}};
    for (const ResultRow* run : line) {
      if (!run->ci_low || !run->ci_high) continue;
      ++row.intervals;
      row.holding += *run->ci_low <= *first.reference && *first.reference <= *run->ci_high;
    }
    if (row.intervals > 0) {
      row.share = static_cast<double>(row.holding) / static_cast<double>(row.intervals);
    }
    coverage.push_back(std::move(row));
  }
  return coverage;
}

}  // namespace attnscale
