#include "numerics/query_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/forced_target.h"
#include "support/plain_softmax.h"

namespace attnscale {
namespace {

using Logits = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

WeightRule rule_of(NormaliserKind kind, double bias, Precision precision = Precision::kFloat64,
                   MaxShift max_shift = MaxShift::kSubtracted) {
  return {{kind, bias}, precision, max_shift};
}

WeightRule softmax_in(Precision precision, MaxShift max_shift = MaxShift::kSubtracted) {
  return rule_of(NormaliserKind::kSoftmax, 0, precision, max_shift);
}

QueryWeights weigh(const Logits& logits, const WeightRule& rule) {
  QueryWeights query;
  query.weigh(logits, rule, 0);
  return query;
}

void expect_relative(double found, long double expected, double tolerance) {
  EXPECT_LE(std::abs(found - expected), std::abs(expected) * tolerance)
      << found << " instead of " << static_cast<double>(expected);
}

// A sink is one more key of a plain softmax.
TEST(QueryWeights, OfASoftmaxAndOfASinkAreThoseOfThePlainFormula) {
  for (const std::size_t keys : {1U, 2U, 7U, 8U, 9U, 50U}) {
    for (const double reach : {0.01, 4.0, 20.0, 150.0}) {
      const Logits row = random_rows(1, keys, reach).front();
      for (const double sink : {-kInfinity, -3.0, 0.0, 40.0, 300.0}) {
        const bool has_sink = std::isfinite(sink);
        Logits with_sink = row;
        if (has_sink) with_sink.push_back(sink);
        const PlainSoftmax plain(with_sink);
        const auto query =
            weigh(row, rule_of(has_sink ? NormaliserKind::kSink : NormaliserKind::kSoftmax,
                               has_sink ? sink : 0));
        ASSERT_EQ(query.weights().size(), keys);
        for (std::size_t key = 0; key < keys; ++key) {
          expect_relative(query.weights()[key], plain.p[key], plain.tolerance());
          expect_relative(query.complements()[key], plain.others[key], plain.tolerance());
        }
        expect_relative(query.sink(), has_sink ? plain.p.back() : 0, plain.tolerance());
        EXPECT_FALSE(query.overflowed());
      }
    }
  }
}

TEST(QueryWeights, OfASigmoidKeepTheDigitsOfBothEnds) {
  const Logits logits{-600, -40, -1, 0, 2, 40, 600};
  const auto query = weigh(logits, rule_of(NormaliserKind::kSigmoid, 0.5));
  for (std::size_t key = 0; key < logits.size(); ++key) {
    const long double x = static_cast<long double>(logits[key]) + 0.5L;
    expect_relative(query.weights()[key], 1 / (1 + std::exp(-x)), 8e-16);
    expect_relative(query.complements()[key], 1 / (1 + std::exp(x)), 8e-16);
  }
  EXPECT_EQ(query.sink(), 0);
}

TEST(QueryWeights, KnowTheTopTwoKeysTheFirstOfEquals) {
  const auto places = [](const Logits& logits) {
    const auto query = weigh(logits, {});
    return std::pair(query.top(), query.next());
  };
  EXPECT_EQ(places({3}), std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(places({1, 5, 2, 4}), std::pair(std::size_t{1}, std::size_t{3}));
  EXPECT_EQ(places({1, 5, 5, 5}), std::pair(std::size_t{1}, std::size_t{2}));
  EXPECT_EQ(places({7, 2, 7, 2}), std::pair(std::size_t{0}, std::size_t{2}));
  EXPECT_EQ(places({9, 2, 2}), std::pair(std::size_t{0}, std::size_t{1}));
}

TEST(QueryWeights, HoldNothingOfTheQueryBefore) {
  QueryWeights query;
  const Logits first(20, kInfinity);
  const Logits second{1, 0};
  query.weigh(first, rule_of(NormaliserKind::kSink, 3), 7);
  EXPECT_TRUE(query.overflowed());
  query.weigh(second, {}, 1);
  EXPECT_FALSE(query.overflowed());
  EXPECT_EQ(query.aligned_keys(), 1);
  EXPECT_EQ(query.sink(), 0);
  EXPECT_EQ(query.weights().size(), 2U);
  EXPECT_DOUBLE_EQ(query.weights()[0] + query.weights()[1], 1);
  query.mark_overflow();
  EXPECT_TRUE(query.overflowed());
}

TEST(QueryWeights, AreTheSameBytesOnEveryInstructionSetThatPromisesThem) {
  const Logits row = random_rows(1, 37, 25).front();
  for (const WeightRule& rule :
       {WeightRule{}, rule_of(NormaliserKind::kSink, 3), rule_of(NormaliserKind::kSigmoid, -1)}) {
    const auto chosen = weigh(row, rule);
    for (const std::int64_t target : targets_with_same_bytes()) {
      const ForcedTarget forced(target);
      const auto query = weigh(row, rule);
      EXPECT_TRUE(std::ranges::equal(query.weights(), chosen.weights()));
      EXPECT_TRUE(std::ranges::equal(query.complements(), chosen.complements()));
    }
  }
}

TEST(QueryWeights, ThatAreNotFiniteAreCounted) {
  for (const double number : {kInfinity, -kInfinity, std::nan("")}) {
    for (const Precision precision : {Precision::kFloat64, Precision::kFloat16}) {
      for (const NormaliserKind kind :
           {NormaliserKind::kSoftmax, NormaliserKind::kSink, NormaliserKind::kSigmoid}) {
        EXPECT_TRUE(weigh({0, number, 1}, rule_of(kind, 0, precision)).overflowed());
      }
    }
  }
}

// exp(-100) = 3.72e-44 lies between 26 and 27 steps of 2^-149.
TEST(QueryWeightsInFloat32, KeepSubnormalWeights) {
  const auto query = weigh({0, -100}, softmax_in(Precision::kFloat32));
  EXPECT_EQ(query.weights()[0], 1);
  EXPECT_EQ(query.weights()[1], 27 * 0x1p-149);
  EXPECT_EQ(query.complements()[0], 0);
  EXPECT_EQ(query.complements()[1], 1);
}

// The processor's own float arithmetic, step by step; only the exponential is taken in double.
TEST(QueryWeightsInFloat32, AreThoseOfTheProcessorsOwnFloats) {
  for (const bool has_sink : {false, true}) {
    for (const MaxShift shift : {MaxShift::kSubtracted, MaxShift::kNone}) {
      Logits row = random_rows(1, 61, 30).front();
      for (double& logit : row) logit = static_cast<double>(static_cast<float>(logit));
      const float sink_logit = 1.7F;
      float top = static_cast<float>(*std::ranges::max_element(row));
      if (has_sink) top = std::max(top, sink_logit);
      if (shift == MaxShift::kNone) top = 0;
      const auto exponential = [&](float logit) {
        return static_cast<float>(std::exp(static_cast<double>(logit - top)));
      };
      float total = 0;
      for (const double logit : row) total += exponential(static_cast<float>(logit));
      if (has_sink) total += exponential(sink_logit);
      const auto query =
          weigh(row, rule_of(has_sink ? NormaliserKind::kSink : NormaliserKind::kSoftmax, 1.7,
                             Precision::kFloat32, shift));
      for (std::size_t key = 0; key < row.size(); ++key) {
        const float weight = exponential(static_cast<float>(row[key])) / total;
        EXPECT_EQ(query.weights()[key], static_cast<double>(weight));
        EXPECT_EQ(query.complements()[key], static_cast<double>(1 - weight));
      }
      if (has_sink) {
        EXPECT_EQ(query.sink(), static_cast<double>(exponential(sink_logit) / total));
      }
    }
  }
}

// Where an exponential is half the smallest number, or half a step beyond the largest.
TEST(QueryWeightsInAPrecision, LoseKeysAndOverflowWhereTheFormatEnds) {
  struct Ends {
    Precision precision;
    double lost_below;  ///< ln of half the smallest subnormal number
    double overflows_above;
  };
  for (const Ends& ends : {Ends{Precision::kFloat16, -25 * std::log(2.0), std::log(65520.0)},
                           Ends{Precision::kBfloat16, -134 * std::log(2.0), 128 * std::log(2.0)},
                           Ends{Precision::kFloat32, -150 * std::log(2.0), 128 * std::log(2.0)}}) {
    // Two logits of the format around each end.
    const auto digits = format_of(ends.precision).digits;
    const auto around = [&](double end) {
      const double step = std::ldexp(1.0, std::ilogb(end) - (digits - 1));
      return std::pair(std::floor(end / step) * step, std::ceil(end / step) * step);
    };
    const auto [lost, kept] = around(ends.lost_below);
    EXPECT_EQ(weigh({0, lost}, softmax_in(ends.precision)).weights()[1], 0) << lost;
    EXPECT_GT(weigh({0, kept}, softmax_in(ends.precision)).weights()[1], 0) << kept;
    const auto [finite, infinite] = around(ends.overflows_above);
    const auto unshifted = softmax_in(ends.precision, MaxShift::kNone);
    EXPECT_FALSE(weigh({finite, 0}, unshifted).overflowed()) << finite;
    EXPECT_TRUE(weigh({infinite, 0}, unshifted).overflowed()) << infinite;
    EXPECT_FALSE(weigh({infinite, 0}, softmax_in(ends.precision)).overflowed());
    // Every exponential lost leaves 0 / 0.
    EXPECT_TRUE(weigh({lost, lost}, unshifted).overflowed());
  }
}

TEST(QueryWeightsInAPrecision, SumTheTotalInFloat32) {
  // 4096 equal weights: float16 could not count beyond 2048.
  const auto half = weigh(Logits(4096, 0.0), softmax_in(Precision::kFloat16));
  EXPECT_THAT(half.weights(), ::testing::Each(0x1p-12));
  // In bfloat16 1 - 2^-12 is 1.
  const auto brain = weigh(Logits(4096, 0.0), softmax_in(Precision::kBfloat16));
  EXPECT_THAT(brain.weights(), ::testing::Each(0x1p-12));
  EXPECT_THAT(brain.complements(), ::testing::Each(1));
}

WeightRule softmax_with(const PrecisionSteps& steps) {
  return {.precision = steps};
}

// Of 4096 ones float16 counts to 2048 key by key, and all of them by pairs or by tiles of 1024.
TEST(QueryWeightsInAPrecision, SumInTheOrderAsked) {
  PrecisionSteps steps = Precision::kFloat16;
  steps.sum = Precision::kFloat16;
  const Logits equal(4096, 0.0);
  EXPECT_THAT(weigh(equal, softmax_with(steps)).weights(), ::testing::Each(0x1p-11));
  steps.sum_order = SumOrder::kPairwise;
  EXPECT_THAT(weigh(equal, softmax_with(steps)).weights(), ::testing::Each(0x1p-12));
  steps.sum_order = SumOrder::kTiles;
  steps.tile_keys = 1024;
  EXPECT_THAT(weigh(equal, softmax_with(steps)).weights(), ::testing::Each(0x1p-12));
  steps.tile_keys = 4096;
  EXPECT_THAT(weigh(equal, softmax_with(steps)).weights(), ::testing::Each(0x1p-11));
  // Of 11 ones E5M2 counts to 8 key by key; by pairs there are 8 and 3, halfway from 10 to 12.
  steps = {};
  steps.sum = Precision::kFloat8E5M2;
  EXPECT_THAT(weigh(Logits(11, 0.0), softmax_with(steps)).weights(), ::testing::Each(1.0 / 8));
  steps.sum_order = SumOrder::kPairwise;
  EXPECT_THAT(weigh(Logits(11, 0.0), softmax_with(steps)).weights(), ::testing::Each(1.0 / 12));
}

// Logits 0, 1, 2 in tiles of one key: each earlier exponential is rescaled by e^-1 as bfloat16 has
// it, 188 2^-9, and rounded; so is the sum. 188^2 2^-18 = 35344 2^-18 -> 138 2^-10.
TEST(QueryWeightsInAPrecision, RescaleWhatTilesHadBefore) {
  PrecisionSteps steps = Precision::kBfloat16;
  steps.sum = Precision::kBfloat16;
  steps.weight = Precision::kFloat64;
  steps.sum_order = SumOrder::kTiles;
  steps.tile_keys = 1;
  const auto query = weigh({0, 1, 2}, softmax_with(steps));
  // 1; 188 2^-9 + 1 = 700 2^-9 -> 175 2^-7; 175 188 2^-16 = 32900 2^-16 -> 129 2^-8, and 1: 385
  // 2^-8 -> 192 2^-7.
  const double total = 192 * 0x1p-7;
  EXPECT_EQ(query.weights()[2], 1 / total);
  EXPECT_EQ(query.weights()[1], 188 * 0x1p-9 / total);
  EXPECT_EQ(query.weights()[0], 138 * 0x1p-10 / total);
  EXPECT_DOUBLE_EQ(query.log_sum(), 2 + std::log(total));
}

// exp(88.7) = 3.3e38 is a float32, twice it is none: what is left are finite weights of 0.
TEST(QueryWeightsInAPrecision, CountATotalThatOverflows) {
  const auto unshifted = softmax_in(Precision::kFloat32, MaxShift::kNone);
  const double logit = round_to(Precision::kFloat32, 88.7);
  EXPECT_FALSE(weigh({logit, 0}, unshifted).overflowed());
  EXPECT_TRUE(weigh({logit, logit}, unshifted).overflowed());
}

// exp(14) would overflow; exp(-14) = 8.3e-7 is 14 steps of 2^-24.
TEST(QueryWeightsInAPrecision, SubtractASinkThatIsTheLargestLogit) {
  const auto query = weigh({0}, rule_of(NormaliserKind::kSink, 14, Precision::kFloat16));
  EXPECT_FALSE(query.overflowed());
  EXPECT_EQ(query.sink(), 1);
  EXPECT_EQ(query.weights()[0], 14 * 0x1p-24);
}

// Of the sigmoid of 12 in float16, exp(-12) = 6.1e-6 is lost beside 1; of -12, exp(12) overflows
// and leaves a weight of 0, which is finite.
TEST(QueryWeightsInFloat16, OfASigmoidAreRoundedStepByStep) {
  const auto query =
      weigh({12, -12, 0, 1}, rule_of(NormaliserKind::kSigmoid, 0, Precision::kFloat16));
  EXPECT_EQ(query.weights()[0], 1);
  EXPECT_EQ(query.complements()[0], 0);
  EXPECT_EQ(query.weights()[1], 0);
  EXPECT_EQ(query.complements()[1], 1);
  EXPECT_EQ(query.weights()[2], 0.5);
  // exp(-1) = 0.36788 -> 1507 2^-12; 1 + that -> 1401 2^-10; its inverse -> 1497 2^-11.
  EXPECT_EQ(query.weights()[3], 1497 * 0x1p-11);
  EXPECT_FALSE(query.overflowed());
  EXPECT_TRUE(
      weigh({65504}, rule_of(NormaliserKind::kSigmoid, 16, Precision::kFloat16)).overflowed());
}

}  // namespace
}  // namespace attnscale
