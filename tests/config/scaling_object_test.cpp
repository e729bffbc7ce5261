// The key `scalings` of a config: what its objects come to, how they are written back, and what is
// said where they are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "config/config.h"
#include "support/read_experiment.h"
#include "support/refused_configs.h"

namespace attnscale {
namespace {

using ::testing::ElementsAre;

std::vector<Scaling> read_scalings(const std::string& list) {
  return parse_config(experiment(R"({"d": 64, "scalings": [)" + list + "]}"), "scalings.json")
      .config.experiments.front()
      .scalings;
}

ScalingRule read_rule(const std::string& object) {
  return read_scalings(object).front().rule;
}

TEST(ScalingObject, ReadEveryKeyOfAnObject) {
  EXPECT_EQ(read_rule(R"({"name": "x", "multiplier": 2, "d_power": -0.5, "d": 144,
                          "log_keys": true, "log_keys_base": 512, "softcap": 50, "norm": "rms",
                          "gain": [0.5, 3], "normaliser": {"sink": -1}, "precision": "float16",
                          "scale_order": "before", "subtract_max": false})"),
            (ScalingRule{.multiplier = 2,
                         .d_power = -0.5,
                         .d = 144,
                         .log_keys = true,
                         .log_keys_base = 512,
                         .softcap = 50,
                         .norm = Norm::kRms,
                         .query_gain = 0.5,
                         .key_gain = 3,
                         .scale_order = ScaleOrder::kBefore,
                         .weights = {.normaliser = {NormaliserKind::kSink, -1},
                                     .precision = Precision::kFloat16,
                                     .max_shift = MaxShift::kNone}}));
}

TEST(ScalingObject, OneGainIsForQueriesAndKeys) {
  const ScalingRule rule = read_rule(R"({"name": "x", "gain": 0.25})");
  EXPECT_EQ(rule.query_gain, 0.25);
  EXPECT_EQ(rule.key_gain, 0.25);
}

TEST(ScalingObject, SweepsOneNumberOfAScalingUnderOneName) {
  const Experiment experiment = read_one(
      R"({"d": 4, "scalings": [{"name": "x", "d_power": {"from": 0, "to": -0.5, "step": -0.25}}]})");
  const auto expected = [](double power) {
    return make_scaling("x", nullptr, {}, {.d_power = power}, power);
  };
  EXPECT_THAT(experiment.scalings, ElementsAre(expected(0), expected(-0.25), expected(-0.5)));
}

TEST(ScalingObject, StartsAScalingFromANamedOne) {
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

TEST(ScalingObject, APresetMayBeSweptAndChanged) {
  const auto scalings = read_scalings(
      R"({"name": "warm", "preset": "llama4", "position": [0, 8191], "softcap": 30})");
  ASSERT_EQ(scalings.size(), 2U);
  EXPECT_EQ(scalings[0].value, 0);
  EXPECT_EQ(scalings[1].value, 8191);
  EXPECT_EQ(scalings[0].rule, (ScalingRule{.d_power = -0.5, .softcap = 30}));
  EXPECT_GT(scalings[1].rule.multiplier, 1.06);
}

TEST(ScalingObject, OfEveryValidConfigAreWrittenAsTheyWereRead) {
  std::ifstream file(std::string(ATTNSCALE_SOURCE_DIR) + "/tests/config_corpus/valid.jsonl");
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    SCOPED_TRACE(line);
    const Config config = parse_config(line, "corpus").config;
    const std::string resolved = to_json_text(config);
    const Config again = parse_config(resolved, "resolved").config;
    EXPECT_EQ(again, config) << resolved;
    EXPECT_EQ(to_json_text(again), resolved);
  }
  EXPECT_GT(count, 40);
}

TEST(ScalingObject, TwoGainsAreNotTakenForTheSweepOfAnEqualNumber) {
  const std::string text = experiment(
      R"({"d": 64, "scalings": [{"name": "x", "gain": [5, 2], "normaliser": {"sink": [5]}}]})");
  const Config config = parse_config(text, "test.json").config;
  EXPECT_EQ(parse_config(to_json_text(config), "resolved.json").config, config);
}

TEST(ScalingObject, SayWhatToWriteInstead) {
  const auto scaling = [](const std::string& item) {
    return experiment(R"({"d": 64, "scalings": [)" + item + "]}");
  };
  const std::string at = "/experiments/0/scalings/0";
  expect_refused({
      {scaling(R"(@"gema2_27b")"), at, {R"(did you mean "gemma2_27b"?)"}},
      {scaling(R"({"name": "x", "softcap": @0})"),
       at + "/softcap",
       {"found 0", "above 0", "leave softcap out for no cap"}},
      {scaling(R"({"name": "x", "gain": @-1})"),
       at + "/gain",
       {"found -1", "above 0", "write a negative multiplier"}},
      {scaling(R"({"name": "x", "gain": @[1, 2, 3]})"), at + "/gain", {"two numbers"}},
      {scaling(R"(@"llama4")"), at, {R"(write {"preset": "llama4", "position": ...})"}},
      {scaling(R"(@{"preset": "yarn"})"), at, {R"("yarn" needs the key "factor")", "longer"}},
      {scaling(R"({"preset": "gpt_oss", "sink": @true})"), at + "/sink", {"found true"}},
      {scaling(R"({"preset": "llama4", @"positon": 3, "position": 3})"),
       at + "/positon",
       {R"(did you mean "position"?)"}},
      {scaling(R"({"name": "x", "like": "none", "preset": @"gemma4"})"),
       at + "/preset",
       {"one of them"}},
      {scaling(R"(@{"preset": "gemma2_27b", "softcap": 30})"),
       at,
       {R"(needs a "name" of its own)", R"("my_gemma2_27b")"}},
      {scaling(R"({"name": @"gemma4", "multiplier": 2})"),
       at + "/name",
       {"built-in", R"({"like": "gemma4"})"}},
      {scaling(R"(@"qk_clip")"), at, {"in training", "multiplier"}},
      {scaling(R"(@"QK-clip")"), at, {"in training"}},
      {scaling(R"({"name": "x", "like": @"sigma_reparam"})"), at + "/like", {"in training"}},
      {scaling(R"(@"norm_softmax")"), at, {"whole row"}},
      {scaling(R"({"name": "x", "normaliser": @"sink"})"),
       at + "/normaliser",
       {R"({"sink": 0})", R"({"sigmoid": -2})"}},
      {scaling(R"({"name": "x", "normaliser": {"sink": @"0"}})"),
       at + "/normaliser/sink",
       {"expected a number"}},
      {scaling(R"({"name": "x", "norm": @"layer"})"), at + "/norm", {"none, rms, cosine"}},
      {scaling(R"({"name": "x", "precision": @"half"})"), at + "/precision", {"float16"}},
      {scaling(R"({"name": "x", "log_keys": @1})"), at + "/log_keys", {"true or false"}},
      {scaling(R"({"name": "x", "log_keys_base": @512})"),
       at + "/log_keys_base",
       {R"("log_keys": true)"}},
      {scaling(R"({"name": "x", "d": @144})"), at + "/d", {R"(add "d_power")"}},
      {scaling(R"({"name": "x", "precision": "float16", "normaliser": {"sigmoid": 0},
                   "subtract_max": @false})"),
       at + "/subtract_max",
       {"on a sigmoid"}},
      {scaling(R"({"name": "x", "subtract_max": @false})"),
       at + "/subtract_max",
       {"emulated precisions", R"("precision")"}},
  });
}

TEST(ScalingObject, SayWhichSamplerHasTheNorms) {
  expect_refused({{experiment(R"({"d": 64, "scalings": @["none", "gemma4"], "entries":
                                  {"law": "normal", "mean": 1, "alignment": 0.5}})"),
                   "/experiments/0/scalings",
                   {R"("gemma4" needs norms)", "vectors", "samplers that can: boost"}}});
}

TEST(ScalingObject, SayHowManyKeysCanBeHeld) {
  expect_refused({{experiment(R"({"d": 64, "sampler": "direct", "keys": @[8, 200000],
                                  "scalings": [{"preset": "sigmoid", "bias": 0}]})"),
                   "/experiments/0/keys",
                   {"top_weight", "sigmoid", "131072", "found 200000"}}});
}

}  // namespace
}  // namespace attnscale
