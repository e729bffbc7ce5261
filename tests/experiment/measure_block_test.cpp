#include "experiment/measure_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "experiment/expected_logits.h"
#include "support/drawn_cell.h"
#include "support/drawn_scores.h"
#include "support/forced_target.h"
#include "support/plain_softmax.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

constexpr std::uint64_t kSeed = 11;

Cell cell_of(const Experiment& experiment) {
  return plan_of(experiment, kSeed).cells.front();
}

// The rows of logits of a block of the experiment's only cell, from the scores drawn alone.
std::vector<std::vector<double>> logits_of(const Experiment& experiment, const Scaling& scaling,
                                           std::int64_t block) {
  const Cell cell = cell_of(experiment);
  const auto keys = static_cast<std::size_t>(cell.draw.keys);
  const BlockAddress address{kSeed, cell.identity, static_cast<std::uint64_t>(block)};
  const std::vector<double> scores =
      draw_scores(*experiment.sampler, cell.draw, address, cell.queries_in(block));
  std::vector<std::vector<double>> rows;
  for (std::size_t first = 0; first < scores.size(); first += keys) {
    rows.emplace_back(scores.begin() + static_cast<std::ptrdiff_t>(first),
                      scores.begin() + static_cast<std::ptrdiff_t>(first + keys));
    for (double& number : rows.back()) {
      number *=
          factor_of(scaling, static_cast<double>(cell.draw.d), static_cast<double>(cell.draw.keys));
    }
  }
  return rows;
}

TEST(MeasureBlock, EqualsAPlainComputationFromItsScores) {
  // 1,100 keys come in several tiles of every sampler, 5 in one; the second block is ragged.
  for (const std::int64_t keys : {5, 1100}) {
    Experiment experiment = drawn_experiment("boost", 6, keys, 1030);
    experiment.metrics =
        metric_rows({"entropy", "logit_kurtosis", "top_weight", "max_logit", "sum_p2"});
    const auto values = measure_block(experiment, cell_of(experiment), kSeed, 1);
    ASSERT_EQ(values->queries, 6);
    for (std::size_t s = 0; s < experiment.scalings.size(); ++s) {
      SCOPED_TRACE(experiment.scalings[s].name);
      const auto rows = logits_of(experiment, experiment.scalings[s], 1);
      const long double unit =
          power_scale(experiment.scalings[s].logit, cell_of(experiment).draw).unit;
      ASSERT_EQ(values->metrics[s].size(), 4U);
      ASSERT_EQ(values->logit_powers[s].size(), 4U);
      for (std::size_t query = 0; query < rows.size(); ++query) {
        const PlainSoftmax plain(rows[query]);
        const auto near = [&](double found, long double expected) {
          EXPECT_NEAR(found, static_cast<double>(expected),
                      static_cast<double>(expected) * plain.tolerance());
        };
        near(values->metrics[s][0][query], plain.entropy);
        near(values->metrics[s][1][query], plain.p[plain.top]);
        near(values->complements[s][1][query], plain.others[plain.top]);
        const auto [low, high] = std::ranges::minmax(rows[query]);
        EXPECT_EQ(values->metrics[s][2][query], std::max(-low, high));
        near(values->metrics[s][3][query], plain.sum_p2());
        near(values->complements[s][3][query], plain.sum_of_slopes());
        for (int power = 1; power <= 4; ++power) {
          long double mean = 0;
          long double size = 0;
          for (const double logit : rows[query]) {
            mean += std::pow(logit / unit, power) / keys;
            size += std::pow(std::abs(logit / unit), power) / keys;
          }
          EXPECT_NEAR(values->logit_powers[s][static_cast<std::size_t>(power - 1)][query],
                      static_cast<double>(mean), static_cast<double>(size) * plain.tolerance());
        }
      }
      EXPECT_TRUE(values->complements[s][0].empty());
      EXPECT_TRUE(values->complements[s][2].empty());
    }
  }
}

