// How many queries carry a mean, against integrals of laws written down here.
#include "theory/carrying_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "theory/exact_means_table.h"

namespace attnscale {
namespace {

using enum ExactMean;

struct Pair {
  double others = 0;  ///< E (1 - p)
  double others2 = 0;
  double slope = 0;  ///< E p (1 - p)
  double slope2 = 0;
};

/// Two keys at d = 2: their logits' distance is exponential, of mean sqrt(2) times the multiplier.
Pair pair_at(double multiplier) {
  const double mean = std::sqrt(2.0) * multiplier;
  constexpr double kStep = 1e-4;
  Pair pair;
  for (double distance = kStep / 2; distance < 45; distance += kStep) {
    const double weight = kStep * std::exp(-distance / mean) / mean;
    const double q = 1 / (1 + std::exp(distance));
    pair.others += weight * q;
    pair.others2 += weight * q * q;
    pair.slope += weight * q * (1 - q);
    pair.slope2 += weight * q * q * (1 - q) * (1 - q);
  }
  return pair;
}

TEST(CarryingShare, OfTwoKeysIsThatOfTheirDistances) {
  for (const double multiplier : {0.5, 3.0, 30.0, 1000.0}) {
    SCOPED_TRACE(multiplier);
    const ExactRequest request{2, {2}, multiplier};
    ExactMeansTable table;
    const ExactMeans exact = exact_means(table, request);
    const Pair pair = pair_at(multiplier);
    const double top = std::min(pair.others * pair.others / pair.others2, 1.0);
    EXPECT_NEAR(carrying_share(kTopWeight, exact, request) / top, 1, 2e-3);
    EXPECT_NEAR(carrying_share(kEntropy, exact, request) / top, 1, 2e-3);
    const double slope = pair.slope * pair.slope / pair.slope2;
    for (const ExactMean mean : {kSlope, kScoreSlope}) {
      EXPECT_LE(carrying_share(mean, exact, request), slope * 1.001);
      EXPECT_GE(carrying_share(mean, exact, request), slope / 1.51);
    }
    EXPECT_EQ(carrying_share(kMargin, exact, request), 1);
  }
}

// A sink 12 above all logits leaves a weight to the rare query of large norm; one 12 below takes
// some in the rare query of small logits. With one key's logit x the sink has 1 / (1 + e^(x -
// sink)).
TEST(CarryingShare, FindsWhatIsRareBesideASink) {
  for (const double sink : {12.0, -12.0}) {
    SCOPED_TRACE(sink);
    const ExactRequest request{64, {8, kNoSoftcap, sink}, 0.25};
    ExactMeansTable table;
    const ExactMeans exact = exact_means(table, request);
    EXPECT_LT(carrying_share(kSinkWeight, exact, request), 1);
    EXPECT_EQ(carrying_share(kSinkWeight, exact, request),
              carrying_share(kTotalWeight, exact, request));
    EXPECT_LE(carrying_share(kTopWeight, exact, request), 1);
  }
}

TEST(CarryingShare, IsAboutOneWhereQueriesAreAlike) {
  const ExactRequest request{1024, {8}, 1e-3};
  ExactMeansTable table;
  const ExactMeans exact = exact_means(table, request);
  for (const ExactMean mean : ExactMeansTable::kTabulated) {
    const bool is_bound = mean == kSlope || mean == kScoreSlope;
    EXPECT_GT(carrying_share(mean, exact, request), is_bound ? 1 / 1.5 : 0.99)
        << static_cast<int>(mean);
  }
}

}  // namespace
}  // namespace attnscale
