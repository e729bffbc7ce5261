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
  return fmt::format("{}, d = {}, keys {}, scaling {}",
                     name_with_value(key.entries, key.entries_value), key.d.value_or(0), key.keys,
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

void FragileMeans::note(const Finding& finding) {
  const auto same = std::ranges::find_if(findings_, [&](const Finding& other) {
    return other.kind == finding.kind && other.worst.experiment == finding.worst.experiment &&
           other.metric == finding.metric;
  });
  if (same == findings_.end()) {
    findings_.push_back(finding);
    return;
  }
  const int lines = same->lines + 1;
  if (finding.carrying < same->carrying) *same = finding;
  same->lines = lines;
}

void FragileMeans::add(const std::vector<ResultRow>& rows, const CellCounts& counts) {
  std::size_t place = 0;
  for (const ResultRow& row : rows) {
    const MetricRow& metric = *find_metric(row.metric);
    const bool is_mean = metric.kind == MetricKind::kPerQuery;
    const QuantileSketch* sketch = is_mean ? &counts.metrics[place++].sketch : nullptr;
    Finding finding{Kind::kRareLine, row.key, row.metric, row.queries, row.carrying.value_or(0), 1};
    if (row.std_error && !row.ci_low) {
      note(finding);
      continue;
    }
    if (!is_mean || metric.is_fraction || !row.std_error || row.queries < kFewestJudged) continue;
    finding.kind = Kind::kMean;
    finding.carrying = carrying_queries(*sketch, *row.sd);
    if (finding.carrying < kFewestCarrying) note(finding);
  }
}

void FragileMeans::add(const std::vector<ContrastRow>& rows) {
  for (const ContrastRow& row : rows) {
    if (!row.std_error || row.ci_low) continue;
    note({Kind::kRareContrast, row.key, row.metric, row.queries, 0, 1});
  }
}

std::string FragileMeans::sentence_of(const Finding& finding) {
  const auto& [kind, key, metric, queries, carrying, lines] = finding;
  const std::string about = fmt::format(
      "(about {} of {} at {})", std::max(1L, std::lround(carrying)), queries, place_of(key));
  const auto counted = [count = lines](const char* noun) {
    return count == 1 ? fmt::format("one {}", noun) : fmt::format("{} {}s", count, noun);
  };
  const std::string start = key.experiment + ": a handful of queries carry ";
  if (kind == Kind::kMean) {
    return start + fmt::format(
                       "{} of {} {}: the intervals hold the exact value less often than "
                       "95 %; more queries help, and the median says what is typical",
                       counted("mean"), metric, about);
  }
  const char* const end = lines == 1 ? "it has no interval" : "they have no intervals";
  if (kind == Kind::kRareContrast) {
    return start + fmt::format("{} of {}, the first at {}: {}; more queries help",
                               counted("contrast"), metric, place_of(key), end);
  }
  return start + fmt::format("{} of {} by theory {}: {}; more queries help", counted("line"),
                             metric, about, end);
}

std::vector<std::string> FragileMeans::warnings() const {
  std::vector<std::string> sentences;
  for (const Finding& finding : findings_) sentences.push_back(sentence_of(finding));
  return sentences;
}

}  // namespace attnscale
