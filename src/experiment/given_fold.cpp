#include "experiment/given_fold.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attnscale {
namespace {

using Numbers = std::vector<double>;

double statistic(const MetricRow& metric, const CentralSums& logits) {
  const auto n = static_cast<double>(logits.count);
  if (metric.kind == MetricKind::kLogitMean) return logits.mean;
  if (metric.kind == MetricKind::kLogitSd) {
    return std::sqrt(logits.square / (n - 1)) * logits.unit;
  }
  return n * logits.fourth / (logits.square * logits.square);
}

// The lowest value at or above a share q of the sorted values.
double order_statistic(const Numbers& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void fill_per_query(const MetricRow& metric, Numbers values, ResultRow& row) {
  const auto n = static_cast<double>(values.size());
  const double mean =
      metric.is_root_mean_square
          ? std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0) / n)
          : std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (!std::isfinite(mean)) {  // the sum of finite numbers may overflow too
    row.status = LineStatus::kNonfinite;
    return;
  }
  row.estimate = mean;
  const CentralSums sums = CentralSums::of(values);
  if (values.size() > 1 && std::isfinite(sums.square)) {
    row.sd = std::sqrt(sums.square / (n - 1)) * sums.unit;
  }
  std::sort(values.begin(), values.end());
  row.min = values.front();
  row.max = values.back();
  row.q05 = order_statistic(values, 0.05);
  row.median = order_statistic(values, 0.5);
  row.q95 = order_statistic(values, 0.95);
}

}  // namespace

GivenFold::GivenFold(std::vector<const MetricRow*> metrics)
    : metrics_(std::move(metrics)), values_(metrics_.size()) {}

void GivenFold::add(const QueryNumbers& query) {
  ++queries_;
  if (query.logits.count > 0) ++finite_queries_;
  logit_sums_.add(query.logits);
  for (std::size_t m = 0; m < values_.size(); ++m) {
    if (std::isfinite(query.values[m])) values_[m].push_back(query.values[m]);
  }
}

ResultRow GivenFold::row(std::size_t m) const {
  ResultRow row;
  row.metric = metrics_[m]->name;
  const bool is_per_query = metrics_[m]->kind == MetricKind::kPerQuery;
  row.queries = is_per_query ? std::ssize(values_[m]) : finite_queries_;
  row.left_out = queries_ - row.queries;
  row.status = row.left_out > 0 ? LineStatus::kSomeNonfinite : LineStatus::kOk;
  if (row.queries == 0) {
    row.status = LineStatus::kNonfinite;
  } else if (is_per_query) {
    fill_per_query(*metrics_[m], values_[m], row);
  } else if (const double value = statistic(*metrics_[m], logit_sums_); std::isfinite(value)) {
    row.estimate = value;
  } else {
    row.status =
        std::isfinite(logit_sums_.fourth) ? LineStatus::kDegenerate : LineStatus::kNonfinite;
  }
  return row;
}

HeadNumbers GivenFold::head_numbers() const {
  HeadNumbers numbers;
  numbers.status = LineStatus::kOk;
  const auto take = [&](std::string_view metric, bool takes_largest = false) {
    const auto place = std::ranges::find(metrics_, metric, &MetricRow::name) - metrics_.begin();
    const ResultRow line = row(static_cast<std::size_t>(place));
    numbers.left_out = std::max(numbers.left_out, line.left_out);
    if (numbers.status == LineStatus::kOk) numbers.status = line.status;
    return takes_largest ? line.max : line.estimate;
  };
  numbers.logit_sd = take("logit_sd");
  numbers.max_logit = take("max_logit", true);
  numbers.top_weight = take("top_weight");
  numbers.entropy = take("entropy");
  numbers.effective_keys = take("effective_keys");
  numbers.saturated = take("saturated");
  numbers.queries = queries_ - numbers.left_out;
  return numbers;
}

}  // namespace attnscale
