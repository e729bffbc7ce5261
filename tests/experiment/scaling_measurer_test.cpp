#include "experiment/scaling_measurer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "estimate/reference.h"
#include "formula/derivative.h"
#include "support/drawn_cell.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

constexpr std::uint64_t kSeed = 5;

// Scores and squared norms of one query after the other.
struct DrawnQueries {
  std::vector<std::vector<double>> scores;
  std::vector<double> squared_query_norms;
  std::vector<std::vector<double>> squared_key_norms;
};

DrawnQueries draw(const Experiment& experiment, const Cell& cell) {
  const auto queries = static_cast<std::size_t>(cell.queries);
  DrawnQueries drawn{std::vector<std::vector<double>>(queries), std::vector<double>(queries),
                     std::vector<std::vector<double>>(queries)};
  Draw asked = cell.draw;
  asked.norms = NormRequest::kSquaredNorms;
  experiment.sampler->draw_block(
      asked, {kSeed, cell.identity, 0}, cell.queries, [&](const ScoreTile& tile) {
        const std::size_t stride = tile.squared_query_norms.size();
        for (std::size_t i = 0; i < static_cast<std::size_t>(tile.queries); ++i) {
          const std::size_t query = static_cast<std::size_t>(tile.first_query) + i;
          drawn.squared_query_norms[query] = tile.squared_query_norms[i];
          for (std::size_t place = i; place < tile.scores.size(); place += stride) {
            drawn.scores[query].push_back(tile.scores[place]);
            drawn.squared_key_norms[query].push_back(tile.squared_key_norms[place]);
          }
        }
        return true;
      });
  return drawn;
}

std::vector<Scaling> scalings_of_every_kind() {
  std::vector<Scaling> scalings;
  for (const PresetRow& row : preset_table()) {
    std::vector<double> numbers;
    for (const PresetParameter& parameter : row.parameters()) {
      numbers.push_back(std::max(parameter.least, 0.0) + 2);
    }
    // Only squared norms of the head are drawn here.
    Scaling scaling = scaling_of(row, numbers);
    const WiderVectors wider = vectors_of(scaling, 16);
    if (norms_for(scaling) == NormRequest::kSums || wider.query != 16 || wider.key != 16) continue;
    scalings.push_back(std::move(scaling));
  }
  for (const Precision precision :
       {Precision::kFloat32, Precision::kBfloat16, Precision::kFloat16}) {
    for (const auto kind :
         {NormaliserKind::kSoftmax, NormaliserKind::kSink, NormaliserKind::kSigmoid}) {
      scalings.push_back(logit_scaling("narrow_" + std::to_string(scalings.size()),
                                       "30 tanh(rms(q).rms(k) / 30)",
                                       {.normaliser = {kind, 0.5}, .precision = precision}));
    }
  }
  return scalings;
}

Experiment experiment_of(std::int64_t keys, std::vector<Scaling> scalings) {
  Experiment experiment = drawn_experiment("direct", 16, keys, 20);
  experiment.entries.front().aligned_keys = 1;
  experiment.entries.front().alignment = 0.3;
  experiment.scalings = std::move(scalings);
  experiment.metrics.clear();
  for (const MetricRow& row : metric_table()) experiment.metrics.push_back(&row);
  return experiment;
}

