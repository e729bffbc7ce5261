// Logits of any size that a double holds have the error bars of ordinary ones: a factor that is a
// power of two multiplies every number and changes no digit.
#include <gtest/gtest.h>

#include <cmath>

#include "estimate/estimate.h"
#include "support/drawn_cell.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

Experiment experiment_of(const std::vector<double>& multipliers) {
  Experiment experiment = drawn_experiment("direct", 16, 4, 5000);  // five blocks to merge
  experiment.scalings.clear();
  const std::vector<std::string_view> names{"m"};
  const Formula multiple = parse_formula("m q.k", FormulaKind::kLogit, names);
  for (const double multiplier : multipliers) {
    experiment.scalings.push_back(
        make_scaling("m", multiple, {{"m", Formula(multiplier)}}, {}, multiplier));
  }
  experiment.metrics =
      metric_rows({"logit_mean", "logit_sd", "margin", "max_logit", "logit_kurtosis"});
  return experiment;
}

template <typename Row>
void expect_scaled(const Row& row, const Row& ordinary, double size) {
  SCOPED_TRACE(row.metric);
  EXPECT_EQ(row.estimate.value(), ordinary.estimate.value() * size);
  EXPECT_EQ(row.std_error.value(), ordinary.std_error.value() * size);
  EXPECT_EQ(row.ci_low.value(), ordinary.ci_low.value() * size);
  EXPECT_EQ(row.ci_high.value(), ordinary.ci_high.value() * size);
}

TEST(LogitSizes, ScaleEveryNumberOfALine) {
  for (const double size : {0x1p-990, 0x1p-600, 0x1p-360, 0x1p-130, 0x1p130, 0x1p600, 0x1p980}) {
    SCOPED_TRACE(size);
    const auto rows = run_config(config_of(experiment_of({1, size})));
    ASSERT_EQ(rows.size(), 10U);
    for (std::size_t m = 0; m < 5; ++m) {
      const bool is_pure = rows[m].metric == "logit_kurtosis";
      expect_scaled(rows[5 + m], rows[m], is_pure ? 1 : size);
      EXPECT_EQ(rows[5 + m].status, LineStatus::kOk);
      EXPECT_EQ(rows[5 + m].sd.value_or(0), rows[m].sd.value_or(0) * size);
    }
  }
}

TEST(LogitSizes, ScaleEveryContrast) {
  const auto contrasts_of = [](const Experiment& experiment) {
    const Plan plan = plan_of(experiment);
    return contrast_cell(plan, plan.cells[0], measure_cell(plan, plan.cells[0]),
                         ExactValues(ReferenceMode::kOff));
  };
  const auto ordinary = contrasts_of(experiment_of({1, 4}));
  for (const double size : {0x1p-990, 0x1p-360, 0x1p600, 0x1p980}) {
    SCOPED_TRACE(size);
    const auto contrasts = contrasts_of(experiment_of({size, 4 * size}));
    for (std::size_t m = 0; m < 4; ++m) expect_scaled(contrasts[m], ordinary[m], size);
  }
}

// A soft-cap far below the scores: logits are plus or minus the cap, whose spread is the cap.
TEST(LogitSizes, ScaleWithASoftCap) {
  Experiment experiment = experiment_of({1});
  experiment.scalings = {logit_scaling("tiny", "1e-290 tanh(q.k / 1e-290)")};
  const auto rows = run_config(config_of(experiment));
  EXPECT_NEAR(row_of(rows, "tiny", "logit_sd").estimate.value() / 1e-290, 1, 1e-3);
  EXPECT_LT(std::abs(row_of(rows, "tiny", "logit_mean").z.value()), 4);
}

}  // namespace
}  // namespace attnscale
