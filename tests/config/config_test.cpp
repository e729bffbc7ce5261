// What a config comes to once it is read: defaults, axes, sweeps, given numbers, and its own text.
#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/user_error.h"

namespace attnscale {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Config read(const std::string& members) {
  return parse_config(R"({"name": "a", "experiments": [)" + members + "]}", "test").config;
}

Experiment read_one(const std::string& members) {
  return read(members).experiments.at(0);
}

std::vector<std::string> metric_names(const Experiment& experiment) {
  std::vector<std::string> names;
  for (const MetricRow* row : experiment.metrics) names.emplace_back(row->name);
  return names;
}

TEST(Config, FillsInEveryDefaultOfTheDesign) {
  const Config config = read(R"({"d": 4})");
  EXPECT_EQ(config.seed, 0U);
  EXPECT_EQ(config.description, "");
  EXPECT_EQ(config.reference, ReferenceMode::kAuto);
  const Experiment& experiment = config.experiments.at(0);
  EXPECT_EQ(experiment.name, "experiment_1");
  EXPECT_EQ(experiment.sampler, &sampler_table().front());
  EXPECT_THAT(experiment.d, ElementsAre(4));
  EXPECT_THAT(experiment.keys, ElementsAre(1));
  EXPECT_EQ(experiment.queries, 10'000);
  const Law normal{find_law("normal"), {}, 0, 1};
  EXPECT_THAT(experiment.entries, ElementsAre(Entries{"normal", {}, normal, normal}));
  EXPECT_THAT(experiment.scalings, ElementsAre(*find_scaling("none"), *find_scaling("div_sqrt_d"),
                                               *find_scaling("div_d")));
  EXPECT_THAT(metric_names(experiment), ElementsAre("logit_sd", "top_weight", "slope"));
  EXPECT_EQ(experiment.saturated_above, 0.99);
  EXPECT_THAT(experiment.histogram, IsEmpty());
  EXPECT_EQ(experiment.samples, 0);
  EXPECT_FALSE(experiment.given);
}

TEST(Config, NamesUnnamedExperimentsByPosition) {
  const Config config = read(R"({"d": 4}, {"name": "second", "d": 4}, {"d": 4})");
  EXPECT_EQ(config.experiments[0].name, "experiment_1");
  EXPECT_EQ(config.experiments[1].name, "second");
  EXPECT_EQ(config.experiments[2].name, "experiment_3");
}

TEST(Config, AcceptsComments) {
  const std::string text =
      "// first\n{\"name\": /* here */ \"a\", // \"name\": \"b\"\n"
      "\"experiments\": [{\"d\": 4}]}/* last */ // end";
  EXPECT_EQ(parse_config(text, "test").config.name, "a");
}

TEST(Config, TakesANumberWithoutFractionForAnInteger) {
  const Experiment experiment = read_one(R"({"d": 4.0, "queries": 1e6})");
  EXPECT_THAT(experiment.d, ElementsAre(4));
  EXPECT_EQ(experiment.queries, 1'000'000);
}

TEST(Config, ReadsTheLargestSeedExactly) {
  const std::string text = R"({"name": "a", "seed": 9007199254740991, "experiments": [{"d": 4}]})";
  EXPECT_EQ(parse_config(text, "test").config.seed, 9007199254740991U);
}

TEST(Config, KeepsTheOrderOfAList) {
  EXPECT_THAT(read_one(R"({"d": [64, 4, 16]})").d, ElementsAre(64, 4, 16));
}

TEST(Config, ExpandsRanges) {
  EXPECT_THAT(read_one(R"({"d": {"from": 4, "to": 1024, "times": 4}})").d,
              ElementsAre(4, 16, 64, 256, 1024));
  EXPECT_THAT(read_one(R"({"d": {"from": 2, "to": 10, "step": 2}})").d,
              ElementsAre(2, 4, 6, 8, 10));
  EXPECT_THAT(read_one(R"({"d": {"from": 2, "to": 9, "step": 3}})").d, ElementsAre(2, 5, 8));
  EXPECT_THAT(read_one(R"({"d": {"from": 7, "to": 7, "times": 2}})").d, ElementsAre(7));
}

TEST(Config, SweepsOneNumberOfAScalingUnderOneName) {
  const Experiment experiment = read_one(
      R"({"d": 4, "scalings": [{"name": "x", "d_power": {"from": 0, "to": -0.5, "step": -0.25}}]})");
  const auto expected = [](double power) {
    return make_scaling("x", nullptr, {}, {.d_power = power}, power);
  };
  EXPECT_THAT(experiment.scalings, ElementsAre(expected(0), expected(-0.25), expected(-0.5)));
}

TEST(Config, ReachesTheEndOfARangeDespiteRounding) {
  // 0.1 has no exact double, and (1 - 0) / 0.1 must still count ten steps.
  const Experiment experiment = read_one(
      R"({"d": 4, "scalings": [{"name": "x", "multiplier": {"from": 0, "to": 1, "step": 0.1}}]})");
  ASSERT_EQ(experiment.scalings.size(), 11U);
  EXPECT_EQ(experiment.scalings.back().rule.multiplier, 1.0);
}

// The doubles nearest to the decimals; -1 + 6 * 0.1 is -0.3999999999999999 and 3 * 0.1 is
// 0.30000000000000004.
TEST(Config, StepsThroughTheDecimalsThatAreMeant) {
  const auto powers = [](const std::string& range) {
    std::vector<double> values;
    for (const Scaling& scaling :
         read_one(R"({"d": 4, "scalings": [{"name": "x", "d_power": )" + range + "}]}").scalings) {
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

TEST(Config, StartsAScalingFromANamedOne) {
  const Experiment experiment = read_one(R"({"d": 4, "scalings": [{"like": "div_d"},
      {"name": "x", "like": "div_sqrt_d", "multiplier": 3, "d_power": [0, -0.25]}]})");
  ASSERT_EQ(experiment.scalings.size(), 3U);
  EXPECT_EQ(experiment.scalings[0], *find_scaling("div_d"));
  for (const auto& [place, power] : {std::pair{1, 0.0}, std::pair{2, -0.25}}) {
    const Scaling& scaling = experiment.scalings[static_cast<std::size_t>(place)];
    EXPECT_EQ(scaling.name, "x");
    EXPECT_EQ(scaling.value, power);
    EXPECT_EQ(scaling.rule, (ScalingRule{.multiplier = 3, .d_power = -0.5 + power}));
  }
}

TEST(Config, SweepsOneNumberOfTheEntries) {
  const Experiment experiment =
      read_one(R"({"d": 4, "entries": ["normal", {"name": "wide", "mean": 1, "sd": [2, 3]}]})");
  ASSERT_EQ(experiment.entries.size(), 3U);
  const Law wide{find_law("normal"), {}, 1, 3};
  EXPECT_EQ(experiment.entries[2], (Entries{"wide", 3.0, wide, wide}));
}

TEST(Config, ReadsALawOfEachSide) {
  const Experiment experiment = read_one(R"({"d": 4, "keys": 8, "entries": [
      {"queries": {"law": "rademacher"}, "keys": {"law": "normal", "sd": 2}, "name": "mixed"},
      {"queries": "normal", "keys": {"law": "student_t", "nu": [5, 7], "mean": 1},
       "alignment": 0.25, "aligned_keys": 3}]})");
  const Law signs{find_law("rademacher"), {}, 0, 1};
  const Law normal{find_law("normal"), {}, 0, 1};
  const Law wide{find_law("normal"), {}, 0, 2};
  const Law heavy{find_law("student_t"), {7}, 1, 1};
  ASSERT_EQ(experiment.entries.size(), 3U);
  EXPECT_EQ(experiment.entries[0], (Entries{"mixed", {}, signs, wide, 0, {}}));
  EXPECT_EQ(experiment.entries[2], (Entries{"normal_student_t", 7.0, normal, heavy, 0.25, 3}));
}

TEST(Config, SweepsTheAlignment) {
  const Experiment experiment =
      read_one(R"({"d": 4, "keys": 8, "entries": {"alignment": [0, 0.5], "aligned_keys": 2}})");
  const Law normal{find_law("normal"), {}, 0, 1};
  EXPECT_THAT(experiment.entries, ElementsAre(Entries{"normal", 0.0, normal, normal, 0, 2},
                                              Entries{"normal", 0.5, normal, normal, 0.5, 2}));
}

TEST(Config, TakesAllMetricsThatApply) {
  std::vector<std::string> all;
  std::vector<std::string> with_one_key;
  std::size_t of_aligned_keys = 0;
  for (const MetricRow& row : metric_table()) {
    of_aligned_keys += row.needs == MetricNeeds::kAlignedKeys ? 1 : 0;
    if (row.needs != MetricNeeds::kNothing) continue;
    all.emplace_back(row.name);
    if (!row.needs_two_keys) with_one_key.emplace_back(row.name);
  }
  EXPECT_EQ(metric_names(read_one(R"({"d": 4, "keys": 8, "metrics": "all"})")), all);
  EXPECT_EQ(metric_names(read_one(R"({"d": 4, "keys": [1, 8], "metrics": "all"})")), all);
  EXPECT_EQ(metric_names(read_one(R"({"d": 4, "keys": 1, "metrics": "all"})")), with_one_key);
  // More keys than can be held at once for the metrics that need all of their logits.
  std::vector<std::string> of_many = all;
  std::erase(of_many, std::string("jacobian_spectral"));
  EXPECT_EQ(
      metric_names(read_one(R"({"d": 4, "sampler": "direct", "keys": 200000, "metrics": "all"})")),
      of_many);
  const auto aligned = metric_names(
      read_one(R"({"d": 4, "keys": 8, "entries": {"aligned_keys": 2}, "metrics": "all"})"));
  EXPECT_EQ(aligned.size(), all.size() + of_aligned_keys);
}

TEST(Config, ExperimentsInheritTheSamplerOfTheWhole) {
  const std::string name(sampler_table().back().name);
  const std::string text =
      R"({"name": "a", "sampler": ")" + name + R"(", "experiments": [{"d": 4}]})";
  EXPECT_EQ(parse_config(text, "test").config.experiments[0].sampler, &sampler_table().back());
}

/// An experiment whose numbers are in files of the repository.
std::string given_files() {
  const std::string folder = std::string(ATTNSCALE_SOURCE_DIR) + "/configs/example_matrices/";
  return R"({"given": {"queries": ")" + folder + R"(queries.npy", "keys": ")" + folder +
         R"(keys.npy", "causal": true}, "metrics": ["entropy"]})";
}

