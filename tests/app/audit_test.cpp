// Whether an audit finds the mistake behind a spread. Expected spreads are multiplier * sqrt(d).
#include "app/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace attnscale {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AuditCommand everything_known(double measured_sd) {
  return {.d = 64,
          .measured_sd = measured_sd,
          .d_model = 512,
          .heads = 8,
          .padded_d = 80,
          .value_d = 48,
          .layers = 12};
}

TEST(Audit, FindsEachMistakeByTheSpreadItLeaves) {
  const struct {
    const char* name;
    double spread;
  } cases[] = {
      {"scaled once", 1},
      {"never scaled", 8},
      {"scaled twice", 0.125},
      {"root taken twice", std::sqrt(8.0)},
      {"multiplied instead", 64},
      {"root of the model's width", std::sqrt(64.0 / 512)},
      {"divided by the model's width", 8.0 / 512},
      {"root of the padded", std::sqrt(64.0 / 80)},
      {"root of the values'", std::sqrt(64.0 / 48)},
      {"divided by the layer", 1.0 / 12},
  };
  for (const auto& one : cases) {
    const Explanation best = explanations(everything_known(one.spread)).front();
    EXPECT_THAT(best.name, HasSubstr(one.name));
    EXPECT_NEAR(best.spread, one.spread, 1e-14 * one.spread);
    EXPECT_NEAR(*best.ratio, 1, 1e-14);
  }
}

TEST(Audit, RanksByTheRatioOfTheSpreads) {
  const auto ranked = explanations(everything_known(0.3));
  EXPECT_THAT(ranked.front().name, HasSubstr("root of the model's width"));
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    EXPECT_GE(std::abs(std::log(*ranked[i].ratio)), std::abs(std::log(*ranked[i - 1].ratio)));
    EXPECT_NEAR(*ranked[i].ratio * ranked[i].spread, 0.3, 1e-15);
  }
}

TEST(Audit, SaysTheRightScalingFirstWhereSpreadsAreEqual) {
  // At d = 1 no division shows.
  EXPECT_THAT(explanations({.d = 1, .measured_sd = 1}).front().name, HasSubstr("scaled once"));
}

TEST(Audit, LeavesOutWhatItWasNotToldTheSizeOf) {
  for (const Explanation& one : explanations({.d = 64})) {
    EXPECT_THAT(one.formula, Not(HasSubstr("_")));
    EXPECT_FALSE(one.ratio);
  }
  EXPECT_EQ(explanations(everything_known(1)).size(), explanations({.d = 64}).size() + 6);
}

TEST(Audit, SaysTwoMistakesThatNoSpreadTellsApart) {
  const std::string text = audit_text({.d = 64, .measured_sd = 0.125}, 100);
  EXPECT_THAT(text, HasSubstr("A measured spread of 0.125 fits: scaled twice"));
  EXPECT_THAT(text, HasSubstr("; or: divided by d"));
  EXPECT_THAT(text, HasSubstr("too close to distinguish by one measurement"));
}

TEST(Audit, SaysWhereNothingFits) {
  const std::string text = audit_text({.d = 64, .measured_sd = 1.5}, 100);
  EXPECT_THAT(text, HasSubstr("None of these leaves a spread within 5 % of 1.5"));
  EXPECT_THAT(text, HasSubstr("multiply to 1.5 instead of 1"));
}

// The lesson: GPT-2 small, Llama 2 7B, and the transformer paper of 2017.
TEST(Audit, SaysWhichDAModelDividesBy) {
  EXPECT_THAT(audit_text({.d = 64, .d_model = 768, .heads = 12}, 100),
              HasSubstr("The head size 64 (768 over 12 heads), not the model's width 768: divide "
                        "q.k by sqrt(64) = 8."));
  EXPECT_THAT(audit_text({.d = 128, .d_model = 4096, .heads = 32}, 100),
              HasSubstr("128 (4096 over 32 heads), not the model's width 4096: divide q.k by "
                        "sqrt(128) = 11.31."));
  EXPECT_THAT(audit_text({.d = 64, .d_model = 512, .heads = 8}, 100),
              HasSubstr("64 (512 over 8 heads), not the model's width 512: divide q.k by sqrt(64) "
                        "= 8."));
}

}  // namespace
}  // namespace attnscale
