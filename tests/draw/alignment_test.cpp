// Keys that are correlated with their query: what is drawn, by the sampler that draws every entry
// as the definition says and by those that do not. Seeds are fixed.
#include "draw/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/drawn_cell.h"
#include "support/drawn_scores.h"
#include "support/kolmogorov_smirnov.h"

namespace attnscale {
namespace {

using namespace testing_statistics;

Entries aligned_entries(double alignment, std::optional<std::int64_t> aligned_keys = {}) {
  Entries entries = normal_entries();
  entries.alignment = alignment;
  entries.aligned_keys = aligned_keys;
  return entries;
}

TEST(AlignedScores, HaveTheMomentsOfCorrelatedNormalNumbers) {
  const ScoreMoments moments = score_moments(aligned_entries(0.5), 16, 3);
  EXPECT_EQ(moments.mean, 8);
  EXPECT_DOUBLE_EQ(moments.sd, std::sqrt(16 * 1.25));
  // Cumulants of x y: (n - 1)! / 2 ((1 + rho)^n + (-1)^n (1 - rho)^n).
  const double fourth = 3 * (std::pow(1.5, 4) + std::pow(0.5, 4));
  EXPECT_DOUBLE_EQ(moments.kurtosis, 3 + fourth / (16 * 1.25 * 1.25));
}

TEST(AlignedScores, OfSomeKeysAreMixedWithTheOthers) {
  // One key of four at mean 8: variance of the mixture 16 + 16 * 0.25 / 4 + 8^2 * (1/4) (3/4).
  const ScoreMoments moments = score_moments(aligned_entries(0.5, 1), 16, 4);
  EXPECT_EQ(moments.mean, 2);
  EXPECT_DOUBLE_EQ(moments.sd, std::sqrt(16 + 1 + 12));
  EXPECT_TRUE(std::isnan(moments.kurtosis));
}

TEST(AlignedScores, OfNoAlignmentAreThoseOfIndependentKeys) {
  const Law heavy{find_law("student_t"), {3}, 0, 1};
  const Entries entries{"t", {}, heavy, heavy, 0, 2};
  EXPECT_EQ(score_moments(entries, 9, 4).sd, 3);
  EXPECT_EQ(score_moments(entries, 9, 4).mean, 0);
}

class AlignedScoresOf : public ::testing::TestWithParam<std::string> {};

// Mean, spread and kurtosis of the scores within 4 standard errors: 6e-5 each, some 60 numbers.
TEST_P(AlignedScoresOf, HaveTheirExactMoments) {
  const Law wide{find_law("normal"), {}, 0, 2};
  const Law shifted{find_law("normal"), {}, 0.5, 2};
  const Law uniform{find_law("uniform"), {}, -0.25, 1};
  std::vector<Entries> all;
  for (const double alignment : {0.3, -0.8, 1.0}) {
    all.push_back({"normal", {}, wide, wide, alignment, {}});
    all.push_back({"some", {}, wide, wide, alignment, 3});
    if (GetParam() == "direct") continue;
    all.push_back({"shifted", {}, shifted, uniform, alignment, {}});
    all.push_back({"turned", {}, uniform, shifted, alignment, 5});
  }
  for (const Entries& entries : all) {
    SCOPED_TRACE(entries.name + " " + std::to_string(entries.alignment));
    Experiment experiment = drawn_experiment(GetParam(), 6, 8, 20000);
    experiment.entries = {entries};
    experiment.scalings.resize(1);
    experiment.metrics = metric_rows({"logit_mean", "logit_sd", "logit_kurtosis"});
    for (const ResultRow& row : run_config(config_of(experiment))) {
      const bool known = row.metric != "logit_kurtosis" || entries.name == "normal";
      ASSERT_EQ(row.reference.has_value(), known) << row.metric;
      EXPECT_LT(std::abs(row.z.value_or(0)), 4) << row.metric;
    }
  }
}

TEST_P(AlignedScoresOf, AreThoseOfTheFirstKeys) {
  // Scores of aligned keys have the mean d rho = 12, the others 0. 5 standard errors: 6e-7 each.
  constexpr std::int64_t kQueries = 1024;
  constexpr std::int64_t kKeys = 11;
  const Draw draw{aligned_entries(0.75, 6), 16, kKeys};
  const auto scores = draw_scores(*find_sampler(GetParam()), draw, {5, 6, 7}, kQueries);
  for (std::int64_t key = 0; key < kKeys; ++key) {
    double sum = 0;
    for (std::int64_t query = 0; query < kQueries; ++query) {
      sum += scores[static_cast<std::size_t>(query * kKeys + key)];
    }
    const double error = std::sqrt(16 * (key < 6 ? 1 + 0.75 * 0.75 : 1) / kQueries);
    EXPECT_NEAR(sum / kQueries, key < 6 ? 12 : 0, 5 * error) << "key " << key;
  }
}

TEST_P(AlignedScoresOf, CrossTheBordersOfTilesUnnoticed) {
  // One query at 5000 keys takes several tiles: alignment ends within one of them.
  constexpr std::int64_t kKeys = 5000;
  constexpr std::int64_t kAligned = 4999;
  const Draw draw{aligned_entries(1, kAligned), 4, kKeys};
  const auto scores = draw_scores(*find_sampler(GetParam()), draw, {5, 6, 7}, 2);
  for (std::size_t query = 0; query < 2; ++query) {
    // Perfectly aligned keys are the query itself: their scores are |q|^2.
    const auto of_query = std::span(scores).subspan(query * kKeys, kKeys);
    EXPECT_GT(of_query[0], 0);
    for (std::size_t key = 0; key < kAligned; ++key) {
      ASSERT_NEAR(of_query[key], of_query[0], 1e-14 * of_query[0]) << "key " << key;
    }
    EXPECT_GT(std::abs(of_query[kAligned] - of_query[0]), 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, AlignedScoresOf, ::testing::Values("vectors", "direct", "boost"),
                         [](const auto& name) { return std::string(name.param); });

// One key per query, so that all scores are independent. 1e-6 for each pair of samplers.
TEST(AlignedScores, AreOfOneLawWhateverTheSampler) {
  const auto scores_of = [](std::string_view sampler) {
    std::vector<double> scores;
    for (std::uint64_t block = 0; block < 40; ++block) {
      const auto more = draw_scores(*find_sampler(sampler), {aligned_entries(-0.6), 3, 1},
                                    {8, hash_text(sampler), block}, 1024);
      scores.insert(scores.end(), more.begin(), more.end());
    }
    return scores;
  };
  const auto boost = scores_of("boost");
  EXPECT_LT(kolmogorov_smirnov(boost, scores_of("vectors")), kOneInAMillion);
  EXPECT_LT(kolmogorov_smirnov(boost, scores_of("direct")), kOneInAMillion);
}

TEST(IdentityText, NamesTheAlignmentOnlyWhereThereIsOne) {
  const Entries plain = normal_entries();
  EXPECT_EQ(identity_text(plain), "queries=normal(0p+0,1p+0);keys=normal(0p+0,1p+0)");
  // Without alignment it does not matter how many keys are aligned.
  EXPECT_EQ(identity_text(aligned_entries(0, 3)), identity_text(plain));
  EXPECT_EQ(identity_text(aligned_entries(0.5)), identity_text(plain) + ";alignment=1p-1");
  EXPECT_EQ(identity_text(aligned_entries(-0.5, 12)),
            identity_text(plain) + ";alignment=-1p-1;aligned_keys=12");
}

}  // namespace
}  // namespace attnscale
