// Our exact means beside the numbers that the theory of softmax over normal logits prints: scalable
// softmax, the random energy model, and the bounds that they are known by. Logits of one spread, so
// that no average over queries is taken.
#include <gtest/gtest.h>

#include <cmath>

#include "support/public_numbers.h"
#include "support/scalings.h"
#include "theory/exact_means_table.h"

namespace attnscale {
namespace {

using enum ExactMean;

struct SsmaxCase {
  std::int64_t keys;
  double effective_keys;    ///< 1 / E[sum p^2] under s = 0.43
  double plain_top_weight;  ///< of a softmax of the scores as they are
  int top_digits;           ///< decimals that are printed of it
};

// Nakanishi, arXiv 2501.19399, s of its figure 1; scores of spread 1.
TEST(ScalableSoftmax, KeepsTheEffectiveKeysNearlyConstant) {
  ExactMeansTable table;
  const Scaling ssmax = preset("ssmax", {0.43});
  constexpr std::int64_t kD = 64;  // cancels: scores have the spread sqrt(d)
  for (const SsmaxCase& one : {SsmaxCase{8, 4.71, 0.361, 3},
                               {128, 8.17, 0.0685, 4},
                               {1024, 7.56, 0.0162, 4},
                               {4096, 6.73, 0.0059, 4}}) {
    SCOPED_TRACE(one.keys);
    const double spread =
        factor_of(ssmax, kD, static_cast<double>(one.keys)) * std::sqrt(double{kD});
    EXPECT_NEAR(1 / table.at_spread({one.keys}, spread)[kSumP2], one.effective_keys,
                printed_error(2));
    EXPECT_NEAR(table.at_spread({one.keys}, 1)[kTopWeight], one.plain_top_weight,
                printed_error(one.top_digits));
  }
}

struct EnergyCase {
  std::int64_t keys;
  double spread;
  double sum_p2;
  double entropy;
  double bound;  ///< 1 - m_n / spread; 0 where the spread says nothing
};

// The columns "exact" of the table of the random energy model in the field's notes, from
// quadratures of their own; beside them the exact bound 1 - m_n / s, which no estimate may cross.
TEST(RandomEnergyModel, ExactColumnsAreOurs) {
  ExactMeansTable table;
  for (const EnergyCase& one : {EnergyCase{128, 1, 0.02019, 4.3656, 0},
                                {128, 2, 0.10986, 3.1940, 0},
                                {128, 4, 0.40443, 1.5470, 0.35135},
                                {128, 8, 0.68115, 0.6576, 0.67568},
                                {1024, 1, 0.00264, 6.4333, 0},
                                {1024, 8, 0.60166, 0.8988, 0.59397},
                                {4096, 2, 0.00969, 6.3509, 0},
                                {4096, 6, 0.42122, 1.6038, 0.39565},
                                {4096, 12, 0.70015, 0.6234, 0.69783}}) {
    SCOPED_TRACE(testing::Message() << one.keys << " keys, spread " << one.spread);
    const ExactMeans mean = table.at_spread({one.keys}, one.spread);
    EXPECT_NEAR(mean[kSumP2], one.sum_p2, printed_error(5));
    EXPECT_NEAR(mean[kEntropy], one.entropy, printed_error(4));
    EXPECT_GT(mean[kSumP2], one.bound);
  }
}

// e^(s^2) / n and ln n - s^2 / 2 hold for many keys and small spreads, and there alone.
TEST(RandomEnergyModel, LogNormalRulesAreLimits) {
  ExactMeansTable table;
  const double n = 1 << 20;
  const ExactMeans mean = table.at_spread({1 << 20}, 1);
  EXPECT_NEAR(mean[kSumP2] / (std::exp(1.0) / n), 1, 1e-3);
  EXPECT_NEAR(mean[kEntropy], std::log(n) - 0.5, 1e-3);
  EXPECT_LT(table.at_spread({128}, 2)[kSumP2], 0.3 * std::exp(4.0) / 128);
}

}  // namespace
}  // namespace attnscale
