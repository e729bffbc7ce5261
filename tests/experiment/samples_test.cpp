#include "experiment/samples.h"

#include <gtest/gtest.h>

#include "support/drawn_cell.h"

namespace attnscale {
namespace {

std::vector<SampleRow> samples_of(const Experiment& experiment) {
  const Plan plan = plan_of(experiment, 8);
  return *sample_cell(plan, plan.cells.front());
}

TEST(SampleCell, ListsTheFirstQueriesScalingByScaling) {
  Experiment experiment = drawn_experiment("direct", 4, 8, 3000);
  experiment.metrics = metric_rows({"logit_sd", "entropy", "top_weight"});
  experiment.samples = 1030;  // across blocks
  const Plan plan = plan_of(experiment, 8);
  const Cell& cell = plan.cells.front();
  const auto rows = *sample_cell(plan, cell);
  ASSERT_EQ(rows.size(), 3U * 1030);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t scaling = i / 1030;
    const std::size_t query = i % 1030;
    EXPECT_EQ(rows[i].key, key_of(plan, cell, experiment.scalings[scaling]));
    EXPECT_EQ(rows[i].query, static_cast<std::int64_t>(query));
    ASSERT_EQ(rows[i].values.size(), 2U);  // the spread is of all logits, not of a query
    EXPECT_EQ(rows[i].values[0].first, "entropy");
    EXPECT_EQ(rows[i].values[1].first, "top_weight");
  }
  for (const std::int64_t query : {0, 1023, 1024, 1029}) {
    const auto values = measure_block(experiment, cell, 8, query / 1024);
    EXPECT_EQ(rows[static_cast<std::size_t>(1030 + query)].values[1].second,
              values->metrics[1][1][static_cast<std::size_t>(query % 1024)]);
  }
}

TEST(SampleCell, HasNoMoreThanTheCell) {
  Experiment experiment = drawn_experiment("direct", 4, 8, 5);
  experiment.samples = 100;
  EXPECT_EQ(samples_of(experiment).size(), 15U);
  experiment.samples = 0;
  EXPECT_TRUE(samples_of(experiment).empty());
}

TEST(SampleCell, MeanOfTheSamplesIsTheEstimate) {
  Experiment experiment = drawn_experiment("direct", 4, 8, 50);
  experiment.samples = 50;
  double sum = 0;
  for (const SampleRow& row : samples_of(experiment)) {
    if (row.key.scaling == "div_d") sum += row.values[0].second.value();
  }
  const auto rows = run_config(config_of(experiment, 8));
  EXPECT_NEAR(*row_of(rows, "div_d", "top_weight").estimate, sum / 50, 1e-14);
}

TEST(SampleCell, KeepsThePlaceOfAValueThatDoesNotExist) {
  Experiment experiment = drawn_experiment("direct", 4, 1, 5);
  experiment.metrics = metric_rows({"margin", "max_logit"});  // one key has no next
  experiment.samples = 5;
  for (const SampleRow& row : samples_of(experiment)) {
    ASSERT_EQ(row.values.size(), 2U);
    EXPECT_EQ(row.values[0].first, "margin");
    EXPECT_EQ(row.values[0].second, std::nullopt);
    EXPECT_TRUE(row.values[1].second.has_value());
  }
}

}  // namespace
}  // namespace attnscale
