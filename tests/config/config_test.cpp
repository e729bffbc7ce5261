// What a config comes to once it is read: defaults, axes, sweeps, given numbers, and its own text.
#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/user_error.h"
#include "support/read_experiment.h"

namespace attnscale {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Config read(const std::string& members) {
  return parse_config(R"({"name": "a", "experiments": [)" + members + "]}", "test").config;
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
  EXPECT_THAT(experiment.keys, ElementsAre(8));
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

TEST(Config, ReadsTheLargestSeedExactly) {
  const std::string text = R"({"name": "a", "seed": 9007199254740991, "experiments": [{"d": 4}]})";
  EXPECT_EQ(parse_config(text, "test").config.seed, 9007199254740991U);
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

TEST(Config, WarnsOfSoftmaxMetricsWithOneKey) {
  const auto warnings = [](const std::string& members) {
    return parse_config(R"({"name": "a", "experiments": [)" + members + "]}", "test").warnings;
  };
  EXPECT_THAT(warnings(R"({"d": 4, "keys": 8})"), IsEmpty());
  EXPECT_THAT(warnings(R"({"d": 4, "keys": 1, "metrics": ["logit_sd"]})"), IsEmpty());
  EXPECT_THAT(warnings(R"({"d": 4, "keys": 1, "metrics": "all"})"), IsEmpty());
  EXPECT_THAT(warnings(R"({"d": 4, "keys": 1, "metrics": ["logit_sd", "slope"]})"),
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
      R"({"d": 4, "scalings": ["none", {"preset": "div_d"}, {"name": "x", "logit": "q.k"},
          {"name": "y", "logit": "m q.k * d^-0.3", "m": [0.1, 0.2, 1e-7]},
          {"name": "z", "logit": "3 q.k * d^p", "p": [-0.5, -0.75]},
          {"name": "u", "logit": "m q.k / d", "m": {"from": 1, "to": 9, "times": 3}},
          {"name": "v", "logit": "q.k * d^p", "p": [-1]}]})",
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
