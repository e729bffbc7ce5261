// The key `scalings` of a config: what its objects come to, how they are written back, and what is
// said where they are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "config/config.h"
#include "support/read_experiment.h"
#include "support/refused_configs.h"

namespace attnscale {
namespace {

std::vector<Scaling> read_scalings(const std::string& list) {
  return parse_config(experiment(R"({"d": 64, "scalings": [)" + list + "]}"), "scalings.json")
      .config.experiments.front()
      .scalings;
}

TEST(ScalingObject, ReadEveryKeyOfAnObject) {
  const Scaling read = read_scalings(
      R"json({"name": "x", "logit": "t cap tanh((2 rms(q) / sqrt(d)).(3 rms(k)) / cap)", "cap": 50,
          "t": "max(1, ln(keys) / ln(base))", "base": 512, "normaliser": {"sink": -1},
          "precision": "float16", "subtract_max": false})json")[0];
  EXPECT_EQ(formula(read),
            "max(1, ln(keys) / ln(512)) * 50 tanh((2 rms(q) / sqrt(d)).(3 rms(k)) / 50); softmax "
            "with a sink of logit -1; product, logit, exponential, weight in float16; sum in "
            "float32; largest logit not subtracted");
  EXPECT_EQ(read.weights, (WeightRule{.normaliser = {NormaliserKind::kSink, -1},
                                      .precision = Precision::kFloat16,
                                      .max_shift = MaxShift::kNone}));
  EXPECT_EQ(read.value, std::nullopt);
}

TEST(ScalingObject, SweepsOneNumberOfAScalingUnderOneName) {
  const auto scalings = read_scalings(
      R"({"name": "x", "logit": "q.k * d^p", "p": {"from": 0, "to": -0.5, "step": -0.25}})");
  ASSERT_EQ(scalings.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(scalings[i].name, "x");
    EXPECT_EQ(scalings[i].value, -0.25 * static_cast<double>(i));
  }
  EXPECT_EQ(formula(scalings[1]), "q.k d^-0.25");
}

TEST(ScalingObject, ASweepMayBeOfANumberInAnotherFormula) {
  const auto scalings = read_scalings(
      R"json({"name": "warmed", "logit": "t cap tanh(q.k / sqrt(d) / cap)", "cap": 30,
          "t": "log2(max(position, 1024)) / log2(1024)", "position": [1025, 131072]})json");
  ASSERT_EQ(scalings.size(), 2U);
  EXPECT_EQ(scalings[1].value, 131072);
  const auto logit = [&](std::size_t i) {
    return FormulaProgram(scalings[i].logit, {.d = 1}).at(40);
  };
  EXPECT_NEAR(logit(1), 1.7 * 30 * std::tanh(40.0 / 30), 1e-12);
}

// A config whose presets are the two given and whose only experiment has these scalings.
std::string with_presets(const std::string& scalings) {
  return R"json({"name": "a", "presets": {"ours": {"logit": "s q.k / sqrt(d)", "s": 0.43},
                 "kept": {"logit": "q.k", "normaliser": {"sink": 2}, "precision": "float16"}},
                 "experiments": [{"d": 64, "scalings": )json" +
         scalings + "}]}";
}

TEST(ScalingObject, TakesAPresetOfTheConfigAsIfItWereSpelledOut) {
  const auto read = [](const std::string& text) { return parse_config(text, "a.json").config; };
  const std::string spelled_out = R"json({"name": "a", "experiments": [{"d": 64, "scalings": [
      {"name": "ours", "logit": "s q.k / sqrt(d)", "s": 0.43},
      {"name": "x", "logit": "s q.k / sqrt(d)", "s": [0.1, 0.2]},
      {"name": "kept", "logit": "q.k", "normaliser": {"sink": 2}, "precision": "float16"},
      {"name": "wide", "logit": "q.k", "normaliser": {"sink": 2},
       "precision": "float32"}]}]})json";
  EXPECT_EQ(to_json_text(read(with_presets(
                R"(["ours", {"name": "x", "preset": "ours", "s": [0.1, 0.2]}, "kept",
                    {"name": "wide", "preset": "kept", "precision": "float32"}])"))),
            to_json_text(read(spelled_out)));
}