TEST(MeasureBlock, TakesPowersAboutTheExpectedLogit) {
  Experiment experiment = drawn_experiment("boost", 100, 3, 8);
  experiment.entries.front() = normal_entries(10, 1);  // scores near 100 * 10 * 10
  const Cell cell = cell_of(experiment);
  const auto centre = [&](std::size_t s) {
    return logit_centre({experiment.scalings[s].logit, size_of(cell.draw)}, cell.draw);
  };
  EXPECT_DOUBLE_EQ(centre(0), 10000);
  EXPECT_DOUBLE_EQ(centre(1), 1000);
  const auto values = measure_block(experiment, cell, kSeed, 0);
  const auto rows = logits_of(experiment, experiment.scalings[1], 0);
  const double unit = power_scale(experiment.scalings[1].logit, cell.draw).unit;
  EXPECT_EQ(unit, 8);  // of spread 10: sqrt(100 (1 + 10^2)) / 10
  for (std::size_t query = 0; query < rows.size(); ++query) {
    double mean = 0;
    for (const double logit : rows[query]) mean += (logit - 1000) / 3 / unit;
    EXPECT_NEAR(values->logit_powers[1][0][query], mean, 1e-12);
  }
}

TEST(MeasureBlock, KeepsTheLogitPowersThatAreNeeded) {
  Experiment experiment = drawn_experiment("direct", 4, 2, 8);
  const auto powers_for = [&](const std::vector<std::string_view>& names) {
    experiment.metrics = metric_rows(names);
    const auto values = measure_block(experiment, cell_of(experiment), kSeed, 0);
    EXPECT_EQ(values->logit_powers[0].size(), static_cast<std::size_t>(logit_powers(experiment)));
    return logit_powers(experiment);
  };
  EXPECT_EQ(powers_for({"slope"}), 0);
  EXPECT_EQ(powers_for({"logit_mean", "slope"}), 2);
  EXPECT_EQ(powers_for({"logit_sd"}), 2);
  EXPECT_EQ(powers_for({"logit_kurtosis", "logit_sd"}), 4);
}

TEST(MeasureBlock, AnotherScalingOrMetricChangesNoNumber) {
  Experiment many = drawn_experiment("vectors", 7, 9, 100);
  many.metrics = metric_rows({"logit_kurtosis", "slope", "margin", "top_weight"});
  Experiment one = many;
  one.scalings = {many.scalings[2]};
  one.metrics = metric_rows({"top_weight"});
  const auto of_many = measure_block(many, cell_of(many), kSeed, 0);
  const auto of_one = measure_block(one, cell_of(one), kSeed, 0);
  EXPECT_EQ(of_one->metrics[0][0], of_many->metrics[2][2]);
  EXPECT_EQ(of_one->complements[0][0], of_many->complements[2][2]);
}

TEST(MeasureBlock, IsAFunctionOfSeedCellAndBlock) {
  const Experiment experiment = drawn_experiment("direct", 4, 8, 5000);
  const Cell cell = cell_of(experiment);
  const auto top_weights = [&](std::uint64_t seed, std::int64_t block) {
    return measure_block(experiment, cell, seed, block)->metrics[0][0];
  };
  EXPECT_EQ(top_weights(1, 2), top_weights(1, 2));
  EXPECT_NE(top_weights(1, 2), top_weights(1, 3));
  EXPECT_NE(top_weights(1, 2), top_weights(2, 2));
}

TEST(BlockMeasurer, RemembersNothingOfTheBlocksBefore) {
  Experiment experiment = drawn_experiment("direct", 6, 5, 2050);
  experiment.metrics = metric_rows({"logit_sd", "top_weight", "jacobian_norm"});
  experiment.histogram = histogram_quantities({"logit", "top_weight"});
  const Cell cell = cell_of(experiment);
  BlockMeasurer measurer(experiment, cell, kSeed);
  for (const std::int64_t block : {0, 2, 1}) {  // the last one, of 2 queries, in between
    const BlockValues* const values = measurer.measure(block);
    const auto alone = measure_block(experiment, cell, kSeed, block);
    EXPECT_EQ(values->metrics, alone->metrics);
    EXPECT_EQ(values->complements, alone->complements);
    EXPECT_EQ(values->logit_powers, alone->logit_powers);
    EXPECT_EQ(values->histograms, alone->histograms);
  }
}

