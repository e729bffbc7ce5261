#include "theory/second_formula.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "theory/exact_means_table.h"

namespace attnscale {
namespace {

using enum ExactMean;

/// Cells of any kind that has exact means, most of them beside a sink or in a sigmoid.
class RandomCells {
 public:
  explicit RandomCells(double most_spread) : most_spread_(most_spread) {}

  ExactRequest next() {
    constexpr std::array kSizes{1.0, 2.0, 3.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1024.0};
    const double d = kSizes[static_cast<std::size_t>(between(0, kSizes.size()))];
    const double spread = 0.3 * std::pow(most_spread_ / 0.3, between(0, 1));
    WeighingCase weighing{static_cast<std::int64_t>(2 * std::pow(5e4, between(0, 1)))};
    if (chance(0.25)) weighing.softcap = 2 * std::pow(30, between(0, 1));
    if (chance(0.3)) {
      weighing.sigmoid_bias = between(-45, 10);
    } else if (chance(0.9)) {
      weighing.sink = between(-5, 100);
    }
    ExactRequest request{d, weighing, (chance(0.2) ? -1 : 1) * spread / std::sqrt(d)};
    if (d > 1 && chance(0.08)) {
      request.law = ScoreLaw::kCosine;
      request.multiplier *= std::sqrt(d);
    }
    return request;
  }

 private:
  double between(double low, double high) {
    return low + (high - low) * (static_cast<double>(words_() >> 11) * 0x1p-53);
  }
  bool chance(double probability) { return between(0, 1) < probability; }

  double most_spread_;
  std::mt19937_64 words_{20261130};
};

std::string describe(const ExactRequest& request) {
  const WeighingCase& weighing = request.weighing;
  testing::Message message;
  message << "d " << request.d << ", keys " << weighing.keys << ", multiplier "
          << request.multiplier << ", cap " << weighing.softcap << ", sink " << weighing.sink
          << ", sigmoid " << weighing.sigmoid_bias.value_or(NAN)
          << (request.law == ScoreLaw::kCosine ? ", cosine" : "");
  return message.GetString();
}

/// What the exact values of one run may cost (kExactWork), for each cell.
constexpr double kWork = 3e9;

/// Holds the exact means of so many cells against the second formula; at most one in ten may be
/// left out.
void expect_second_formula(RandomCells cells, int count) {
  int left_out = 0;
  for (int i = 0; i < count; ++i) {
    const ExactRequest request = cells.next();
    SCOPED_TRACE(describe(request));
    ExactMeans found;
    try {
      ExactMeansTable table(kWork);
      found = exact_means(table, request);
    } catch (const OutOfWork&) {
      ++left_out;
      continue;
    }
    const ExactMeans exact = second_formula(request);
    for (const ExactMean mean : ExactMeansTable::kTabulated) {
      const double error = std::abs(found[mean] - exact[mean]);
      EXPECT_LE(error, kExactError * std::max(1.0, std::abs(exact[mean])))
          << "mean " << static_cast<int>(mean) << ": " << found[mean] << " for " << exact[mean];
    }
  }
  EXPECT_LE(10 * left_out, count);
}

TEST(SecondFormula, GivesTheExactMeansOfTwentyCells) {
  expect_second_formula(RandomCells(8), 20);
}

TEST(SlowSecondFormula, GivesTheExactMeansOfFiveHundredCells) {
  expect_second_formula(RandomCells(45), 500);
}

// The same cells and numbers as a third and a fourth quadrature found them (ten digits).
TEST(SecondFormula, IsNotNeededWhereOthersComputedSharpMeans) {
  struct Sharp {
    double d;
    std::int64_t keys;
    double multiplier;
    double sink;
    double sink_weight;
  };
  for (const Sharp& cell : {Sharp{8, 100000, 3, 40, 0.6568428313},
                            {8, 1000, 10, 100, 0.6957156888},
                            {8, 1000, 3, 30, 0.6777266022},
                            {3, 1000, 10, 30, 0.1670177233},
                            {3, 1000, 3, 30, 0.9661434692},
                            {64, 100000, 1, 36, 0.5628042781}}) {
    SCOPED_TRACE(cell.sink_weight);
    ExactMeansTable table;
    const ExactMeans means =
        exact_means(table, {cell.d, {cell.keys, kNoSoftcap, cell.sink}, cell.multiplier});
    EXPECT_NEAR(means[kSinkWeight], cell.sink_weight, 2e-9);
  }
}

// A closed form for the second formula itself: two keys' margin is Laplace's at d = 2, and weights
// of equal logits are known.
TEST(SecondFormula, HasItsClosedForms) {
  const ExactMeans pair = second_formula({2, {2}, 1.5});
  EXPECT_NEAR(pair[kMargin], 1.5 * std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(pair[kTotalWeight], 1, 1e-9);
  const ExactMeans equal = second_formula(normal_law(0, kNoSoftcap), {50, kNoSoftcap, 1});
  const double total = 50 + std::exp(1.0);
  EXPECT_NEAR(equal[kTopWeight], 1 / total, 1e-10);
  EXPECT_NEAR(equal[kSumP2], 50 / (total * total), 1e-10);
  EXPECT_NEAR(equal[kEntropy], 50 / total * std::log(total), 1e-9);
  EXPECT_NEAR(equal[kSinkEntropy], std::exp(1.0) / total * (std::log(total) - 1), 1e-9);
}

}  // namespace
}  // namespace attnscale