TEST(ScalingObject, RefusesAWrongPresetOfTheConfig) {
  const auto config = [](const std::string& presets) {
    return R"({"name": "a", "presets": )" + presets + R"(, "experiments": [{"d": 4}]})";
  };
  const std::string of_scaling = "/experiments/0/scalings/0";
  expect_refused({
      {config("@[1]"), "/presets", {"found a list", R"({"ours": {"logit")"}},
      {config(R"({@"none": {"logit": "q.k"}})"), "/presets/none", {"built-in"}},
      {config(R"({"ours": @3})"), "/presets/ours", {"an object with a formula"}},
      {config(R"({"ours": {"logit": "@s q.k"}})"), "/presets/ours/logit", {R"("s" is unknown)"}},
      {config(R"({"ours": {"logit": "q.k", @"name": "x"}})"), "/presets/ours/name", {"its key"}},
      {with_presets(R"([@"our"])"), of_scaling, {R"(did you mean "ours"?)"}},
      {with_presets(R"([{"preset": @"oours"}])"),
       of_scaling + "/preset",
       {R"(did you mean "ours"?)"}},
      {with_presets(R"([{"preset": "ours", @"t": 1}])"), of_scaling + "/t", {R"(has no "t")"}},
  });
}

TEST(ScalingObject, StartsAScalingFromANamedOne) {
  const auto scalings = read_scalings(R"({"preset": "div_d"},
      {"name": "half", "preset": "div_sqrt_d", "precision": "float16"})");
  ASSERT_EQ(scalings.size(), 2U);
  EXPECT_EQ(scalings[0], *find_scaling("div_d"));
  EXPECT_EQ(scalings[1].logit, find_scaling("div_sqrt_d")->logit);
  EXPECT_EQ(scalings[1].weights, (WeightRule{.precision = Precision::kFloat16}));
}

TEST(ScalingObject, APresetMayBeSweptAndChanged) {
  const auto scalings = read_scalings(
      R"({"name": "warm", "preset": "llama4", "position": [0, 8191], "length": 4096})");
  ASSERT_EQ(scalings.size(), 2U);
  EXPECT_EQ(scalings[0].value, 0);
  EXPECT_EQ(scalings[1].value, 8191);
  EXPECT_EQ(formula(scalings[1]), "(1 + 0.1 ln(1 + floor((8191 + 1) / 4096))) q.k / sqrt(d)");
}

