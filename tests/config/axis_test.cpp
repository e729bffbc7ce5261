// Numbers that may be lists or ranges: what they come to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/read_experiment.h"

namespace attnscale {
namespace {

using ::testing::ElementsAre;

TEST(Axis, TakesANumberWithoutFractionForAnInteger) {
  const Experiment experiment = read_one(R"({"d": 4.0, "queries": 1e6})");
  EXPECT_THAT(experiment.d, ElementsAre(4));
  EXPECT_EQ(experiment.queries, 1'000'000);
}

TEST(Axis, KeepsTheOrderOfAList) {
  EXPECT_THAT(read_one(R"({"d": [64, 4, 16]})").d, ElementsAre(64, 4, 16));
}

TEST(Axis, ExpandsRanges) {
  EXPECT_THAT(read_one(R"({"d": {"from": 4, "to": 1024, "times": 4}})").d,
              ElementsAre(4, 16, 64, 256, 1024));
  EXPECT_THAT(read_one(R"({"d": {"from": 2, "to": 10, "step": 2}})").d,
              ElementsAre(2, 4, 6, 8, 10));
  EXPECT_THAT(read_one(R"({"d": {"from": 2, "to": 9, "step": 3}})").d, ElementsAre(2, 5, 8));
  EXPECT_THAT(read_one(R"({"d": {"from": 7, "to": 7, "times": 2}})").d, ElementsAre(7));
}

TEST(Axis, ReachesTheEndOfARangeDespiteRounding) {
  // 0.1 has no exact double, and (1 - 0) / 0.1 must still count ten steps.
  const Experiment experiment = read_one(
      R"({"d": 4, "scalings": [{"name": "x", "logit": "m q.k", "m": {"from": 0, "to": 1, "step": 0.1}}]})");
  ASSERT_EQ(experiment.scalings.size(), 11U);
  EXPECT_EQ(*experiment.scalings.back().value, 1.0);
}

// The doubles nearest to the decimals; -1 + 6 * 0.1 is -0.3999999999999999 and 3 * 0.1 is
// 0.30000000000000004.
TEST(Axis, StepsThroughTheDecimalsThatAreMeant) {
  const auto powers = [](const std::string& range) {
    std::vector<double> values;
    for (const Scaling& scaling :
         read_one(R"({"d": 4, "scalings": [{"name": "x", "logit": "q.k * d^p", "p": )" + range +
                  "}]}")
             .scalings) {
      values.push_back(*scaling.value);
    }
    return values;
  };
  const std::vector<double> falling{0, -0.1, -0.2, -0.3, -0.4, -0.5, -0.6, -0.7, -0.8, -0.9, -1};
  EXPECT_EQ(powers(R"({"from": 0, "to": -1, "step": -0.1})"), falling);
  EXPECT_EQ(powers(R"({"from": -1, "to": 0, "step": 0.1})"),
            std::vector<double>(falling.rbegin(), falling.rend()));
  EXPECT_EQ(powers(R"({"from": -0.3, "to": 0.3, "step": 0.1})"),
            (std::vector<double>{-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3}));
  EXPECT_EQ(powers(R"({"from": 0.12345678901234568, "to": 1, "step": 2})"),
            std::vector<double>{0.12345678901234568});
}

}  // namespace
}  // namespace attnscale
