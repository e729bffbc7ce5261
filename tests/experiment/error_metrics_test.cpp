// Metrics that compare a query in a narrow precision with the same one in float64.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "experiment/metric.h"

namespace attnscale {
namespace {

// Logits 1, 1.0625 and 0 in E5M2 are 1, 1 and 0; e^-1 = 0.36788 is 0.375, and 1 / 2.375 = 0.42105
// is 0.4375, 0.375 / 2.375 = 0.15789 is 0.15625.
TEST(ErrorMetrics, CompareRoundedWeightsWithThoseInFloat64) {
  const std::vector<double> logits{1, 1.0625, 0};
  const std::vector<double> rounded{1, 1, 0};
  QueryWeights exact;
  exact.weigh(logits, {}, 0);
  QueryWeights narrow;
  narrow.weigh(rounded, {.precision = Precision::kFloat8E5M2}, 0);
  ASSERT_EQ(narrow.weights()[1], 0.4375);
  ASSERT_EQ(narrow.weights()[2], 0.15625);
  QueryContext context{1, 0.99};
  context.exact = &exact;
  const auto value = [&](std::string_view name) {
    return measure_weights(*find_metric(name), narrow, context);
  };
  const double total = std::exp(1) + std::exp(1.0625) + 1;
  const std::array<double, 3> p{std::exp(1) / total, std::exp(1.0625) / total, 1 / total};
  const std::array<double, 3> errors{0.4375 - p[0], p[1] - 0.4375, 0.15625 - p[2]};
  EXPECT_NEAR(value("weight_error"),
              (std::abs(errors[0]) + std::abs(errors[1]) + std::abs(errors[2])) / 2, 1e-15);
  EXPECT_NEAR(value("largest_weight_error"), std::abs(errors[0]), 1e-15);
  EXPECT_NEAR(value("output_error"),
              std::sqrt((errors[0] * errors[0] + errors[1] * errors[1] + errors[2] * errors[2]) /
                        (p[0] * p[0] + p[1] * p[1] + p[2] * p[2])),
              1e-15);
  EXPECT_EQ(value("wrong_top"), 1);  // a tie, of which the first is not the top
  double entropy = 2 * 0.4375 * std::log(0.4375) + 0.15625 * std::log(0.15625);
  for (const double weight : p) entropy -= weight * std::log(weight);
  EXPECT_NEAR(value("entropy_error"), std::abs(entropy), 1e-15);
  EXPECT_DOUBLE_EQ(value("logit_error"), 0.0625 / std::sqrt(3));
}

}  // namespace
}  // namespace attnscale
