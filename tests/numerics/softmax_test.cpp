#include "numerics/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/forced_target.h"
#include "support/plain_softmax.h"
#include "support/public_numbers.h"
#include "support/weigh.h"

namespace attnscale {
namespace {

using ::testing::ElementsAreArray;
using Rows = std::vector<std::vector<double>>;

constexpr std::array<std::size_t, 9> kKeys{1, 2, 3, 7, 8, 9, 64, 65, 700};
constexpr std::array kReaches{0.01, 1.0, 10.0, 150.0};

std::array<double, 11> numbers_of(const SoftmaxQuery& q) {
  return {q.top,         q.next,     q.max_abs,   q.rest, q.rest_power2, q.rest_power3,
          q.rest_power4, q.rest_gap, q.log_total, q.sink, q.share};
}

void expect_relative(long double found, long double expected, double tolerance) {
  EXPECT_LE(std::abs(found - expected), std::abs(expected) * tolerance)
      << static_cast<double>(found) << " instead of " << static_cast<double>(expected);
}

void expect_plain_sums(const SoftmaxQuery& found, const std::vector<double>& row) {
  const PlainSoftmax plain(row);
  const double tolerance = plain.tolerance();
  long double rest = 0, rest2 = 0, rest3 = 0, rest4 = 0, gap = 0, max_abs = 0;
  double next = -std::numeric_limits<double>::infinity();
  for (std::size_t key = 0; key < row.size(); ++key) {
    max_abs = std::max(max_abs, std::abs(static_cast<long double>(row[key])));
    if (key == plain.top) continue;
    next = std::max(next, row[key]);
    const long double below = static_cast<long double>(row[plain.top]) - row[key];
    const long double e = std::exp(-below);
    rest += e;
    rest2 += e * e;
    rest3 += e * e * e;
    rest4 += e * e * e * e;
    gap += e * below;
  }
  EXPECT_EQ(found.top, row[plain.top]);
  EXPECT_EQ(found.next, next);
  EXPECT_EQ(found.max_abs, static_cast<double>(max_abs));
  expect_relative(found.rest, rest, tolerance);
  expect_relative(found.rest_gap, gap, tolerance);
  expect_relative(found.log_total, std::log1p(rest), tolerance);
  // The smallest normal double is where powers of the rest fade to nothing.
  const auto faded = [](long double power) { return power < 0x1p-1000L; };
  if (!faded(rest2)) expect_relative(found.rest_power2, rest2, tolerance);
  if (!faded(rest3)) expect_relative(found.rest_power3, rest3, tolerance);
  if (!faded(rest4)) expect_relative(found.rest_power4, rest4, tolerance);
}

TEST(SoftmaxWeights, SlopeSurvivesAWeightThatRoundsToOne) {
  const std::vector<Weight> weights = softmax_weights(std::vector<double>{40, 0});
  EXPECT_EQ(weights[0].p, 1);
  EXPECT_DOUBLE_EQ(weights[0].slope(), 4.248354255291589e-18);
  EXPECT_DOUBLE_EQ(weights[1].slope(), 4.248354255291589e-18);
}

TEST(SoftmaxWeights, AreRightToTheLastDigitsOfTheLessonsRow) {
  const double e = std::exp(1.0);
  const std::vector<Weight> weights = softmax_weights(std::vector<double>{2, 1, 0});
  EXPECT_DOUBLE_EQ(weights[0].p, e * e / (e * e + e + 1));
  EXPECT_DOUBLE_EQ(weights[1].p, e / (e * e + e + 1));
  EXPECT_DOUBLE_EQ(weights[2].p, 1 / (e * e + e + 1));
  EXPECT_DOUBLE_EQ(weights[0].slope(), e * e * (e + 1) / std::pow(e * e + e + 1, 2));
}

TEST(SoftmaxWeights, AreWhatOthersPrintedAndExposeTheMisprint) {
  int wrong = 0;
  const auto cases = public_numbers()["softmax"];
  ASSERT_EQ(cases.size(), 8U);
  for (const auto& entry : cases) {
    SCOPED_TRACE(entry.dump());
    const auto weights = softmax_weights(entry["logits"].get<std::vector<double>>());
    const auto printed = entry["printed"].get<std::vector<double>>();
    ASSERT_EQ(weights.size(), printed.size());
    bool agrees = true;
    for (std::size_t key = 0; key < printed.size(); ++key) {
      agrees = agrees && std::abs(weights[key].p - printed[key]) <=
                             printed_error(decimals_of(entry["printed"]));
    }
    EXPECT_EQ(agrees, entry.value("verdict", "right") != "wrong");
    wrong += agrees ? 0 : 1;
    if (entry.contains("slope")) {
      EXPECT_DOUBLE_EQ(weights[0].slope(), entry["slope"].get<double>());
    }
  }
  EXPECT_EQ(wrong, 1);
}

TEST(SoftmaxWeights, AgreeWithThePlainComputation) {
  for (const std::size_t keys : kKeys) {
    for (const double reach : kReaches) {
      const std::vector<double> row = random_rows(1, keys, reach).front();
      const PlainSoftmax plain(row);
      const std::vector<Weight> weights = softmax_weights(row);
      for (std::size_t key = 0; key < keys; ++key) {
        expect_relative(weights[key].p, plain.p[key], plain.tolerance());
        expect_relative(weights[key].complement, plain.others[key], plain.tolerance());
      }
    }
  }
}

// Y = sum p^2 and H the entropy; identities that hold for every row (a few roundings of slack).
TEST(SoftmaxWeights, KeepTheIdentitiesOfEveryRow) {
  for (const std::size_t keys : kKeys) {
    for (const double reach : kReaches) {
      double sum = 0, y = 0, entropy = 0, trace = 0, top = 0;
      for (const Weight& weight : softmax_weights(random_rows(1, keys, reach).front())) {
        sum += weight.p;
        y += weight.p * weight.p;
        entropy -= weight.p > 0 ? weight.p * std::log(weight.p) : 0;
        trace += weight.slope();
        top = std::max(top, weight.p);
      }
      const double slack = 0x1p-50 * static_cast<double>(keys + 4);
      EXPECT_NEAR(sum, 1, slack);
      EXPECT_NEAR(trace, 1 - y, slack);
      EXPECT_GE(y, (1 - slack) / static_cast<double>(keys));
      EXPECT_LE(y, 1 + slack);
      EXPECT_LE(y, top * (1 + slack));
      EXPECT_LE(std::exp(-entropy), top * (1 + slack));
      EXPECT_LE(1 / y, std::exp(entropy) * (1 + slack));
      EXPECT_LE(entropy, std::log(static_cast<double>(keys)) + slack);
    }
  }
}

TEST(SoftmaxWeights, AConstantAddedToEveryLogitChangesNoWeight) {
  // Multiples of 2^-20 plus 4096 are exact: the very same weights.
  std::vector<double> row = random_rows(1, 33, 8).front();
  for (double& logit : row) logit = std::round(logit * 0x1p20) * 0x1p-20;
  std::vector<double> shifted = row;
  for (double& logit : shifted) logit += 4096;
  const std::vector<Weight> weights = softmax_weights(row);
  const std::vector<Weight> of_shifted = softmax_weights(shifted);
  for (std::size_t key = 0; key < row.size(); ++key) {
    EXPECT_EQ(weights[key].p, of_shifted[key].p);
    EXPECT_EQ(weights[key].complement, of_shifted[key].complement);
  }
}

TEST(SoftmaxWeights, StayFiniteAtAnyDistance) {
  const auto far = softmax_weights(std::vector<double>{-350, 350, 0});
  EXPECT_EQ(far[1].p, 1);
  expect_relative(far[0].p, std::exp(-700.0L), 1e-13);
  expect_relative(far[1].complement, std::exp(-350.0L), 1e-13);
  const auto farther = softmax_weights(std::vector<double>{1e300, -1e300});
  EXPECT_EQ(farther[0].p, 1);
  EXPECT_EQ(farther[1].p, 0);
  EXPECT_EQ(farther[0].slope(), 0);
}

TEST(SoftmaxSums, AgreeWithThePlainComputationAtOddSizes) {
  for (const std::size_t queries : {1U, 2U, 7U, 8U, 9U, 17U}) {
    for (const std::size_t keys : kKeys) {
      for (const double reach : kReaches) {
        const Rows rows = random_rows(queries, keys, reach);
        const std::vector<SoftmaxQuery> found = kernel_sums(rows, keys);
        for (std::size_t query = 0; query < queries; ++query) {
          SCOPED_TRACE(testing::Message() << keys << " keys within " << reach);
          expect_plain_sums(found[query], rows[query]);
        }
      }
    }
  }
}

TEST(SoftmaxSums, NeverDependOnTheNeighboursOfAQuery) {
  const Rows rows = random_rows(13, 21, 30);
  const std::vector<SoftmaxQuery> together = kernel_sums(rows, 21);
  for (std::size_t query = 0; query < rows.size(); ++query) {
    EXPECT_EQ(numbers_of(kernel_sums({rows[query]}, 21).front()), numbers_of(together[query]));
  }
}

TEST(SoftmaxSums, ManyTilesAgreeWithOne) {
  Rows rows = random_rows(6, 500, 20);
  std::ranges::sort(rows[1]);                          // a new top in every tile
  std::ranges::sort(rows[2], std::ranges::greater());  // the top in the first
  rows[3].assign(500, 1.5);                            // the same top in every tile
  const std::vector<SoftmaxQuery> whole = kernel_sums(rows, 500);
  for (const std::size_t tile : {1U, 3U, 64U, 499U}) {
    const std::vector<SoftmaxQuery> tiled = kernel_sums(rows, tile);
    for (std::size_t query = 0; query < rows.size(); ++query) {
      SCOPED_TRACE(testing::Message() << "tile " << tile << ", query " << query);
      const auto found = numbers_of(tiled[query]);
      const auto expected = numbers_of(whole[query]);
      for (std::size_t i = 0; i < found.size(); ++i) {
        // 500 roundings of sums in another order, and one fade for every new top.
        expect_relative(found[i], expected[i], tile == 1 ? 1e-13 : 1e-14);
      }
    }
  }
}

TEST(SoftmaxSums, GiveTheSameBytesOnEveryInstructionSetThatPromisesThem) {
  const Rows rows = random_rows(19, 100, 25);
  const std::vector<SoftmaxQuery> chosen_by_itself = kernel_sums(rows, 30);
  const std::vector<Weight> weights = softmax_weights(rows[0]);
  for (const std::int64_t target : targets_with_same_bytes()) {
    const ForcedTarget forced(target);
    const std::vector<SoftmaxQuery> found = kernel_sums(rows, 30);
    EXPECT_EQ(std::memcmp(found.data(), chosen_by_itself.data(), 19 * sizeof(SoftmaxQuery)), 0);
    EXPECT_EQ(std::memcmp(softmax_weights(rows[0]).data(), weights.data(), 100 * sizeof(Weight)),
              0);
  }
}

TEST(SoftmaxSums, AreRightOnTheBaselineToo) {
  const ForcedTarget forced(HWY_STATIC_TARGET);
  const Rows rows = random_rows(19, 100, 25);
  const std::vector<SoftmaxQuery> found = kernel_sums(rows, 100);
  for (std::size_t query = 0; query < rows.size(); ++query) {
    expect_plain_sums(found[query], rows[query]);
  }
}

TEST(SoftmaxSums, CountEveryKeyTiedAtTheTopButOne) {
  const SoftmaxQuery all = kernel_sums({std::vector<double>(9, -3.25)}, 9).front();
  EXPECT_EQ(all.rest, 8);
  EXPECT_EQ(all.rest_power4, 8);
  EXPECT_EQ(all.rest_gap, 0);
  EXPECT_EQ(all.next, -3.25);
  EXPECT_EQ(all.max_abs, 3.25);
  EXPECT_DOUBLE_EQ(all.log_total, std::log(9.0));
  // The tie in one tile, across tiles, and after a lower top.
  for (const std::size_t tile : {1U, 2U, 4U}) {
    const SoftmaxQuery two = kernel_sums({{0, 5, 5, 0}}, tile).front();
    EXPECT_EQ(two.next, 5);
    EXPECT_DOUBLE_EQ(two.rest, 1 + 2 * std::exp(-5.0));
    EXPECT_DOUBLE_EQ(two.rest_gap, 10 * std::exp(-5.0));
  }
}

TEST(SoftmaxSums, OneKeyHasNothingBesideIt) {
  const SoftmaxQuery one = kernel_sums({{-7.5}}, 1).front();
  EXPECT_EQ(one.top, -7.5);
  EXPECT_EQ(one.next, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(one.max_abs, 7.5);
  EXPECT_THAT((std::array{one.rest, one.rest_power2, one.rest_power4, one.rest_gap, one.log_total}),
              ::testing::Each(0.0));
  const std::vector<Weight> weights = softmax_weights(std::vector<double>{-7.5});
  EXPECT_EQ(weights.front().p, 1);
  EXPECT_EQ(weights.front().complement, 0);
}

TEST(SoftmaxSums, StartOverForgetsWhatWasSeen) {
  SoftmaxSums sums;
  sums.start(1);
  sums.add_keys(std::vector<double>(16, 900), 2);
  sums.start(1);
  sums.add_keys(std::vector<double>(8, 1), 1);
  sums.finish();
  EXPECT_EQ(sums.query(0).top, 1);
  EXPECT_EQ(sums.query(0).max_abs, 1);
  EXPECT_EQ(sums.query(0).rest, 0);
}

TEST(SoftmaxSums, TakeEveryExponentialWithinElevenTenthsOfAUnit) {
  constexpr std::size_t kQueries = 20000;
  Rows rows(kQueries, std::vector<double>{0, 0});
  for (std::size_t query = 0; query < kQueries; ++query) {
    const double share = (static_cast<double>(query) + 0.5) / kQueries;
    rows[query][1] = -708 * share * share * share;
  }
  const std::vector<SoftmaxQuery> found = kernel_sums(rows, 2);
  for (std::size_t query = 0; query < kQueries; ++query) {
    const long double expected = std::exp(static_cast<long double>(rows[query][1]));
    const double unit =
        std::nextafter(static_cast<double>(expected), 2.0) - static_cast<double>(expected);
    EXPECT_LE(std::abs(found[query].rest - expected), 1.1L * unit) << rows[query][1];
  }
}

// A sink is one more key of a plain softmax, but no key of the sums.
TEST(SoftmaxSums, HoldASinkApartFromTheKeys) {
  for (const double sink : {-300.0, -2.0, 0.0, 25.0, 400.0, 800.0, 5000.0}) {
    const Rows rows = random_rows(9, 20, 30);
    const SoftmaxSums sums = kernel_group(rows, 7, SoftmaxLevel::kPowers, sink);
    const std::vector<SoftmaxQuery> without = kernel_sums(rows, 7);
    for (std::size_t query = 0; query < rows.size(); ++query) {
      const SoftmaxQuery found = sums.query(static_cast<std::int64_t>(query));
      const long double above = static_cast<long double>(sink) - found.top;
      const auto below = [](long double x) { return x < -708 ? 0 : std::exp(x); };
      const double tolerance = 0x1p-50 * (2 + std::abs(sink) + std::abs(found.top));
      expect_relative(found.sink, below(std::min(above, 0.0L)), tolerance);
      expect_relative(found.share, below(std::min(-above, 0.0L)), tolerance);
      expect_relative(found.log_total, std::log1p(found.rest + std::exp(above)), tolerance);
      auto numbers = numbers_of(found);
      numbers[8] = without[query].log_total;
      numbers[9] = 0;
      numbers[10] = 1;
      EXPECT_EQ(numbers, numbers_of(without[query]));
    }
  }
}

TEST(SoftmaxSums, ForgetTheSinkOfTheGroupBefore) {
  SoftmaxSums sums;
  sums.start(1);
  sums.add_keys(std::vector<double>(8, 1), 1);
  sums.finish(3);
  EXPECT_EQ(sums.query(0).sink, 1);
  sums.start(1);
  sums.add_keys(std::vector<double>(8, 1), 1);
  sums.finish();
  EXPECT_EQ(sums.query(0).sink, 0);
  EXPECT_EQ(sums.query(0).share, 1);
  EXPECT_EQ(sums.query(0).log_total, 0);
}

// By sums and by weights. Far above, weights fade to 0 as every exponential does, below e^-708.
TEST(Softmax, KeepsItsWeightsBesideASinkFarAbove) {
  const std::vector<double> logits{0, -1, -2};
  const long double keys = 1 + std::exp(-1.0L) + std::exp(-2.0L);
  for (const double sink : {600.0, 690.0, 700.0, 705.0}) {
    SCOPED_TRACE(sink);
    const long double unit = std::exp(-static_cast<long double>(sink));
    const double tolerance = 0x1p-50 * sink;
    const SoftmaxQuery sums = kernel_group({logits}, 3, SoftmaxLevel::kPowers, sink).query(0);
    expect_relative(sum_weights(sums), keys * unit, tolerance);
    expect_relative(top_weight(sums), unit, tolerance);
    expect_relative(sum_entropy(sums), unit * (keys * sink + std::exp(-1.0L) + 2 * std::exp(-2.0L)),
                    tolerance);
    EXPECT_EQ(sum_kept_back(sums), 1);
    EXPECT_EQ(sum_without_squares(sums), 1);
    QueryWeights weights;
    weights.weigh(logits, {{NormaliserKind::kSink, sink}}, 0);
    expect_relative(weights.weights()[0], unit, tolerance);
    expect_relative(weights.weights()[2], unit * std::exp(-2.0L), tolerance);
    EXPECT_EQ(weights.sink(), 1);
    EXPECT_EQ(weights.complements()[0], 1);
  }
  const SoftmaxQuery none = kernel_group({logits}, 3, SoftmaxLevel::kPowers, 1e6).query(0);
  EXPECT_EQ(sum_weights(none), 0);
  EXPECT_EQ(sum_entropy(none), 0);
  EXPECT_EQ(sum_kept_back(none), 1);
  EXPECT_EQ(jacobian_norm(none), 0);
  EXPECT_NEAR(count_effective_keys(none), 1.9587, 1e-4);  // of their ratios, which stay
}

TEST(SoftmaxSums, HoldNothingBeyondTheirLevel) {
  SoftmaxSums sums;
  const auto feed = [&](SoftmaxLevel level) {
    sums.start(1, level);
    for (int tile = 0; tile < 2; ++tile) sums.add_keys(std::vector<double>(16, tile), 2);
    sums.finish();
    return sums.query(0);
  };
  EXPECT_EQ(feed(SoftmaxLevel::kPowers).rest, 1 + 2 * std::exp(-1.0));
  const SoftmaxQuery weights = feed(SoftmaxLevel::kWeights);
  EXPECT_EQ(weights.rest, 1 + 2 * std::exp(-1.0));
  EXPECT_TRUE(std::isnan(weights.rest_power2) && std::isnan(weights.log_total));
  const SoftmaxQuery entropy = feed(SoftmaxLevel::kEntropy);
  EXPECT_TRUE(std::isnan(entropy.rest_power4));
  EXPECT_DOUBLE_EQ(entropy.log_total, std::log1p(entropy.rest));
}

}  // namespace
}  // namespace attnscale
