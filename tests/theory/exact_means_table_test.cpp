#include "theory/exact_means_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "theory/law_integrals.h"

namespace attnscale {
namespace {

using enum ExactMean;

double power_of_d(const std::string& scaling) {
  return scaling == "none" ? 0 : scaling == "div_sqrt_d" ? -0.5 : -1;
}

// The file's 8 digits are rounded to 5e-9.
TEST(ExactMeansTable, EqualsTheReferenceFileOfNormalEntries) {
  std::ifstream file(std::string(ATTNSCALE_SOURCE_DIR) +
                     "/tests/reference_values/normal_entries.json");
  const auto entries = nlohmann::json::parse(file);
  ASSERT_EQ(entries.size(), 21U);
  ExactMeansTable table;
  for (const auto& entry : entries) {
    SCOPED_TRACE(entry.dump());
    const double d = entry["d"].get<double>();
    const double power = power_of_d(entry["scaling"].get<std::string>());
    const ExactMeans mean = exact_means(table, {d, {entry["keys"].get<int>()}, std::pow(d, power)});
    EXPECT_NEAR(mean[kTopWeight], entry["top_weight"].get<double>(), kExactError + 5e-9);
    EXPECT_NEAR(mean[kSlope], entry["slope"].get<double>(), kExactError + 5e-9);
    EXPECT_NEAR(mean[kSumP2], entry["sum_p2"].get<double>(), kExactError + 5e-9);
    EXPECT_NEAR(mean[kEntropy], entry["entropy"].get<double>(), kExactError + 5e-9);
  }
}

void expect_table(const ExactMeans& found, const ExactMeans& exact, double spread) {
  for (const ExactMean mean : ExactMeansTable::kTabulated) {
    double expected = exact[mean];
    if (mean == kScoreSlope) expected = spread > 0 ? expected / spread : exact[kSlope];
    EXPECT_NEAR(found[mean], expected, 1e-8 * std::max(1.0, std::abs(expected)))
        << static_cast<int>(mean);
  }
}

// Against the integrals themselves between the points of interpolation; 1e-8 leaves the means three
// times better than promised.
TEST(ExactMeansTable, FollowsTheIntegrals) {
  for (const std::int64_t keys : {2, 8, 1024, 1 << 20}) {
    ExactMeansTable table;
    const SoftmaxIntegrals integrals(keys);
    for (double spread = 0; spread < 1e4; spread = 1.9 * spread + 0.013) {
      SCOPED_TRACE(testing::Message() << keys << " keys, spread " << spread);
      ExactMeans exact = integrals.linear(spread);
      exact[kTotalWeight] = 1;
      expect_table(table.at_spread({keys}, spread), exact, spread);
    }
  }
}

TEST(ExactMeansTable, FollowsSoftcapsAndSinks) {
  for (const WeighingCase& weighing :
       {WeighingCase{8, 30}, WeighingCase{8, kNoSoftcap, 10}, WeighingCase{128, 5, 3},
        WeighingCase{1000, kNoSoftcap, 30}}) {
    ExactMeansTable table;
    for (double spread = 0.2; spread < 100; spread *= 5.3) {
      SCOPED_TRACE(testing::Message() << weighing.keys << " " << weighing.softcap << " "
                                      << weighing.sink << " " << spread);
      const ExactMeans exact =
          softmax_means(normal_law(spread, weighing.softcap), weighing.keys, weighing.sink);
      expect_table(table.at_spread(weighing, spread), exact, spread);
    }
  }
}

TEST(ExactMeansTable, DoesNoMoreWorkThanItMay) {
  const ExactRequest request{8, {1000, kNoSoftcap, 30}, 3};
  ExactMeansTable unbounded(1e12);
  const double expected = unbounded.pending_work(request);
  exact_means(unbounded, request);
  const double work = 1e12 - unbounded.work_left();
  EXPECT_GT(work, 2 * expected) << "sharp means need panels that no one expects";
  ExactMeansTable enough(work);
  EXPECT_NO_THROW(exact_means(enough, request));
  ExactMeansTable bounded(0.5 * work);
  EXPECT_THROW(exact_means(bounded, request), OutOfWork);
  EXPECT_GE(bounded.work_left(), 0);
}

TEST(ExactMeansTable, ScoreSlopeIsTheSlopeTimesTheMultiplier) {
  ExactMeansTable table;
  for (const double multiplier : {-2.0, 0.125, 3.0}) {
    const ExactMeans mean = exact_means(table, {16, {8}, multiplier});
    EXPECT_NEAR(mean[kScoreSlope], multiplier * mean[kSlope], 1e-12);
  }
}

// Only the product of multiplier and spreads reaches the logits, and scores are symmetric.
TEST(ExactMeansTable, EntriesOfAnotherSpreadActAsAMultiplier) {
  ExactMeansTable table;
  const ExactMeans a = exact_means(table, {16, {8}, -0.5, 0.5});
  const ExactMeans b = exact_means(table, {16, {8}, 0.25, 1});
  EXPECT_EQ(a[kTopWeight], b[kTopWeight]);
  EXPECT_EQ(a[kMargin], b[kMargin]);
  EXPECT_NEAR(a[kScoreSlope], -2 * b[kScoreSlope], 1e-15);
}

TEST(ExactMeansTable, ZeroMultiplierGivesUniformWeights) {
  ExactMeansTable table;
  const ExactMeans mean = exact_means(table, {16, {5}, 0});
  EXPECT_NEAR(mean[kTopWeight], 0.2, 1e-8);
  EXPECT_NEAR(mean[kEntropy], std::log(5.0), 1e-8);
  EXPECT_EQ(mean[kMargin], 0);
  EXPECT_EQ(mean[kScoreSlope], 0);
}

// A cap far above all logits changes nothing; a sink far below takes nothing.
TEST(ExactMeansTable, LooseSoftcapAndDeepSinkChangeNothing) {
  ExactMeansTable table;
  const ExactMeans plain = exact_means(table, {16, {8}, 0.5});
  for (const WeighingCase& weighing : {WeighingCase{8, 1e7}, WeighingCase{8, kNoSoftcap, -200}}) {
    const ExactMeans other = exact_means(table, {16, weighing, 0.5});
    EXPECT_NEAR(other[kTopWeight], plain[kTopWeight], 2 * kExactError);
    EXPECT_NEAR(other[kSlope], plain[kSlope], 2 * kExactError);
    EXPECT_NEAR(other[kScoreSlope], plain[kScoreSlope], 2 * kExactError);
    EXPECT_NEAR(other[kSumP2], plain[kSumP2], 2 * kExactError);
    EXPECT_NEAR(other[kEntropy], plain[kEntropy], 2 * kExactError);
    EXPECT_NEAR(other[kMargin], plain[kMargin], 2 * kExactError);
    EXPECT_NEAR(other[kSinkWeight], 0, 1e-12);
  }
}

TEST(ExactMeansTable, DoesNotDependOnEarlierRequests) {
  ExactMeansTable used;
  for (const double d : {1.0, 7.5, 300.0}) exact_means(used, {d, {8}});
  exact_means(used, {64, {9}});
  ExactMeansTable fresh;
  EXPECT_EQ(exact_means(used, {64, {8}})[kEntropy], exact_means(fresh, {64, {8}})[kEntropy]);
}

TEST(ExactMeansTable, PendingWorkIsNothingOnceDone) {
  ExactMeansTable table;
  const ExactRequest request{64, {8}, 0.125};
  const double before = table.pending_work(request);
  EXPECT_GT(before, 1e5);
  EXPECT_LT(before, 1e7);
  exact_means(table, request);
  EXPECT_EQ(table.pending_work(request), 0);
  EXPECT_GT(table.pending_work({64, {8, 30}, 0.125}), 10 * before);
}

// Given the query's norm a cosine is a normal score over the norm of all d entries of a key; two
// keys' logits in three dimensions are 2/3 of the multiplier apart on average.
TEST(ExactMeansTable, CosinesDoNotDependOnTheSpreadOfEntries) {
  ExactMeansTable table;
  const ExactRequest request{3, {2}, -5, 0.01, ScoreLaw::kCosine};
  EXPECT_GT(table.pending_work(request), 0);
  const ExactMeans mean = exact_means(table, request);
  EXPECT_NEAR(mean[kMargin], 10.0 / 3, 1e-8);
  EXPECT_NEAR(mean[kScoreSlope], -5 * mean[kSlope], 1e-12);
  EXPECT_EQ(mean[kTotalWeight], 1);
  EXPECT_EQ(table.pending_work(request), 0);
}

// E sigma(x) = 1/2 and E[p] summed over n keys is n / 2 for any law symmetric about 0.
TEST(ExactMeansTable, UnbiasedSigmoidsAddUpToHalfTheKeys) {
  ExactMeansTable table;
  for (const std::int64_t keys : {1, 8, 10000}) {
    const WeighingCase weighing{keys, kNoSoftcap, kNoSink, 0.0};
    const auto n = static_cast<double>(keys);
    EXPECT_NEAR(exact_means(table, {16, weighing, 0.25})[kTotalWeight], n / 2, kExactError * n);
    EXPECT_NEAR(exact_means(table, {16, weighing, 0.25, 1, ScoreLaw::kCosine})[kTotalWeight], n / 2,
                kExactError * n);
  }
}

TEST(ExactMeansTable, TotalWeightIsWhatTheSinkLeaves) {
  ExactMeansTable table;
  const ExactMeans mean = exact_means(table, {64, {8, kNoSoftcap, 0.5}, 0.125});
  EXPECT_NEAR(mean[kTotalWeight] + mean[kSinkWeight], 1, 1e-12);
  EXPECT_LT(mean[kTotalWeight], 1 - 0.01);
}

TEST(ExactMeansTable, ManyKeysStayInOrder) {
  ExactMeansTable table;
  const ExactMeans mean = exact_means(table, {64, {100000}, 0.125});
  EXPECT_GT(mean[kSlope], 0);
  EXPECT_LT(mean[kSlope], mean[kTopWeight]);
  EXPECT_LT(mean[kSumP2], mean[kTopWeight]);
  EXPECT_LT(mean[kEntropy], std::log(1e5));
  EXPECT_GE(1 / mean[kSumP2], 1);
}

// glibc picks exp, log and their like by the processor; their last bits differ between processors.
TEST(ExactMeansTable, CallsNoLibraryFunctionWhoseBitsDependOnTheMachine) {
  const std::regex call(
      R"((std::|[^:\w])(exp|expm1|log|log1p|pow|sin|cos|tanh|asinh|erfc?|tgamma)\()");
  for (const char* const file :
       {"numerics/portable_math.cpp", "theory/exact_crossing.cpp", "theory/exact_logit_moments.cpp",
        "theory/exact_means_table.cpp", "theory/exact_pair.cpp", "theory/key_grid.cpp",
        "theory/law_integrals.cpp", "theory/logit_law.cpp", "numerics/quadrature.cpp",
        "theory/pair_means.cpp", "theory/softmax_integrals.cpp", "theory/top_key_terms.cpp"}) {
    std::ifstream source(std::string(ATTNSCALE_SOURCE_DIR) + "/src/" + file);
    ASSERT_TRUE(source) << file;
    for (std::string line; std::getline(source, line);) {
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_FALSE(std::regex_search(code, call)) << file << ": " << line;
    }
  }
}

}  // namespace
}  // namespace attnscale
