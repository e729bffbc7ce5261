#include "experiment/metric_range.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "numerics/double_double.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr int kShownDigits = 6;
constexpr double kNoEnd = std::numeric_limits<double>::infinity();

double most_entropy(std::int64_t keys, NormaliserKind kind) {
  constexpr double kMostOfOneWeight = 0.36787944117144233;  // -p ln p at p = 1/e
  // Beside a sink a few weights need not add up to 1 either.
  const bool is_free =
      kind == NormaliserKind::kSigmoid ||
      (kind == NormaliserKind::kSink && static_cast<double>(keys) < std::numbers::e);
  return is_free ? static_cast<double>(keys) * kMostOfOneWeight
                 : plain::log(DoubleDouble(static_cast<double>(keys))).high;
}

}  // namespace

MetricRange metric_range(const MetricRow& metric, std::int64_t keys, const WeightRule& rule) {
  if (metric.kind == MetricKind::kLogitMean) return {-kNoEnd, kNoEnd};
  if (metric.kind == MetricKind::kLogitSd) return {0, kNoEnd};
  if (metric.kind == MetricKind::kLogitKurtosis) return {1, kNoEnd};
  const NormaliserKind kind = rule.normaliser.kind;
  const double most_sum = kind == NormaliserKind::kSigmoid ? static_cast<double>(keys) : 1;
  switch (metric.axis) {
    case HistogramAxis::kUnit:
      return {0, 1};
    case HistogramAxis::kSum:
      return {0, most_sum};
    case HistogramAxis::kRootOfSum:
      return {0, std::sqrt(most_sum)};
    case HistogramAxis::kEntropy:
      return {0, most_entropy(keys, kind)};
    case HistogramAxis::kBits:
      return {0, most_entropy(keys, kind) * std::numbers::log2e};
    case HistogramAxis::kKeys:
      return {0, static_cast<double>(keys)};
    case HistogramAxis::kLogit:
      return {0, kNoEnd};
    case HistogramAxis::kLog10:
      if (metric.exact_mean == ExactMean::kSlope) return {0, 0.25};
      break;
    case HistogramAxis::kLogSum:
      break;
  }
  return {-kNoEnd, kNoEnd};
}

bool is_possible(double number, const MetricRange& range) {
  const double slack = 1e-6 * std::max(1.0, std::abs(number));
  return number >= range.least - slack && number <= range.most + slack;
}

std::string range_text(const MetricRange& range) {
  if (range.least == -kNoEnd) return "a number";
  const std::string least = shortest(range.least, kShownDigits);
  return range.most == kNoEnd
             ? fmt::format("a number of {} or more", least)
             : fmt::format("a number from {} to {}", least, shortest(range.most, kShownDigits));
}

}  // namespace attnscale