// Presets, norms, a soft-cap, sinks, sigmoids, precisions and aligned keys: draw to metric.
Experiment experiment_of_every_rule(std::string_view sampler) {
  Experiment experiment = drawn_experiment(sampler, 6, 11, 100);
  experiment.entries[0].alignment = 0.4;
  experiment.entries[0].aligned_keys = 3;
  experiment.scalings.clear();
  for (const PresetRow& row : preset_table()) {
    experiment.scalings.push_back(scaling_of(row, std::vector<double>(row.parameters().size(), 2)));
  }
  for (const Precision precision : {Precision::kFloat32, Precision::kFloat16}) {
    experiment.scalings.push_back(logit_scaling("narrow", "50 tanh(rms(q).rms(k) / sqrt(144) / 50)",
                                                {.precision = precision}));
  }
  experiment.metrics.clear();
  for (const MetricRow& row : metric_table()) experiment.metrics.push_back(&row);
  experiment.histogram = histogram_quantities({"logit", "slope"});
  return experiment;
}

TEST(MeasureBlock, IsTheSameBytesOnEveryInstructionSetUnderEveryRule) {
  for (const char* const sampler : {"vectors", "direct", "boost"}) {
    const Experiment experiment = experiment_of_every_rule(sampler);
    const Cell cell = cell_of(experiment);
    const auto chosen = measure_block(experiment, cell, kSeed, 0);
    for (const std::int64_t target : targets_with_same_bytes()) {
      const ForcedTarget forced(target);
      const auto values = measure_block(experiment, cell, kSeed, 0);
      EXPECT_EQ(values->metrics, chosen->metrics) << sampler;
      EXPECT_EQ(values->complements, chosen->complements) << sampler;
      EXPECT_EQ(values->logit_powers, chosen->logit_powers) << sampler;
      EXPECT_EQ(values->histograms, chosen->histograms) << sampler;
    }
  }
}

TEST(MeasureBlock, CountsEveryScoreOnceAndNoPadding) {
  Experiment experiment = drawn_experiment("boost", 4, 3, 13);
  experiment.histogram = histogram_quantities({"score", "top_weight", "logit"});
  const auto values = measure_block(experiment, cell_of(experiment), kSeed, 0);
  const auto total = [&](std::size_t place) {
    std::int64_t sum = 0;
    for (const std::int64_t count : values->histograms[place]) sum += count;
    return sum;
  };
  ASSERT_EQ(values->histograms.size(), 9U);
  for (std::size_t scaling = 0; scaling < 3; ++scaling) {
    EXPECT_EQ(total(3 * scaling), 39);
    EXPECT_EQ(total(3 * scaling + 1), 13);
    EXPECT_EQ(total(3 * scaling + 2), 39);
    EXPECT_EQ(values->histograms[3 * scaling], values->histograms[0]) << "scores are not scaled";
  }
}

TEST(MeasureBlock, IsAbandonedBetweenTiles) {
  const Experiment experiment = drawn_experiment("boost", 2, 5000, 20);
  int asked = 0;
  EXPECT_EQ(measure_block(experiment, cell_of(experiment), kSeed, 0, [&] { return ++asked == 3; }),
            std::nullopt);
  EXPECT_EQ(asked, 3);
  EXPECT_TRUE(measure_block(experiment, cell_of(experiment), kSeed, 0, [] { return false; }));
}

