// What is measured of aligned keys, against a plain softmax of the same scores.
#include <gtest/gtest.h>

#include <cmath>

#include "support/drawn_cell.h"
#include "support/drawn_scores.h"
#include "support/plain_softmax.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

Experiment planted_signal(double alignment, std::int64_t aligned_keys, std::int64_t keys,
                          std::int64_t queries) {
  Experiment experiment = drawn_experiment("direct", 16, keys, queries);
  experiment.entries.front().alignment = alignment;
  experiment.entries.front().aligned_keys = aligned_keys;
  experiment.metrics = metric_rows({"aligned_top", "aligned_weight"});
  return experiment;
}

// The second number of keys takes several tiles, of which the first two hold aligned keys.
TEST(AlignedMetrics, AreThoseOfAPlainSoftmax) {
  for (const auto& [aligned, keys] : {std::pair{3, 8}, std::pair{600, 2000}}) {
    const Experiment experiment = planted_signal(0.2, aligned, keys, 20);
    const Cell cell = plan_of(experiment).cells.front();
    const auto values = measure_block(experiment, cell, 1, 0);
    const auto scores =
        draw_scores(*experiment.sampler, cell.draw, {1, cell.identity, 0}, cell.queries);
    for (std::size_t s = 0; s < experiment.scalings.size(); ++s) {
      const double multiplier = factor_of(experiment.scalings[s], 16, keys);
      for (std::size_t query = 0; query < 20; ++query) {
        std::vector<double> logits;
        for (int key = 0; key < keys; ++key) {
          logits.push_back(
              multiplier *
              scores[query * static_cast<std::size_t>(keys) + static_cast<std::size_t>(key)]);
        }
        const PlainSoftmax plain(logits);
        long double weight = 0;
        for (std::size_t key = 0; key < static_cast<std::size_t>(aligned); ++key) {
          weight += plain.p[key];
        }
        const bool is_aligned = plain.top < static_cast<std::size_t>(aligned);
        EXPECT_EQ(values->metrics[s][0][query], is_aligned ? 1 : 0);
        EXPECT_NEAR(values->metrics[s][1][query], static_cast<double>(weight),
                    static_cast<double>(weight) * plain.tolerance());
      }
    }
  }
}

// 4 standard errors: 6e-5 for each of 6 numbers.
TEST(AlignedMetrics, WithoutAlignmentAreTheShareOfTheKeys) {
  const auto rows = run_config(config_of(planted_signal(0, 3, 8, 20000)));
  for (const ResultRow& row : rows) {
    EXPECT_EQ(row.reference, 0.375);
    EXPECT_LT(std::abs(*row.z), 4) << row.key.scaling << " " << row.metric;
  }
}

TEST(AlignedMetrics, OfAllKeysAreOne) {
  for (const ResultRow& row : run_config(config_of(planted_signal(0.5, 8, 8, 100)))) {
    EXPECT_EQ(row.estimate, 1) << row.metric;
  }
}

TEST(AlignedMetrics, SayNothingExactOfAPlantedSignal) {
  const auto rows = run_config(config_of(planted_signal(0.5, 1, 8, 100)));
  for (const ResultRow& row : rows) {
    EXPECT_FALSE(row.reference);
    EXPECT_GT(*row.estimate, 0.125) << row.metric;
  }
}

// With d = 16 the score of an aligned key is |q|^2 rho + sqrt(1 - rho^2) |q| z, of the others
// |q| z: exact means of weights are those of independent keys with the spread sqrt(1 - rho^2).
TEST(AlignedKeys, AllOfThemHaveTheWeightsOfNarrowerScores) {
  Experiment experiment = drawn_experiment("vectors", 16, 8, 20000);
  experiment.entries.front().alignment = 0.6;
  experiment.metrics = metric_rows({"top_weight", "entropy", "margin", "slope"});
  Experiment narrower = experiment;
  narrower.entries.front().alignment = 0;
  narrower.entries.front().keys.sd = 0.8;
  const auto rows = run_config(config_of(experiment));
  const auto expected = run_config(config_of(narrower));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NEAR(*rows[i].reference, *expected[i].reference, 1e-12);
    EXPECT_LT(std::abs(*rows[i].z), 4) << rows[i].key.scaling << " " << rows[i].metric;
  }
}

}  // namespace
}  // namespace attnscale
