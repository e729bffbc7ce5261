#include "theory/exact_means.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

namespace attnscale {
namespace {

const double kQuarterNormal = 0.67448975019608174;  // P(|z| > this) = 1/2 for a standard normal z

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

double power_of_d(const std::string& scaling) {
  return scaling == "none" ? 0 : scaling == "div_sqrt_d" ? -0.5 : -1;
}

// The file's 7 digits are rounded to 5e-8; its own quadrature is good to 1e-6.
TEST(Reference, EqualsTheReferenceFileOfNormalEntries) {
  std::ifstream file(std::string(ATTNSCALE_SOURCE_DIR) +
                     "/tests/reference_values/normal_entries.json");
  const auto entries = nlohmann::json::parse(file);
  ASSERT_EQ(entries.size(), 21U);
  ReferenceTable table;
  for (const auto& entry : entries) {
    SCOPED_TRACE(entry.dump());
    const double d = entry["d"].get<double>();
    const double power = power_of_d(entry["scaling"].get<std::string>());
    const SoftmaxReference mean =
        softmax_reference(table, {d, {entry["keys"].get<int>()}, std::pow(d, power)});
    EXPECT_NEAR(mean.top_weight, entry["top_weight"].get<double>(), 1e-6);
    EXPECT_NEAR(mean.slope, entry["slope"].get<double>(), 1e-6);
    EXPECT_NEAR(mean.sum_p2, entry["sum_p2"].get<double>(), 1e-6);
    EXPECT_NEAR(mean.entropy, entry["entropy"].get<double>(), 1e-6);
  }
}

// Against the integrals themselves between the points of interpolation; 1e-7 leaves the means ten
// times better than promised.
TEST(Reference, TableFollowsTheIntegrals) {
  for (const std::int64_t keys : {2, 8, 1024, 1 << 20}) {
    ReferenceTable table;
    const SoftmaxIntegrals integrals(keys);
    for (double spread = 0; spread < 1e4; spread = 1.9 * spread + 0.013) {
      SCOPED_TRACE(testing::Message() << keys << " keys, spread " << spread);
      const SoftmaxReference at = table.at_spread({keys}, spread);
      const SoftmaxMeans exact = integrals.linear(spread);
      EXPECT_NEAR(at.top_weight, exact.top_weight, 1e-7);
      EXPECT_NEAR(at.slope, exact.slope, 1e-7);
      EXPECT_NEAR(at.sum_p2, exact.sum_p2, 1e-7);
      EXPECT_NEAR(at.entropy, exact.entropy, 1e-7);
    }
  }
}

TEST(Reference, TableFollowsSoftcapsAndSinks) {
  for (const ReferenceRow row :
       {ReferenceRow{8, 30}, ReferenceRow{8, kNoSoftcap, 10}, ReferenceRow{128, 5, 3}}) {
    ReferenceTable table;
    for (double spread = 0.2; spread < 100; spread *= 5.3) {
      SCOPED_TRACE(testing::Message()
                   << row.keys << " " << row.softcap << " " << row.sink << " " << spread);
      const SoftmaxReference at = table.at_spread(row, spread);
      const SoftmaxMeans exact = softmax_means(normal_law(spread, row.softcap), row.keys, row.sink);
      EXPECT_NEAR(at.top_weight, exact.top_weight, 2e-7);
      EXPECT_NEAR(at.slope, exact.slope, 2e-7);
      EXPECT_NEAR(at.score_slope, exact.score_slope / spread, 2e-7);
      EXPECT_NEAR(at.sum_p2, exact.sum_p2, 2e-7);
      EXPECT_NEAR(at.entropy, exact.entropy, 2e-7);
      EXPECT_NEAR(at.margin, exact.margin / spread, 2e-7);
      EXPECT_NEAR(at.sink_weight, exact.sink_weight, 2e-7);
      EXPECT_NEAR(at.sink_entropy, exact.sink_entropy, 2e-7);
    }
  }
}

TEST(Reference, ScoreSlopeIsTheSlopeTimesTheMultiplier) {
  ReferenceTable table;
  for (const double multiplier : {-2.0, 0.125, 3.0}) {
    const SoftmaxReference mean = softmax_reference(table, {16, {8}, multiplier});
    EXPECT_NEAR(mean.score_slope, multiplier * mean.slope, 1e-12);
  }
}

// Only the product of multiplier and spreads reaches the logits, and scores are symmetric.
TEST(Reference, EntriesOfAnotherSpreadActAsAMultiplier) {
  ReferenceTable table;
  const SoftmaxReference a = softmax_reference(table, {16, {8}, -0.5, 0.5});
  const SoftmaxReference b = softmax_reference(table, {16, {8}, 0.25, 1});
  EXPECT_EQ(a.top_weight, b.top_weight);
  EXPECT_EQ(a.margin, b.margin);
  EXPECT_NEAR(a.score_slope, -2 * b.score_slope, 1e-15);
}

TEST(Reference, ZeroMultiplierGivesUniformWeights) {
  ReferenceTable table;
  const SoftmaxReference mean = softmax_reference(table, {16, {5}, 0});
  EXPECT_NEAR(mean.top_weight, 0.2, 1e-8);
  EXPECT_NEAR(mean.entropy, std::log(5.0), 1e-8);
  EXPECT_EQ(mean.margin, 0);
  EXPECT_EQ(mean.score_slope, 0);
  EXPECT_EQ(saturated_reference({16, {2}, 0}, 0.9), 0);
}

// The difference of two scores is sqrt(2) |q| z; for d = 2 |q| z is a Laplace variable, whose
// absolute value is exponential: P(top > t) = t-odds ^ (-1 / (c sqrt(2))), E[margin] = c sqrt(2).
TEST(Reference, TwoKeysAtTwoNumbersHaveClosedForms) {
  ReferenceTable table;
  for (const double c : {0.1, 1.0, 5.0}) {
    const ReferenceRequest request{2, {2}, c};
    for (const double t : {0.6, 0.9, 0.99, 0.999999}) {
      const double exact = std::exp(-std::log(t / (1 - t)) / (c * std::sqrt(2.0)));
      EXPECT_NEAR(saturated_reference(request, t).value(), exact, 1e-10) << c << " " << t;
    }
    EXPECT_NEAR(median_top_weight_reference(request).value(),
                logistic(c * std::sqrt(2.0) * std::log(2.0)), 1e-10);
    EXPECT_NEAR(softmax_reference(table, request).margin, c * std::sqrt(2.0), 1e-10);
  }
}

// |q| c is spread within 1e-6 of itself at d = 1e12.
TEST(Reference, TwoKeysOfGaussianLogitsHaveTheClosedMedian) {
  for (const double spread : {0.125, 1.0, 8.0}) {
    const ReferenceRequest request{1e12, {2}, spread / 1e6};
    EXPECT_NEAR(median_top_weight_reference(request).value(),
                logistic(spread * std::sqrt(2.0) * kQuarterNormal), 1e-8);
    const double t = 0.9;
    EXPECT_NEAR(saturated_reference(request, t).value(), std::erfc(std::log(9.0) / (2 * spread)),
                1e-8);
  }
}

TEST(Reference, LawOfTheTopWeightIsOnlyGivenForPlainPairs) {
  EXPECT_FALSE(saturated_reference({64, {8}}, 0.99));
  EXPECT_FALSE(saturated_reference({64, {2, 30}}, 0.99));
  EXPECT_FALSE(median_top_weight_reference({64, {2, kNoSoftcap, 0}}));
  EXPECT_EQ(saturated_reference({64, {2}}, 0.3), 1);
  EXPECT_EQ(saturated_reference({64, {2}}, 1), 0);
}

// A cap far above all logits changes nothing; a sink far below takes nothing; both 1e-7 of the
// dearer quadrature.
TEST(Reference, LooseSoftcapAndDeepSinkChangeNothing) {
  ReferenceTable table;
  const SoftmaxReference plain = softmax_reference(table, {16, {8}, 0.5});
  for (const ReferenceRow row : {ReferenceRow{8, 1e7}, ReferenceRow{8, kNoSoftcap, -200}}) {
    const SoftmaxReference other = softmax_reference(table, {16, row, 0.5});
    EXPECT_NEAR(other.top_weight, plain.top_weight, 3e-7);
    EXPECT_NEAR(other.slope, plain.slope, 3e-7);
    EXPECT_NEAR(other.score_slope, plain.score_slope, 3e-7);
    EXPECT_NEAR(other.sum_p2, plain.sum_p2, 3e-7);
    EXPECT_NEAR(other.entropy, plain.entropy, 3e-7);
    EXPECT_NEAR(other.margin, plain.margin, 3e-7);
    EXPECT_NEAR(other.sink_weight, 0, 1e-12);
  }
}

TEST(Reference, DoesNotDependOnEarlierRequests) {
  ReferenceTable used;
  for (const double d : {1.0, 7.5, 300.0}) softmax_reference(used, {d, {8}});
  softmax_reference(used, {64, {9}});
  ReferenceTable fresh;
  EXPECT_EQ(softmax_reference(used, {64, {8}}).entropy,
            softmax_reference(fresh, {64, {8}}).entropy);
}

TEST(Reference, PendingWorkIsNothingOnceDone) {
  ReferenceTable table;
  const ReferenceRequest request{64, {8}, 0.125};
  const double before = table.pending_work(request);
  EXPECT_GT(before, 1e5);
  EXPECT_LT(before, 1e7);
  softmax_reference(table, request);
  EXPECT_EQ(table.pending_work(request), 0);
  EXPECT_GT(table.pending_work({64, {8, 30}, 0.125}), 10 * before);
}

// Given the query's norm a cosine is a normal score over the norm of all d entries of a key; two
// keys' logits in three dimensions are 2/3 of the multiplier apart on average.
TEST(Reference, CosinesDoNotDependOnTheSpreadOfEntries) {
  ReferenceTable table;
  const ReferenceRequest request{3, {2}, -5, 0.01, ScoreLaw::kCosine};
  EXPECT_GT(table.pending_work(request), 0);
  const SoftmaxReference mean = softmax_reference(table, request);
  EXPECT_NEAR(mean.margin, 10.0 / 3, 1e-8);
  EXPECT_NEAR(mean.score_slope, -5 * mean.slope, 1e-12);
  EXPECT_EQ(mean.total_weight, 1);
  EXPECT_EQ(table.pending_work(request), 0);
  EXPECT_FALSE(saturated_reference(request, 0.9));
}

// E sigma(x) = 1/2 and E[p] summed over n keys is n / 2 for any law symmetric about 0.
TEST(Reference, UnbiasedSigmoidsAddUpToHalfTheKeys) {
  ReferenceTable table;
  for (const std::int64_t keys : {1, 8, 10000}) {
    const ReferenceRow row{keys, kNoSoftcap, kNoSink, 0.0};
    const auto n = static_cast<double>(keys);
    EXPECT_NEAR(softmax_reference(table, {16, row, 0.25}).total_weight, n / 2, 1e-6 * n);
    EXPECT_NEAR(softmax_reference(table, {16, row, 0.25, 1, ScoreLaw::kCosine}).total_weight, n / 2,
                1e-6 * n);
  }
}

TEST(Reference, TotalWeightIsWhatTheSinkLeaves) {
  ReferenceTable table;
  const SoftmaxReference mean = softmax_reference(table, {64, {8, kNoSoftcap, 0.5}, 0.125});
  EXPECT_NEAR(mean.total_weight + mean.sink_weight, 1, 1e-7);
  EXPECT_LT(mean.total_weight, 1 - 0.01);
}

// Softcapped normal entries at d = 2: the score is Laplace(0, 1), so that E tanh^2 is an integral
// in one dimension, by Simpson's rule here (error 1e-10).
TEST(Reference, MomentsOfSoftcappedLogitsFollowTheLaplaceLawAtTwoNumbers) {
  for (const double cap : {0.5, 3.0, 50.0}) {
    const int steps = 40000;
    const double reach = 40;
    double second = 0;
    double fourth = 0;
    for (int i = 0; i <= steps; ++i) {
      const double x = reach * i / steps;
      const double simpson = i == 0 || i == steps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
      const double weight = simpson * (reach / steps / 3) * std::exp(-x);
      const double logit = cap * std::tanh(2 * x / cap);
      second += weight * std::pow(logit, 2);
      fourth += weight * std::pow(logit, 4);
    }
    const LogitMoments moments = logit_moments_reference({2, {8, cap}, -2});
    EXPECT_NEAR(moments.sd / std::sqrt(second), 1, 1e-7) << cap;
    EXPECT_NEAR(moments.kurtosis.value() / (fourth / (second * second)), 1, 1e-7) << cap;
  }
}

// 3 + 6 / d of normal entries, 3 d / (d + 2) of cosines; a cap far above changes neither.
TEST(Reference, MomentsOfStraightLogitsHaveTheirClosedForms) {
  for (const double cap : {kNoSoftcap, 1e7}) {
    const LogitMoments normal = logit_moments_reference({16, {8, cap}, 0.5, 3});
    EXPECT_NEAR(normal.sd, 6, 1e-7);
    EXPECT_NEAR(normal.kurtosis.value(), 3 + 6.0 / 16, 1e-7);
    const LogitMoments cosine = logit_moments_reference({16, {8, cap}, 10, 3, ScoreLaw::kCosine});
    EXPECT_NEAR(cosine.sd, 2.5, 1e-7);
    EXPECT_NEAR(cosine.kurtosis.value(), 48.0 / 18, 1e-7);
  }
  EXPECT_FALSE(logit_moments_reference({16, {8}, 0}).kurtosis);
}

// Logits and cap a thousand times as large: the spread too, the kurtosis not. Logits of 10^18 are
// all at a cap of 10^9 or at minus it, and need no more panels than others.
TEST(Reference, MomentsUnderALargeCapAreThoseOfASmallOneEnlarged) {
  const LogitMoments small = logit_moments_reference({16, {8, 3}, 0.5});
  const LogitMoments large = logit_moments_reference({16, {8, 3000}, 500});
  EXPECT_NEAR(large.sd / (1000 * small.sd), 1, 1e-7);
  EXPECT_NEAR(large.kurtosis.value(), small.kurtosis.value(), 1e-7);
  const LogitMoments signs = logit_moments_reference({16, {8, 1e9}, 1e18});
  EXPECT_NEAR(signs.sd / 1e9, 1, 1e-7);
  EXPECT_NEAR(signs.kurtosis.value(), 1, 1e-7);
}

TEST(Reference, ManyKeysStayInOrder) {
  ReferenceTable table;
  const SoftmaxReference mean = softmax_reference(table, {64, {100000}, 0.125});
  EXPECT_GT(mean.slope, 0);
  EXPECT_LT(mean.slope, mean.top_weight);
  EXPECT_LT(mean.sum_p2, mean.top_weight);
  EXPECT_LT(mean.entropy, std::log(1e5));
  EXPECT_GE(1 / mean.sum_p2, 1);
}

// glibc picks exp, log and their like by the processor; their last bits differ between processors.
TEST(Reference, CallsNoLibraryFunctionWhoseBitsDependOnTheMachine) {
  const std::regex call(
      R"((std::|[^:\w])(exp|expm1|log|log1p|pow|sin|cos|tanh|asinh|erfc?|tgamma)\()");
  for (const char* const file :
       {"theory/key_grid.cpp", "theory/law_integrals.cpp", "theory/logit_law.cpp",
        "numerics/portable_math.cpp", "theory/quadrature.cpp", "theory/softmax_integrals.cpp",
        "theory/top_key_terms.cpp", "theory/exact_means.cpp"}) {
    std::ifstream source(std::string(ATTNSCALE_SOURCE_DIR) + "/src/" + file);
    ASSERT_TRUE(source) << file;
    for (std::string line; std::getline(source, line);) {
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_FALSE(std::regex_search(code, call)) << file << ": " << line;
    }
  }
}

// 99.58: from two independent quadratures in the project's notes.
TEST(ExactCrossing, EightKeysReachNineTenthsUnscaledAt9958) {
  ReferenceTable table;
  EXPECT_NEAR(exact_crossing(table, {{8}}, 0.9).value(), 99.58, 0.005);
}

TEST(ExactCrossing, IsWhereTheMeanTopWeightIsTheLevel) {
  ReferenceTable table;
  for (const double level : {0.5, 0.9, 0.99}) {
    for (const double power : {0.0, -0.3}) {
      const double d = exact_crossing(table, {{8}, 1, power}, level).value();
      const SoftmaxReference mean = softmax_reference(table, {d, {8}, std::pow(d, power)});
      EXPECT_NEAR(mean.top_weight, level, 1e-10) << level << " " << power;
    }
  }
}

TEST(ExactCrossing, IsFoundFromAboveToo) {
  ReferenceTable table;
  const double d = exact_crossing(table, {{8}, 100, -1}, 0.9).value();
  EXPECT_NEAR(softmax_reference(table, {d, {8}, 100 / d}).top_weight, 0.9, 1e-10);
  EXPECT_GT(softmax_reference(table, {d / 2, {8}, 200 / d}).top_weight, 0.9);
}

TEST(ExactCrossing, IsNothingWhereTheLevelIsNeverReached) {
  ReferenceTable table;
  EXPECT_FALSE(exact_crossing(table, {{8}, 1, -0.5}, 0.5));
  EXPECT_FALSE(exact_crossing(table, {{8}, 1, -1}, 0.5));
  EXPECT_FALSE(exact_crossing(table, {{2}}, 0.4));     // above it from the start
  EXPECT_FALSE(exact_crossing(table, {{8, 1}}, 0.9));  // a cap of 1 holds it below
}

}  // namespace
}  // namespace attnscale