// SamplerRow::draw_block: query i has the logits 0, 1, 2, but queries 1 ... 5 each something that
// is no number at one place. Keys come in tiles of one.
void draw_broken_scores(const Draw& draw, const BlockAddress&, std::int64_t queries,
                        const TileSink& sink) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t key = 0; key < draw.keys; ++key) {
    std::vector<double> scores(static_cast<std::size_t>(padded(queries)), static_cast<double>(key));
    if (key == 0) scores[1] = kNan;
    if (key == 1) scores[2] = kNan;
    if (key == 2) scores[3] = kNan;
    if (key == 0) scores[4] = kInfinity;
    if (key == 2) scores[5] = -kInfinity;
    if (!sink({0, queries, key, 1, scores})) return;
  }
}

constexpr SamplerRow kBrokenSampler{
    "broken",          "for tests", true, 1, 1 << 20, 1 << 20, [](const Entries&) { return true; },
    draw_broken_scores};

TEST(MeasureBlock, AQueryWithALogitThatIsNoNumberHasNoneInAnyColumn) {
  Experiment experiment = drawn_experiment("boost", 4, 3, 7);
  experiment.sampler = &kBrokenSampler;
  experiment.metrics = metric_rows({"logit_sd", "top_weight", "saturated", "margin", "max_logit"});
  const auto values = measure_block(experiment, cell_of(experiment), kSeed, 0);
  for (std::size_t s = 0; s < 3; ++s) {
    for (std::size_t query = 0; query < 7; ++query) {
      const bool broken = query >= 1 && query <= 5;
      for (const auto& column : values->metrics[s]) EXPECT_EQ(std::isnan(column[query]), broken);
      for (const auto& column : values->logit_powers[s]) {
        EXPECT_EQ(std::isnan(column[query]), broken);
      }
      EXPECT_EQ(std::isnan(values->complements[s][0][query]), broken);
    }
  }
}

// Two of seven queries are whole: each line is what the same line of these two alone would be.
TEST(MeasureBlock, LinesOfACellWithSuchQueriesLeaveThemOutAndSaySo) {
  Experiment experiment = drawn_experiment("boost", 4, 3, 7);
  experiment.sampler = &kBrokenSampler;
  experiment.metrics = metric_rows(
      {"logit_mean", "logit_sd", "logit_kurtosis", "top_weight", "saturated", "margin"});
  for (const ResultRow& row : run_config(config_of(experiment))) {
    SCOPED_TRACE(row.metric);
    EXPECT_EQ(row.status, LineStatus::kSomeNonfinite);
    EXPECT_EQ(row.queries, 2);
    EXPECT_EQ(row.left_out, 5);
    EXPECT_TRUE(row.estimate);
    EXPECT_FALSE(row.z) << "the reference is that of all";
  }
}

TEST(MeasureBlock, LinesOfACellWithoutAFiniteQueryAreEmptyAndSaySo) {
  Experiment experiment = drawn_experiment("direct", 4, 3, 50);
  experiment.entries[0].queries.sd = 1e6;
  experiment.entries[0].keys.sd = 1e6;
  experiment.scalings = {logit_scaling("half", "q.k", {.precision = Precision::kFloat16})};
  experiment.metrics = metric_rows({"logit_mean", "logit_sd", "logit_kurtosis", "top_weight",
                                    "saturated", "output_sd", "overflowed"});
  for (const ResultRow& row : run_config(config_of(experiment))) {
    SCOPED_TRACE(row.metric);
    if (row.metric == "overflowed") {
      EXPECT_EQ(row.estimate, 1);
      continue;
    }
    EXPECT_EQ(row.status, LineStatus::kNonfinite);
    EXPECT_EQ(row.queries, 0);
    EXPECT_EQ(row.left_out, 50);
    for (const auto& number : {row.estimate, row.std_error, row.ci_low, row.ci_high, row.sd,
                               row.min, row.median, row.max, row.z}) {
      EXPECT_EQ(number, std::nullopt);
    }
  }
}

}  // namespace
}  // namespace attnscale
