#include "estimate/exact_reach.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "numerics/portable_math.h"
#include "theory/exact_crossing.h"
#include "theory/exact_logit_moments.h"
#include "theory/false_position.h"

namespace attnscale {
namespace {

// As many as a config may ask for.
constexpr std::int64_t kMostKeys = std::int64_t{1} << 20;

// Thrown through a walk where a mean is not known.
struct UnknownMean {};

// The walk's coordinate is a logarithm.
Reach reach_along(const std::function<double(double)>& value, double level, Walk walk,
                  bool is_cut_short) {
  const std::optional<double> place = first_crossing(value, level, walk);
  const bool falls = walk.values.front() > level;
  if (!place && is_cut_short) return {ReachStatus::kTooFar};
  if (!place) return {falls ? ReachStatus::kAlways : ReachStatus::kNever};
  return {falls ? ReachStatus::kUpTo : ReachStatus::kFrom, plain::exp(*place)};
}

// Ever more keys, then false position in the logarithm of the keys.
Reach reach_by_keys(const std::function<double(std::int64_t)>& value, std::int64_t first,
                    double level) {
  constexpr std::int64_t kStep = 32;
  std::int64_t low = first;
  double at_low = value(first) - level;
  const bool is_above = at_low >= 0;
  std::int64_t high = low;
  double at_high = at_low;
  while ((at_high >= 0) == is_above) {
    if (high >= kMostKeys) return {is_above ? ReachStatus::kTooFar : ReachStatus::kNever};
    low = high;
    at_low = at_high;
    high = std::min(high * kStep, kMostKeys);
    at_high = value(high) - level;
  }
  const auto log_of = [](std::int64_t keys) { return plain::log(static_cast<double>(keys)); };
  Bracket bracket{log_of(low), at_low, log_of(high), at_high};
  while (high - low > 1) {
    const auto nearest = static_cast<std::int64_t>(plain::exp(bracket.crossing()));
    const std::int64_t keys = std::clamp(nearest, low + 1, high - 1);
    const double found = value(keys) - level;
    const bool is_low = (found >= 0) == is_above;
    (is_low ? low : high) = keys;
    bracket.narrow(log_of(keys), found, is_low);
  }
  return is_above ? Reach{ReachStatus::kUpTo, static_cast<double>(low)}
                  : Reach{ReachStatus::kFrom, static_cast<double>(high)};
}

}  // namespace

std::string_view name_of(ReachStatus status) {
  constexpr std::array<std::string_view, 6> kNames = {"from",  "up_to",   "always",
                                                      "never", "too_far", "not_known"};
  return kNames[static_cast<std::size_t>(status)];
}

std::optional<double> ExactReach::mean(const MetricRow& metric, const ExactRequest& request,
                                       double saturated_above) {
  if (metric.kind == MetricKind::kLogitSd) return exact_logit_moments(request).sd;
  if (metric.kind == MetricKind::kLogitKurtosis) return exact_logit_moments(request).kurtosis;
  if (metric.exact_fraction) return metric.exact_fraction(request, saturated_above);
  const bool is_known = metric.exact_mean && !(metric.exact_mean == ExactMean::kScoreSlope &&
                                               request.law == ScoreLaw::kCosine);
  if (!is_known) return std::nullopt;
  if (*metric.exact_mean == ExactMean::kTopWeight && request.law == ScoreLaw::kNormal) {
    return exact_top_weight(table_, request);
  }
  ExactMeansTable& table = ExactMeansTable::is_of_pairs(*metric.exact_mean) ? pairs_ : table_;
  return exact_means(table, request)[*metric.exact_mean];
}

Reach ExactReach::of(const Draw& draw, const Scaling& scaling, const MetricRow& metric,
                     double saturated_above, double level, ReachedBy what) {
  const auto value = [&](const std::optional<ExactRequest>& request) {
    const auto found = request ? mean(metric, *request, saturated_above) : std::nullopt;
    if (!found) throw UnknownMean();
    return *found;
  };
  const auto along_d = exact_request_along_d(draw, scaling);
  const auto here = exact_request(draw, scaling);
  // As many steps as the narrowest hump of a metric, such as the slope, asks for.
  constexpr std::size_t kSteps = 96;
  try {
    if (what == ReachedBy::kKeys) {
      const auto at_keys = [&](std::int64_t keys) {
        Draw other = draw;
        other.keys = keys;
        return value(exact_request(other, scaling));
      };
      return reach_by_keys(at_keys, here && here->weighing.sigmoid_bias ? 1 : 2, level);
    }
    if (what == ReachedBy::kD) {
      if (!along_d) return {};
      const double last = last_log_d(*along_d);
      if (last <= 0) return {ReachStatus::kTooFar};
      return reach_along([&](double log_d) { return value(at_log_d(*along_d, log_d)); }, level,
                         {0, last, kSteps}, is_cut_short(*along_d));
    }
    if (!here || here->law != ScoreLaw::kNormal) return {};
    constexpr double kLeastSpread = 1e-6;
    constexpr double kMostSpread = 1e12;
    const double score_spread = std::sqrt(here->d) * here->entry_sd;
    const double most = most_spread(here->weighing);
    const auto with_factor = [&](double log_factor) {
      ExactRequest request = *here;
      request.multiplier = plain::exp(log_factor);
      return value(request);
    };
    return reach_along(with_factor, level,
                       {plain::log(kLeastSpread / score_spread),
                        plain::log(std::min(most, kMostSpread) / score_spread), kSteps},
                       here->weighing.softcap == kNoSoftcap && most < kMostSpread);
  } catch (const UnknownMean&) {
    return {};
  } catch (const OutOfWork&) {
    return {ReachStatus::kTooFar};
  }
}

}  // namespace attnscale
