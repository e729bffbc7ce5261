#include "experiment/given.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "experiment/measure_block.h"
#include "numerics/softmax.h"

namespace attnscale {
namespace {

using Row = std::vector<double>;

std::vector<Row> scores_of(const Given& given) {
  if (!given.scores.empty()) return given.scores;
  std::vector<Row> scores;
  for (const Row& query : given.queries) {
    Row& row = scores.emplace_back();
    for (const Row& key : given.keys) {
      row.push_back(std::inner_product(query.begin(), query.end(), key.begin(), 0.0));
    }
  }
  return scores;
}

std::optional<std::int64_t> size_of(const Given& given) {
  return given.queries.empty() ? given.d : std::ssize(given.queries.front());
}

Row logits_of(const Row& scores, const Scaling& scaling, std::optional<std::int64_t> d) {
  Row logits(scores.size());
  apply_scaling(scaling.rule, {d.value_or(1), std::ssize(scores)}, {scores}, logits);
  return logits;
}

bool all_finite(const Row& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

double statistic(const MetricRow& metric, const std::vector<Row>& logits) {
  Row all;
  for (const Row& row : logits) all.insert(all.end(), row.begin(), row.end());
  const auto n = static_cast<double>(all.size());
  const double mean = std::accumulate(all.begin(), all.end(), 0.0) / n;
  double squares = 0;
  double fourths = 0;
  for (const double logit : all) {
    const double square = (logit - mean) * (logit - mean);
    squares += square;
    fourths += square * square;
  }
  if (metric.name == "logit_mean") return mean;
  if (metric.name == "logit_sd") return std::sqrt(squares / (n - 1));
  return n * fourths / (squares * squares);
}

// The lowest value at or above a share q of the sorted values.
double order_statistic(const Row& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void fill_per_query(Row values, ResultRow& row) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  row.estimate = mean;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (values.size() > 1) row.sd = std::sqrt(squares / (n - 1));
  std::sort(values.begin(), values.end());
  row.min = values.front();
  row.max = values.back();
  row.q05 = order_statistic(values, 0.05);
  row.median = order_statistic(values, 0.5);
  row.q95 = order_statistic(values, 0.95);
}

ResultRow summary_row(const Experiment& experiment, const Scaling& scaling, const MetricRow& metric,
                      const std::vector<Row>& logits) {
  ResultRow row;
  row.metric = metric.name;
  row.queries = std::ssize(logits);
  row.status = "ok";
  if (!std::all_of(logits.begin(), logits.end(), all_finite)) {
    row.status = "nonfinite";
    return row;
  }
  if (metric.kind == MetricKind::kLogitStatistic) {
    const double value = statistic(metric, logits);
    if (std::isfinite(value)) {
      row.estimate = value;
    } else {
      row.status = "degenerate";
    }
    return row;
  }
  const std::int64_t d = size_of(*experiment.given).value_or(1);
  Row values;
  QueryWeights weights;
  for (const Row& query : logits) {
    const QueryContext context{logit_per_score(scaling.rule, {d, std::ssize(query)},
                                               *std::max_element(query.begin(), query.end())),
                               experiment.saturated_above};
    weights.weigh(query, scaling.rule.weights, 0);
    values.push_back(measure_weights(metric, weights, context));
  }
  if (all_finite(values)) {
    fill_per_query(std::move(values), row);
  } else {
    row.status = "nonfinite";
  }
  return row;
}

void add_weights(const Experiment& experiment, const Scaling& scaling, std::int64_t query,
                 const Row& scores, const Row& logits, GivenResults& results) {
  const std::vector<Weight> weights = softmax_weights(logits);
  for (std::size_t key = 0; key < weights.size(); ++key) {
    results.weights.push_back({experiment.name, 0, query, scaling.name,
                               static_cast<std::int64_t>(key), scores[key], logits[key],
                               weights[key].p, weights[key].slope()});
  }
  const std::vector<Row>& values = experiment.given->values;
  if (values.empty()) return;
  for (std::size_t component = 0; component < values.front().size(); ++component) {
    double output = 0;
    for (std::size_t key = 0; key < weights.size(); ++key) {
      output += weights[key].p * values[key][component];
    }
    results.outputs.push_back(
        {experiment.name, 0, query, scaling.name, static_cast<std::int64_t>(component), output});
  }
}

}  // namespace

GivenResults measure_given(const Config& config, const Experiment& experiment) {
  const std::vector<Row> scores = scores_of(*experiment.given);
  const std::optional<std::int64_t> d = size_of(*experiment.given);
  GivenResults results;
  for (std::size_t q = 0; q < scores.size(); ++q) {
    for (const Scaling& scaling : experiment.scalings) {
      add_weights(experiment, scaling, static_cast<std::int64_t>(q), scores[q],
                  logits_of(scores[q], scaling, d), results);
    }
  }

  std::size_t longest = 0;
  for (const Row& row : scores) longest = std::max(longest, row.size());
  for (const Scaling& scaling : experiment.scalings) {
    std::vector<Row> logits;
    for (const Row& row : scores) logits.push_back(logits_of(row, scaling, d));
    for (const MetricRow* metric : experiment.metrics) {
      ResultRow row = summary_row(experiment, scaling, *metric, logits);
      row.key = {
          config.name, static_cast<std::int64_t>(config.seed), experiment.name, "",           {},
          d,           static_cast<std::int64_t>(longest),     scaling.name,    scaling.value};
      results.rows.push_back(std::move(row));
    }
  }
  return results;
}

}  // namespace attnscale