TEST(ScalingObject, NamesTheFormatOfEachStep) {
  const auto scalings = read_scalings(
      R"({"name": "sums", "logit": "q.k", "precision": {"sum": "float16"}},
         {"name": "all", "logit": "q.k", "precision": {"product": "bfloat16", "logit": "tfloat32",
          "exponential": "float8_e4m3fn", "sum": "float32", "weight": "float8_e5m2",
          "sum_order": {"tiles": 128}}},
         {"name": "pairs", "logit": "q.k", "precision": {"sum": "float16", "sum_order": "pairwise"}},
         {"name": "long", "logit": "q.k", "precision": {"product": "float16", "logit": "float16",
          "exponential": "float16", "sum": "float32", "weight": "float16",
          "sum_order": "sequential"}},
         {"name": "wide", "logit": "q.k", "precision": {"logit": "float64"}})");
  PrecisionSteps sums;
  sums.sum = Precision::kFloat16;
  EXPECT_EQ(scalings[0].weights.precision, sums);
  PrecisionSteps all;
  all.product = Precision::kBfloat16;
  all.logit = Precision::kTfloat32;
  all.exponential = Precision::kFloat8E4M3;
  all.sum = Precision::kFloat32;
  all.weight = Precision::kFloat8E5M2;
  all.sum_order = SumOrder::kTiles;
  all.tile_keys = 128;
  EXPECT_EQ(scalings[1].weights.precision, all);
  sums.sum_order = SumOrder::kPairwise;
  EXPECT_EQ(scalings[2].weights.precision, sums);
  EXPECT_EQ(scalings[3].weights.precision, PrecisionSteps(Precision::kFloat16));
  EXPECT_TRUE(scalings[4].weights.precision.is_exact());
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

TEST(ScalingObject, AnEqualNumberIsNotTakenForTheSweptOne) {
  const std::string text = experiment(
      R"({"d": 64, "scalings": [{"name": "x", "logit": "a q.k", "a": 5,
                                 "normaliser": {"sink": [5, 6]}}]})");
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
      {scaling(R"(@"q.k / d")"), at, {R"(write {"name": ..., "logit": "q.k / d"})"}},
      {scaling(R"({"preset": "grok1", "cap": @0})"), at + "/cap", {"found 0", "from 1e-09"}},
      {scaling(R"(@"llama4")"), at, {R"(write {"preset": "llama4", "position": ...})"}},
      {scaling(R"(@{"preset": "yarn"})"), at, {R"("yarn" needs the key "factor")", "longer"}},
      {scaling(R"({"preset": "gpt_oss", "sink": @true})"), at + "/sink", {"found true"}},
      {scaling(R"({"preset": "llama4", @"positon": 3, "position": 3})"),
       at + "/positon",
       {R"(did you mean "position"?)"}},
      {scaling(R"({"name": "x", "logit": "q.k", "preset": @"gemma4"})"),
       at + "/preset",
       {"one of them"}},
      {scaling(R"(@{"name": "x"})"), at, {"needs its formula or a preset"}},
      {scaling(R"(@{"preset": "gemma2_27b", "precision": "float16"})"),
       at,
       {R"(needs a "name" of its own)", R"("my_gemma2_27b")"}},
      {scaling(R"({"name": @"div_d", "logit": "2 q.k"})"),
       at + "/name",
       {"built-in", R"({"preset": "div_d"})"}},
      {scaling(R"(@"qk_clip")"), at, {"in training", R"("logit")"}},
      {scaling(R"(@"QK-clip")"), at, {"in training"}},
      {scaling(R"({"name": "x", "preset": @"sigma_reparam"})"), at + "/preset", {"in training"}},
      {scaling(R"(@"norm_softmax")"), at, {"whole row"}},
      {scaling(R"({"name": "x", "logit": "q.k", "normaliser": @"sink"})"),
       at + "/normaliser",
       {R"({"sink": 0})", R"({"sigmoid": -2})"}},
      {scaling(R"({"name": "x", "logit": "q.k", "normaliser": {"sink": @"0"}})"),
       at + "/normaliser/sink",
       {"expected a number"}},
      {scaling(R"({"name": "x", "logit": "q.k", "precision": @"half"})"),
       at + "/precision",
       {"float16"}},
      {scaling(R"({"name": "x", "logit": "q.k", "precision": {@"sums": "float16"}})"),
       at + "/precision/sums",
       {R"(did you mean "sum"?)"}},
      {scaling(R"({"name": "x", "logit": "q.k", "precision": {"output": @"int8_row"}})"),
       at + "/precision/output",
       {"float8_e4m3fn"}},
      {scaling(R"({"name": "x", "logit": "q.k", "precision": {"sum": @"half"}})"),
       at + "/precision/sum",
       {"float8_e4m3fn"}},
      {scaling(R"({"name": "x", "logit": "q.k",
                   "precision": {"sum": "float16", "sum_order": @"tiles"}})"),
       at + "/precision/sum_order",
       {R"({"tiles": 128})"}},
      {scaling(R"({"name": "x", "logit": "q.k",
                   "precision": {"sum": "float16", "sum_order": {"tiles": @0}}})"),
       at + "/precision/sum_order/tiles",
       {"found 0", "from 1"}},
      {scaling(R"({"name": "x", "logit": "q.k", "precision": {"sum_order": @"pairwise"}})"),
       at + "/precision/sum_order",
       {R"("sum": "float16")"}},
      {scaling(R"({"name": "x", "logit": "q.k", "normaliser": {"sigmoid": 0},
                   "precision": {"logit": "float16", "sum": @"float16"}})"),
       at + "/precision/sum",
       {"on a sigmoid"}},
      {scaling(R"({"name": "x", "logit": "q.k", "precision": "float16",
                   "normaliser": {"sigmoid": 0}, "subtract_max": @false})"),
       at + "/subtract_max",
       {"on a sigmoid"}},
      {scaling(R"({"name": "x", "logit": "q.k", "subtract_max": @false})"),
       at + "/subtract_max",
       {"emulated precisions", R"("precision")"}},
  });
}

