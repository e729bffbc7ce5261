#include "theory/pair_means.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "theory/exact_means_table.h"

namespace attnscale {
namespace {

using enum ExactMean;

/// What is left for a run's means after averaging over norms and tabulating.
constexpr double kPairError = 5e-9;

void expect_pairs(const ExactMeans& found, double effective_keys, double weight_margin) {
  EXPECT_NEAR(found[kEffectiveKeys], effective_keys, kPairError * effective_keys);
  EXPECT_NEAR(found[kWeightMargin], weight_margin, kPairError);
}

ExactMeans of_normal(double spread, const WeighingCase& weighing) {
  return pair_means(normal_law(spread, weighing.softcap), weighing);
}

// With x the difference of two logits, (sum p)^2 / sum p^2 = 1 + sech x and p1 - p2 = tanh |x| / 2:
// one-dimensional integrals, by mpmath to 13 digits.
TEST(PairMeans, OfTwoKeysAreOneDimensional) {
  expect_pairs(of_normal(0.001, {2}), 1.999999000002, 0.0005641893954847);
  expect_pairs(of_normal(1, {2}), 1.627972634713, 0.4504269088437);
  expect_pairs(of_normal(8, {2}), 1.109735422672, 0.9032026780313);
  expect_pairs(of_normal(1000, {2}), 1.000886226379, 0.9992178676704);
}

// By formulas that set the top key apart, R the others' sum of e^-gap and R2 that of squares:
// (1 + R)^2 / (1 + R2) is an integral of e^-u (1 + R)^2 e^-uR2, and p1 - p2 the mean of
// (1 - e^-gap) p1 over both top logits (NumPy, Gauss's rule on fixed panels).
TEST(PairMeans, EqualFormulasThatSetTheTopKeyApart) {
  expect_pairs(of_normal(1, {3}), 2.19210456439, 0.323928513566);
  expect_pairs(of_normal(1, {8}), 4.68130301217, 0.15954669602);
  expect_pairs(of_normal(8, {8}), 1.32885250515, 0.77701472276);
  expect_pairs(of_normal(2, {1024}), 54.4917493302, 0.0523079088265);
  expect_pairs(of_normal(3, {131072}), 186.526648157, 0.0390259305232);
  expect_pairs(of_normal(1, {1 << 20}), 385765.153418, 1.52654419917e-05);
  expect_pairs(of_normal(3, {8, 5}), 2.54860871171, 0.350897845834);
}

TEST(PairMeans, SinkTakesFromTheMarginAlone) {
  expect_pairs(of_normal(1, {8, kNoSoftcap, 2}), 4.68130301217, 0.102666578142);
  EXPECT_NEAR(of_normal(3, {1000, kNoSoftcap, 20})[kWeightMargin], 5.63542480161e-05, kPairError);
  EXPECT_NEAR(of_normal(3, {8, kNoSoftcap, 500})[kWeightMargin], 0, 1e-12);
}

// Two keys by a sum over both logits, E|p - p'| as twice the integral of F (1 - F) over p.
TEST(PairMeans, OfSigmoids) {
  expect_pairs(of_normal(2, {2, kNoSoftcap, kNoSink, -3}), 1.43031955998, 0.1708809298657);
  expect_pairs(of_normal(2, {1, kNoSoftcap, kNoSink, 0.0}), 1, 0.5);
  // So far below 0 that every weight is e^(logit + bias).
  EXPECT_NEAR(of_normal(1, {8, kNoSoftcap, kNoSink, -900})[kEffectiveKeys], 4.68130301217, 2e-8);
}

TEST(PairMeans, OfEqualLogits) {
  for (const std::int64_t keys : {2, 1000, 1 << 20}) {
    expect_pairs(of_normal(0, {keys}), static_cast<double>(keys), 0);
  }
}

// At d = 2 the difference of two keys' logits is Laplace's; at d = 4 by Gauss's rule over norms up
// to 7.6.
TEST(PairMeans, AverageOverNorms) {
  ExactMeansTable table(3e9, ExactMeansTable::kOfPairs);
  expect_pairs(exact_means(table, {2, {2}, 1.5}), 1.470206254725, 0.5860850973064);
  expect_pairs(exact_means(table, {4, {8}, 0.5}), 5.03945638339, 0.148768626959);
  expect_pairs(exact_means(table, {4, {8}, 0}), 8, 0);
  EXPECT_EQ(table.pending_work({4, {8}, 0.5}), 0);
}

TEST(PairMeans, TableFollowsTheIntegrals) {
  ExactMeansTable table(3e9, ExactMeansTable::kOfPairs);
  for (const WeighingCase& weighing :
       {WeighingCase{8}, WeighingCase{1 << 20}, WeighingCase{128, 5, 3}}) {
    for (double spread = 0.05; spread < 40; spread *= 3.7) {
      const ExactMeans exact = of_normal(spread, weighing);
      expect_pairs(table.at_spread(weighing, spread), exact[kEffectiveKeys], exact[kWeightMargin]);
    }
  }
}

TEST(PairMeans, FarLogitsAreLeftOut) {
  ExactMeansTable table(3e9, ExactMeansTable::kOfPairs);
  EXPECT_GT(table.pending_work({64, {8}, 1e6}), 3e9);
  EXPECT_THROW(exact_means(table, {64, {8}, 1e6}), OutOfWork);
}

}  // namespace
}  // namespace attnscale