// Every metric under every scaling equals its definition by the weights of logits that are scaled
// query by query; 5 keys come in one tile, 1,100 in several.
TEST(ScalingMeasurer, EqualsWhatEachQueryShowsByItself) {
  for (const std::int64_t keys : {5, 1100}) {
    const Experiment experiment = experiment_of(keys, scalings_of_every_kind());
    const Cell cell = plan_of(experiment, kSeed).cells.front();
    const DrawnQueries drawn = draw(experiment, cell);
    const auto values = measure_block(experiment, cell, kSeed, 0);
    const auto metrics = per_query_metrics(experiment);
    for (std::size_t s = 0; s < experiment.scalings.size(); ++s) {
      const Scaling& scaling = experiment.scalings[s];
      const FormulaSize size{16, static_cast<double>(keys), static_cast<double>(keys - 1)};
      const FormulaProgram program(scaling.logit, size);
      const FormulaProgram slope(derivative(scaling.logit), size);
      for (std::size_t query = 0; query < drawn.scores.size(); ++query) {
        std::vector<double> logits(drawn.scores[query].size());
        const FormulaScores scores{drawn.scores[query],
                                   1,
                                   0,
                                   {&drawn.squared_query_norms[query], 1},
                                   drawn.squared_key_norms[query]};
        program.evaluate(scores, scaling.weights.precision, logits);
        QueryWeights weights;
        weights.weigh(logits, scaling.weights, 1);
        std::vector<double> slopes(logits.size());
        slope.evaluate(scores, Precision::kFloat64, slopes);
        QueryContext context{slopes[weights.top()], 0.99, size.i};
        std::vector<double> exact_logits(logits.size());
        program.evaluate(scores, {}, exact_logits);
        QueryWeights exact;
        exact.weigh(exact_logits, {scaling.weights.normaliser}, 1);
        if (!scaling.weights.precision.is_exact()) context.exact = &exact;
        for (std::size_t m = 0; m < metrics.size(); ++m) {
          const double expected = measure_weights(*metrics[m], weights, context);
          EXPECT_NEAR(values->metrics[s][m][query], expected, 2e-12 * std::abs(expected))
              << metrics[m]->name << " under " << experiment.scalings[s].name;
        }
      }
    }
  }
}

// Scores of spread 4 times 30 leave float16 behind the soft-cap, which alone would hide it.
TEST(ScalingMeasurer, CountsOverflowsThatASoftcapHides) {
  for (const std::int64_t keys : {5, 1100}) {
    const Scaling capped =
        logit_scaling("capped", "50 tanh(5000 q.k / 1 / 50)", {.precision = Precision::kFloat16});
    const Experiment experiment = experiment_of(keys, {capped});
    const Cell cell = plan_of(experiment, kSeed).cells.front();
    const DrawnQueries drawn = draw(experiment, cell);
    const auto values = measure_block(experiment, cell, kSeed, 0);
    const auto metrics = per_query_metrics(experiment);
    int overflowed = 0;
    for (std::size_t query = 0; query < drawn.scores.size(); ++query) {
      const bool expected = std::ranges::any_of(
          drawn.scores[query], [](double score) { return std::abs(score * 5000) > 65520; });
      overflowed += expected ? 1 : 0;
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        const double value = values->metrics[0][m][query];
        if (metrics[m]->takes_nonfinite) {
          EXPECT_EQ(value, expected ? 1 : 0);
        } else {
          EXPECT_EQ(std::isnan(value), expected) << metrics[m]->name;
        }
      }
      EXPECT_EQ(std::isnan(values->logit_powers[0][0][query]), expected);
    }
    EXPECT_GT(overflowed, 0);
    EXPECT_LT(overflowed, keys == 5 ? 20 : 21);
  }
}

TEST(NeedsAllLogits, WhereNoRunningSumTells) {
  const auto needs = [](const char* metric, const WeightRule& rule) {
    return needs_all_logits(*find_metric(metric), rule);
  };
  EXPECT_FALSE(needs("entropy", {}));
  EXPECT_FALSE(needs("aligned_weight", {}));
  EXPECT_FALSE(needs("entropy", {.normaliser = {NormaliserKind::kSink, 0}}));
  EXPECT_TRUE(needs("entropy", {.normaliser = {NormaliserKind::kSigmoid, 0}}));
  EXPECT_TRUE(needs("entropy", {.precision = Precision::kFloat32}));
  EXPECT_TRUE(needs("jacobian_spectral", {}));
  EXPECT_FALSE(needs("logit_sd", {.precision = Precision::kFloat32}));
}

}  // namespace
}  // namespace attnscale