TEST(Config, ReadsMatricesFromFiles) {
  const Experiment experiment = read_one(given_files());
  ASSERT_TRUE(experiment.given && experiment.given->queries.file);
  EXPECT_EQ(experiment.given->queries.heads(), 2);
  EXPECT_EQ(experiment.given->queries.row_count(), 24);
  EXPECT_EQ(experiment.given->queries.columns(0), 16);
  EXPECT_TRUE(experiment.given->causal);
  EXPECT_FALSE(experiment.given->weights);  // of files only where it is asked for
  EXPECT_EQ(experiment.given->queries, experiment.given->queries);
  EXPECT_NE(experiment.given->queries, experiment.given->keys);
}

TEST(Config, ReadsGivenNumbers) {
  const Experiment scores = read_one(R"({"given": {"scores": [[8, 4, 0], [1]], "d": 16}})");
  ASSERT_TRUE(scores.given);
  EXPECT_THAT(scores.given->scores.rows, ElementsAre(ElementsAre(8, 4, 0), ElementsAre(1)));
  EXPECT_EQ(scores.given->d, 16);
  EXPECT_THAT(scores.metrics, IsEmpty());
  EXPECT_EQ(scores.sampler, nullptr);
  EXPECT_EQ(scores.scalings.size(), 3U);

  const Experiment vectors = read_one(
      R"({"given": {"queries": [[1, 2]], "keys": [[1, 0], [0, 1]], "values": [[1], [2]]},
          "metrics": ["entropy"]})");
  EXPECT_THAT(vectors.given->keys.rows, ElementsAre(ElementsAre(1, 0), ElementsAre(0, 1)));
  EXPECT_THAT(vectors.given->values.rows, ElementsAre(ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(metric_names(vectors), ElementsAre("entropy"));
}

TEST(Config, WarnsOfSoftmaxMetricsWithOneKey) {
  const auto warnings = [](const std::string& members) {
    return parse_config(R"({"name": "a", "experiments": [)" + members + "]}", "test").warnings;
  };
  EXPECT_THAT(warnings(R"({"d": 4, "keys": 8})"), IsEmpty());
  EXPECT_THAT(warnings(R"({"d": 4, "metrics": ["logit_sd"]})"), IsEmpty());
  EXPECT_THAT(warnings(R"({"d": 4, "metrics": "all"})"), IsEmpty());
  EXPECT_THAT(warnings(R"({"d": 4, "metrics": ["logit_sd", "slope"]})"),
              ElementsAre(testing::AllOf(HasSubstr("test:1:"), HasSubstr("/experiments/0/metrics"),
                                         HasSubstr("always 1"), HasSubstr("slope"))));
  EXPECT_EQ(warnings(R"({"d": 4, "keys": [8, 1], "metrics": ["slope"]})").size(), 1U);
}

TEST(Config, TextReadsBackAsTheSameConfig) {
  const std::vector<std::string> experiments = {
      R"({"d": 4})",
      R"({"d": {"from": 4, "to": 64, "times": 2}, "keys": [1, 8], "queries": 17, "metrics": "all",
          "saturated_above": 0.123456789012345678, "samples": 3, "histogram": ["score", "slope"]})",
      R"({"d": 4, "entries": ["normal", {"name": "w", "mean": -0.1, "sd": [1, 2.5]},
          {"name": "m", "mean": {"from": 0.1, "to": 0.3, "step": 0.1}}]})",
      R"({"d": 4, "keys": 9, "entries": ["uniform",
          {"law": "outlier", "p": 0.1, "outlier_sd": [2, 0.3]},
          {"queries": "normal", "keys": "normal", "name": "same"},
          {"queries": "laplace", "keys": {"sd": [1, 2]}, "alignment": -0.3},
          {"queries": {"law": "sparse", "p": [0.5]}, "keys": {"law": "sparse", "p": 0.5}},
          {"name": "swept", "alignment": [0, 0.1], "aligned_keys": 4},
          {"name": "counted", "aligned_keys": [1, 9]},
          {"name": "still", "alignment": [0]}]})",
      R"({"d": 4, "scalings": ["none", {"like": "div_d"}, {"name": "x"},
          {"name": "y", "multiplier": [0.1, 0.2, 1e-7], "d_power": -0.3},
          {"name": "z", "like": "div_sqrt_d", "multiplier": 3, "d_power": [0, -0.25]},
          {"name": "u", "like": "div_d", "multiplier": {"from": 1, "to": 9, "times": 3}},
          {"name": "v", "d_power": [-1]}]})",
      R"({"given": {"scores": [[1e300, -0.0, 0.1], [3]], "d": 16}, "metrics": ["entropy"]})",
      R"({"given": {"queries": [[1]], "keys": [[0.1], [2]], "values": [[1], [2]]}})",
      R"({"given": {"queries": [[1]], "keys": [[0.1], [2]], "causal": true, "weights": false,
          "baseline": true}, "metrics": ["entropy"]})",
      given_files(),
  };
  for (const std::string& members : experiments) {
    SCOPED_TRACE(members);
    const std::string text =
        R"({"name": "a", "description": "\"q\"\\ \n \u0001 é", "seed": 7, "reference": "off",
            "experiments": [)" +
        members + "]}";
    const Config config = parse_config(text, "test").config;
    const std::string resolved = to_json_text(config);
    const Config again = parse_config(resolved, "resolved").config;
    EXPECT_EQ(again, config);
    EXPECT_EQ(to_json_text(again), resolved);
  }
}

TEST(Config, TheLessonsConfigAsksForTheLessonsExercise) {
  const LoadedConfig loaded =
      load_config(std::string(ATTNSCALE_SOURCE_DIR) + "/configs/try_this.json");
  EXPECT_THAT(loaded.warnings, IsEmpty());
  ASSERT_EQ(loaded.config.experiments.size(), 2U);
  for (const Experiment& experiment : loaded.config.experiments) {
    EXPECT_THAT(experiment.d, ElementsAre(4, 16, 64, 256, 1024));
    EXPECT_EQ(experiment.queries, 10'000);
    EXPECT_EQ(experiment.scalings.size(), 3U);
  }
  EXPECT_THAT(loaded.config.experiments[0].keys, ElementsAre(1));
  EXPECT_THAT(loaded.config.experiments[1].keys, ElementsAre(8));
}

TEST(Config, TheLessonsExamplesLoadWithoutAWarning) {
  const LoadedConfig loaded =
      load_config(std::string(ATTNSCALE_SOURCE_DIR) + "/configs/lesson_examples.json");
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.config.experiments.size(), 6U);
}

}  // namespace
}  // namespace attnscale
