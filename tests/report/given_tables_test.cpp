#include "report/given_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscale {
namespace {

using testing::ElementsAre;

std::vector<BaselineRow> two_rows() {
  BaselineRow wide;
  wide.key = {"run", 1, "layer", "", {}, 64, 128, "none", {}};
  wide.metric = "logit_sd";
  wide.queries = 1536;
  wide.estimate = 24.5;
  wide.normal.queries = 8192;
  wide.normal.estimate = 8;
  wide.normal.std_error = 0.01;
  wide.normal.ratio = 3.0625;
  BaselineRow mean = wide;
  mean.key.experiment = "other";
  mean.key.scaling_value = 0.05;
  mean.metric = "logit_mean";
  mean.normal.estimate = 0;
  mean.normal.std_error.reset();
  mean.normal.ratio.reset();
  return {wide, mean};
}

TEST(BaselineTables, ShowGivenBesideRandomExperimentByExperiment) {
  const std::vector<ScreenTable> tables = baseline_tables(two_rows());
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_THAT(tables[0].caption, testing::HasSubstr("layer: 1,536 given queries"));
  EXPECT_THAT(tables[0].caption, testing::HasSubstr("8,192 random ones"));
  EXPECT_THAT(tables[0].rows,
              ElementsAre(ElementsAre("logit_sd", "none", "24.5", "8.000 +- 0.010", "3.062")));
  EXPECT_THAT(tables[1].rows,
              ElementsAre(ElementsAre("logit_mean", "none 0.05", "24.5", "0", "-")));
}

}  // namespace
}  // namespace attnscale
