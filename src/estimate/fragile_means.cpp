#include "estimate/fragile_means.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/metric.h"
#include "numerics/unit.h"

namespace attnscale {
namespace {

std::string place_of(const ResultKey& key) {
  return fmt::format("d = {}, keys {}, scaling {}", key.d.value_or(0), key.keys,
                     name_with_value(key.scaling, key.scaling_value));
}

}  // namespace

double carrying_queries(const QuantileSketch& sketch, double sd) {
  const double unit = unit_of(sd);
  sd /= unit;
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  const auto n = static_cast<double>(sketch.count());
  double mean = 0;
  const auto values = sketch.values();
  for (const auto& [value, times] : values) mean += static_cast<double>(times) / n * value;
  double second = 0;
  double third = 0;
  for (const auto& [value, times] : values) {
    const double deviation = (value - mean) / unit;
    const double square = static_cast<double>(times) / n * deviation * deviation;
    second += square;
    third += square * deviation;
  }
  const bool bins_are_narrow = std::abs(second - sd * sd) < 0.1 * sd * sd;
  if (third == 0 || !bins_are_narrow) return kNothing;
  return n * (second / third) * (second / third) * second;
}

void FragileMeans::add(const std::vector<ResultRow>& rows, const CellCounts& counts) {
  std::size_t place = 0;
  for (const ResultRow& row : rows) {
    const MetricRow& metric = *find_metric(row.metric);
    if (metric.kind != MetricKind::kPerQuery) continue;
    const QuantileSketch& sketch = counts.metrics[place++].sketch;
    if (metric.is_fraction || !row.std_error || row.queries < kFewestJudged) continue;
    const double carrying = carrying_queries(sketch, *row.sd);
    if (carrying >= kFewestCarrying) continue;
    auto finding = std::ranges::find_if(findings_, [&](const Finding& other) {
      return other.worst.key.experiment == row.key.experiment && other.worst.metric == row.metric;
    });
    if (finding == findings_.end()) finding = findings_.insert(finding, {row, carrying, 0});
    ++finding->means;
    if (carrying < finding->carrying) {
      finding->worst = row;
      finding->carrying = carrying;
    }
  }
}

std::vector<std::string> FragileMeans::warnings() const {
  std::vector<std::string> sentences;
  for (const auto& [worst, carrying, means] : findings_) {
    sentences.push_back(fmt::format(
        "{}: a handful of queries carry {} of {} (about {} of {} at {}): the intervals hold the "
        "exact value less often than 95 %; more queries help, and the median says what is typical",
        worst.key.experiment, means == 1 ? "one mean" : fmt::format("{} means", means),
        worst.metric, std::max(1L, std::lround(carrying)), worst.queries, place_of(worst.key)));
  }
  return sentences;
}

}  // namespace attnscale