// The place is that of the character.
TEST(ScalingObject, SayWhichCharacterOfAFormulaIsWrong) {
  const auto scaling = [](const std::string& item) {
    return experiment(R"({"d": 64, "scalings": [{"name": "x", )" + item + "}]}");
  };
  const std::string at = "/experiments/0/scalings/0";
  expect_refused({
      {scaling(R"json("logit": "q.k / @sqt(d)")json"), at + "/logit", {R"(did you mean "sqrt"?)"}},
      {scaling(R"json("logit": "@caap tanh(q.k / cap)", "cap": 5)json"),
       at + "/logit",
       {"at character 1,", R"(did you mean "cap"?)"}},
      {scaling(R"("logit": "a q.k", "a": "1 + @b")"), at + "/a", {R"("b" is unknown)"}},
      {scaling(R"("logit": "q.k", @"cap": 5)"), at + "/cap", {R"(the formula has no "cap")"}},
      {scaling(R"("logit": "a q.k", "a": "2", @"b": "a")"), at + "/b", {"has no \"b\""}},
      {scaling(R"("logit": "q.k", @"precison": "float16")"),
       at + "/precison",
       {R"(did you mean the key "precision"?)"}},
      {scaling(R"("logit": "d q.k", @"d": 5)"), at + "/d", {"a meaning of its own"}},
      {scaling(R"("logit": "q.k", @"2x": 5)"), at + "/2x", {"begin with no digit"}},
      {scaling(R"("logit": @"a q.k", "a": "b", "b": "a")"), at + "/logit", {"has no end"}},
      {scaling(R"("logit": @5)"), at + "/logit", {"a text"}},
      {scaling(R"("logit": "a q.k", "a": [1, @1])"), at + "/a/1", {"a second time"}},
  });
  expect_refused({{experiment(R"json({"d": 64, "keys": [4, 1], "scalings":
                                  @[{"name": "x", "logit": "q.k / ln(keys)"}]})json"),
                   "/experiments/0/scalings",
                   {"not finite at d = 64 and keys = 1"}}});
}

TEST(ScalingObject, SayHowWideAVectorMayBe) {
  for (const std::string norms :
       {"rms(q, 32).rms(k, 32)", "rms(q, 64.5).rms(k, 65)", "rms(q, 1e300).rms(k, 64)"}) {
    expect_refused(
        {{experiment(R"({"d": 64, "scalings": @[{"name": "x", "logit": ")" + norms + "\"}]}"),
          "/experiments/0/scalings",
          {"an integer from d to 4294967296 numbers", "d = 64"}}});
  }
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
  const auto config_of_keys = [](int keys) {
    return R"({"name": "a", "experiments": [{"d": 64, "sampler": "direct", "scalings":
               [{"preset": "sigmoid", "bias": 0}], "keys": )" +
           std::to_string(keys) + "}]}";
  };
  EXPECT_NO_THROW(parse_config(config_of_keys(131072), "test"));
  EXPECT_THROW(parse_config(config_of_keys(131073), "test"), UserError);
}

}  // namespace
}  // namespace attnscale
