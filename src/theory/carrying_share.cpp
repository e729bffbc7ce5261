#include "theory/carrying_share.h"

#include <algorithm>
#include <cmath>

#include "numerics/portable_math.h"
#include "theory/exact_means_table.h"

namespace attnscale {
namespace {

using enum ExactMean;

// Mean squares that are differences of exact means may be off by the errors of both.
constexpr double kError = 2 * kExactError;

double share_of(double mean, double mean_square) {
  return std::min(1.0, mean * mean / std::max(mean_square, kExactError * kExactError));
}

// True if a soft-cap leaves of the usual query's top logit, sqrt(2 ln keys) spreads, some answer to
// its score: at 3 caps 1 %. Then the slope decides which queries have a score slope.
bool answers(const ExactRequest& request) {
  constexpr double kCaps = 3;
  const double score_sd = request.law == ScoreLaw::kNormal ? request.entry_sd * std::sqrt(request.d)
                                                           : 1 / std::sqrt(request.d);
  const double spreads = std::sqrt(
      2 * plain::log(static_cast<double>(std::max<std::int64_t>(2, request.weighing.keys))));
  return std::abs(request.multiplier) * score_sd * spreads <= kCaps * request.weighing.softcap;
}

}  // namespace

double carrying_share(ExactMean mean, const ExactMeans& exact, const ExactRequest& request) {
  // With p the top weight and s = p (1 - p): p^2 = p - s and (1 - p)^2 = (1 - p) - s.
  const double slope = exact[kSlope];
  const double others = 1 - exact[kTopWeight];
  const double top_square = exact[kTopWeight] - slope + kError;
  const double others_square = std::max(0.0, others - slope) + kError;
  const double top_share = share_of(exact[kTopWeight], top_square);
  const double others_share = share_of(others, others_square);
  // s is at most 1/4, p and 1 - p.
  const auto slope_share = [&](double s) {
    return share_of(s, std::min({0.25 * s, top_square, others_square}));
  };
  // Without a sink the keys' weights add up to 1, and there is always a top weight.
  const bool has_sink = request.weighing.sink != kNoSink;
  const bool is_sigmoid = request.weighing.sigmoid_bias.has_value();
  switch (mean) {
    case kTopWeight:
    case kWeightMargin:
      return std::min(top_share, others_share);
    case kSlope:
      return slope_share(slope);
    case kScoreSlope:
      if (request.multiplier == 0) return 1;
      return slope_share(answers(request) ? slope : exact[kScoreSlope] / request.multiplier);
    case kSumP2:
    case kEntropy:
      return is_sigmoid ? top_share : has_sink ? std::min(top_share, others_share) : others_share;
    case kTotalWeight:
    case kSinkWeight:
      if (is_sigmoid) return top_share;
      return has_sink ? std::min(top_share, share_of(exact[kSinkWeight], exact[kSquaredSinkWeight]))
                      : 1;
    case kEffectiveKeys:
      // They are 1 but where a second key has weight; two equal weights make 2 of it.
      return std::min(1.0, exact[kEffectiveKeys] - 1 + kError);
    default:
      return 1;
  }
}

}  // namespace attnscale
