// Every way a config can be wrong is told with line, column, JSON Pointer, what was found and what
// to write instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/user_error.h"
#include "support/refused_configs.h"
#include "support/scratch_folder.h"

namespace attnscale {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ConfigErrors, NameTheFirstThingThatIsNotJson) {
  expect_refused({
      {"@", "", {"empty"}},
      {"@ \n\n", "", {"empty"}},
      {"{@", "", {"ends too early", "or }", "line 1, column 1"}},
      {"{\n \"name\": \"a\",\n@}", "", {"a comma before }; remove it"}},
      {"{\"name\": [1,@]}", "", {"a comma before ]; remove it"}},
      {"[1,@,2]", "", {"two commas"}},
      {"{\"name\": \"a\"\n  @\"seed\": 1}", "", {"a comma is missing"}},
      {"{\"name\" @\"a\"}", "", {"a colon is missing"}},
      {"{@'name': \"a\"}", "", {"double quotes"}},
      {"{@name: \"a\"}", "", {"found name", "double quotes"}},
      {"{\"name\": @NaN}", "", {"found NaN"}},
      {"{\"name\": @True}", "", {"found True"}},
      {"{\"name\": @truely}", "", {"found truely"}},
      {"{\"seed\": @01}", "", {"found 01", "not a JSON number"}},
      {"{\"seed\": @1.5.2}", "", {"found 1.5.2", "not a JSON number"}},
      {"{\"seed\": @.5}", "", {"found .5", "not a JSON number"}},
      {"{\"seed\": @1e999}", "", {"1e999 is too large"}},
      {"{\"name\": @\"a}", "", {"not closed"}},
      {"{\"name\": @\"a\n\"}", "", {"not closed on its line"}},
      {"{\"name\": \"a@\\q\"}", "", {"unknown escape \\q"}},
      {"{\"name\": \"a@\\u12g4\"}", "", {"four hexadecimal digits"}},
      {"{\"name\": \"a@\tb\"}", "", {"control character", "0x09"}},
      {"{\"name\": @\"\xff\"}", "", {"not valid UTF-8"}},
      {"{\"name\": @\"\\ud800\"}", "", {"\\u pair"}},
      {"{\"name\": [1@}", "", {"found }; expected a comma or ]", "list that starts"}},
      {"{\"name\": \"a\"} @x", "", {"after the end"}},
      {"{\"name\": \"a\" @/* b}", "", {"comment is not closed"}},
      {"@\xEF\xBB\xBF{}", "", {"byte order mark", "UTF-8 without"}},
      {"@\xFF\xFE{", "", {"UTF-16"}},
  });
}

TEST(ConfigErrors, RefuseAByteOfZeroAndWhatFollowsIt) {
  EXPECT_THAT(message_of(experiment("{\"d\": 4}") + std::string("\0x", 2)), HasSubstr("NUL"));
}

TEST(ConfigErrors, RefuseDeepNestingBeforeItHurts) {
  expect_refused({{std::string(64, '[') + "@" + std::string(100'000, '['), "", {"more than 64"}}});
}

TEST(ConfigErrors, CountColumnsInCharacters) {
  EXPECT_THAT(message_of("{\"description\": \"d\xC3\xA9j\xC3\xA0\", \"nam\": 1}"),
              StartsWith("bad.json:1:25: /nam: "));
}

TEST(ConfigErrors, NameWrongKeysAndTypesAtTheTop) {
  const std::string rest = ", \"name\": \"a\", \"experiments\": [{\"d\": 4}]}";
  expect_refused({
      {"@[]", "", {"found an empty list", "expected an object", "experiments"}},
      {"@{\"experiments\": [{\"d\": 4}]}", "", {"\"name\" is missing"}},
      {"@{\"name\": \"a\"}", "", {"\"experiments\" is missing"}},
      {"{@\"sead\": 1" + rest, "/sead", {"unknown key \"sead\"", "did you mean \"seed\"?"}},
      {"{@\"queries\": 1" + rest, "/queries", {"\"queries\" is a key of an experiment"}},
      {"{@\"zzz\": 1" + rest, "/zzz", {"unknown key \"zzz\"", "Allowed: $schema, name"}},
      {"{\"seed\": 1, @\"seed\": 2" + rest, "/seed", {"duplicate key \"seed\"", "line 1"}},
      {"{\"seed\": @-1" + rest, "/seed", {"found -1", "from 0 to 9007199254740991"}},
      {"{\"seed\": @9007199254740991.4" + rest, "/seed", {"found 9007199254740991.4"}},
      {"{\"seed\": @1e-400" + rest, "/seed", {"found 1e-400", "an integer"}},
      {"{\"seed\": @12.5e0" + rest, "/seed", {"found 12.5e0", "an integer"}},
      {"{\"seed\": @9007199254740992" + rest, "/seed", {"found 9007199254740992"}},
      {"{\"seed\": @99999999999999999999999" + rest, "/seed", {"found 99999999999999999999999"}},
      {"{\"seed\": @0.5" + rest, "/seed", {"found 0.5", "an integer"}},
      {"{\"seed\": @true" + rest, "/seed", {"found true", "an integer"}},
      {"{\"seed\": @\"1\"" + rest, "/seed", {"found \"1\"", "an integer"}},
      {"{\"seed\": @null" + rest, "/seed", {"found null", "an integer"}},
      {"{\"sampler\": @\"bost\"" + rest, "/sampler", {"did you mean \"boost\"?"}},
      {"{\"reference\": @\"of\"" + rest, "/reference", {"\"off\"", "Allowed: auto, off"}},
      {"{\"reference\": @false" + rest, "/reference", {"found false", "auto, off"}},
      {"{\"description\": @[\"a\"]" + rest, "/description", {"found a list", "a text"}},
      {"{\"$schema\": @1" + rest, "/$schema", {"found 1", "a text"}},
      {"{\"name\": @\"a b\", \"experiments\": []}", "/name", {"found \"a b\"", "letters"}},
      {"{\"name\": @\"../a\", \"experiments\": []}", "/name", {"found \"../a\""}},
      {"{\"name\": @\"\xC3\xA9t\xC3\xA9\", \"experiments\": []}", "/name", {"a-z"}},
      {"{\"name\": \"a\", \"experiments\": @[]}", "/experiments", {"an empty list"}},
      {"{\"name\": \"a\", \"experiments\": @{\"d\": 4}}", "/experiments", {"an object", "a list"}},
  });
}

TEST(ConfigErrors, NameWrongNumbersOfAnExperiment) {
  const std::string at = "/experiments/0/";
  expect_refused({
      {experiment("@{\"keys\": 8}"), "/experiments/0", {"\"d\" is missing", "Head size"}},
      {experiment("@4"), "/experiments/0", {"found 4", "an object"}},
      {experiment("{\"d\": 4, @\"qeries\": 1}"), at + "qeries", {"did you mean \"queries\"?"}},
      {experiment("{\"d\": 4, @\"reference\": \"off\"}"),
       at + "reference",
       {"\"reference\" holds for all experiments", "beside \"experiments\""}},
      {experiment("{\"d\": 4, @\"seed\": 1}"), at + "seed", {"holds for all experiments"}},
      {experiment("{\"d\": 4, @\"d\": 8}"), at + "d", {"duplicate key \"d\""}},
      {experiment("{\"d\": @3.9}"),
       at + "d",
       {"found 3.9", "an integer from 1", "the limit of the sampler"}},
      {experiment("{\"d\": @-5}"), at + "d", {"found -5"}},
      {experiment("{\"d\": @true}"), at + "d", {"found true"}},
      {experiment("{\"d\": @\"4\"}"), at + "d", {"found \"4\"", "a list", "a range"}},
      {experiment("{\"d\": @[]}"), at + "d", {"found an empty list"}},
      {experiment("{\"d\": [4, @4.0]}"), at + "d/1", {"found 4.0 a second time"}},
      {experiment("{\"d\": [4, @[8]]}"), at + "d/1", {"found a list"}},
      {experiment("{\"sampler\": \"boost\", \"d\": @2000000}"),
       at + "d",
       {"to 1048576 (the limit of the sampler \"boost\")"}},
      {experiment("{\"d\": @{\"from\": 4}}"), at + "d", {"\"to\" is missing"}},
      {experiment("{\"d\": @{\"from\": 4, \"to\": 8}}"), at + "d", {"exactly one"}},
      {experiment("{\"d\": @{\"from\": 4, \"to\": 8, \"step\": 1, \"times\": 2}}"),
       at + "d",
       {"both \"times\" and \"step\""}},
      {experiment("{\"d\": {\"from\": 4, \"to\": 8, @\"tims\": 2}}"),
       at + "d/tims",
       {"did you mean \"times\"?"}},
      {experiment("{\"d\": {\"from\": 4, \"to\": 8, \"times\": @1.5}}"),
       at + "d/times",
       {"found 1.5", "an integer"}},
      {experiment("{\"d\": {\"from\": 4, \"to\": 8, \"times\": @1}}"),
       at + "d/times",
       {"found 1;", "above 1"}},
      {experiment("{\"d\": @{\"from\": 8, \"to\": 4, \"step\": 1}}"), at + "d", {"from 8 to 4"}},
      {experiment("{\"d\": {\"from\": 4, \"to\": 8, \"step\": @0}}"), at + "d/step", {"found 0"}},
      {experiment("{\"d\": {\"from\": @0, \"to\": 8, \"step\": 1}}"), at + "d/from", {"found 0"}},
      {experiment("{\"d\": @{\"from\": 1, \"to\": 60000, \"step\": 1}}"),
       at + "d",
       {"at most 10000"}},
      {experiment("{\"d\": 4, \"keys\": @0}"), at + "keys", {"found 0", "from 1"}},
      {experiment("{\"d\": 4, \"queries\": @2e15}"), at + "queries", {"to 1000000000000000"}},
      {experiment("{\"d\": 4, \"saturated_above\": @1}"),
       at + "saturated_above",
       {"above 0 and below 1"}},
      {experiment("{\"d\": 4, \"queries\": 10, \"samples\": @11}"),
       at + "samples",
       {"at most the number of queries, 10"}},
      {experiment("{\"d\": 4, \"queries\": 1e9, \"samples\": @1e9}"),
       at + "samples",
       {"3000000000 lines", "bytes", "at most 10000000 lines"}},
  });
}

TEST(ConfigErrors, NameUnknownAndRepeatedNames) {
  const std::string at = "/experiments/0/";
  expect_refused({
      {experiment("{\"d\": 4, \"metrics\": [@\"top_wieght\"]}"),
       at + "metrics/0",
       {"unknown metric \"top_wieght\"; did you mean \"top_weight\"?",
        "Allowed: logit_mean, logit_sd"}},
      {experiment("{\"d\": 4, \"metrics\": @4}"), at + "metrics", {"\"all\""}},
      {experiment("{\"d\": 4, \"metrics\": @[]}"), at + "metrics", {"an empty list"}},
      {experiment("{\"d\": 4, \"metrics\": [\"slope\", @\"slope\"]}"),
       at + "metrics/1",
       {"a second time"}},
      {experiment("{\"d\": 4, \"scalings\": [@\"div_sqrt\"]}"),
       at + "scalings/0",
       {"\"div_sqrt_d\"?"}},
      {experiment("{\"d\": 4, \"scalings\": [\"none\", @\"none\"]}"),
       at + "scalings/1",
       {"names must differ"}},
      {experiment("{\"d\": 4, \"scalings\": [@{\"logit\": \"2 q.k\"}]}"),
       at + "scalings/0",
       {"needs a \"name\""}},
      {experiment("{\"d\": 4, \"scalings\": [{\"name\": @\"div_d\", \"logit\": \"q.k\"}]}"),
       at + "scalings/0/name",
       {"choose another"}},
      {experiment(
           "{\"d\": 4, \"scalings\": [{\"name\": \"x\", \"logit\": \"q.k\", @\"normalizer\": 2}]}"),
       at + "scalings/0/normalizer",
       {"the formula has no \"normalizer\"", "did you mean the key \"normaliser\"?"}},
      {experiment(
           "{\"d\": 4, \"scalings\": [{\"name\": \"x\", \"logit\": \"q.k * d^p\", \"p\": @true}]}"),
       at + "scalings/0/p",
       {"found true", "expected a number"}},
      {experiment("{\"d\": 4, \"scalings\": [@{\"name\": \"x\", \"logit\": \"m q.k * d^p\", "
                  "\"m\": [1, 2], \"p\": [0]}]}"),
       at + "scalings/0",
       {"only one may be"}},
      {experiment("{\"d\": 4, \"entries\": @\"norml\"}"),
       at + "entries",
       {"did you mean \"normal\"?"}},
      {experiment("{\"d\": 4, \"entries\": {\"law\": @\"norml\"}}"),
       at + "entries/law",
       {"\"normal\"?"}},
      {experiment("{\"d\": 4, \"entries\": {\"sd\": @0}}"), at + "entries/sd", {"from 1e-70"}},
      {experiment("{\"d\": 4, \"entries\": {@\"nu\": 5}}"),
       at + "entries/nu",
       {"unknown key \"nu\""}},
      {experiment("{\"d\": 4, \"sampler\": \"direct\", \"entries\": @{\"mean\": 1}}"),
       at + "entries",
       {"\"direct\" has no rule for the law \"normal\" with mean 1", "vectors, boost"}},
      {experiment("{\"d\": 4, \"entries\": [\"normal\", @{\"sd\": 1}]}"),
       at + "entries/1",
       {"names must differ"}},
      {experiment(R"({"d": 4, "sampler": "direct",
                      "entries": @{"queries": "normal", "keys": "laplace"}})"),
       at + "entries",
       {"queries of the law \"normal\"", "keys of the law \"laplace\"", "vectors, boost"}},
      {experiment("{\"d\": 4, \"metrics\": [\"slope\"], \"histogram\": [@\"entropy\"]}"),
       at + "histogram/0",
       {"not one of the metrics"}},
      {experiment("{\"d\": 4}, {\"d\": 4, \"name\": @\"experiment_1\"}"),
       "/experiments/1/name",
       {"names must differ"}},
  });
}

TEST(ConfigErrors, SayWhatIsWrongWithAFile) {
  const auto message = [](const std::string& file) -> std::string {
    try {
      load_config(file);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  const ScratchFolder folder;
  const std::string missing = (folder / "missing.json").string();
  EXPECT_THAT(message(missing), StartsWith(missing + ": cannot be read: No such file"));
  EXPECT_THAT(message(folder.path().string()), HasSubstr("is a folder"));
  put(folder / "empty.json", "");
  EXPECT_THAT(message((folder / "empty.json").string()),
              HasSubstr("empty.json:1:1: the file is empty"));
}

TEST(ConfigErrors, BoundTheNumberOfExperiments) {
  const auto many = [](int count) {
    std::string text = "{\"d\": 4}";
    for (int i = 1; i < count; ++i) text += ",{\"d\": 4}";
    return experiment(text);
  };
  EXPECT_EQ(message_of(many(10'000)), "accepted");
  EXPECT_THAT(message_of(many(10'001)),
              AllOf(HasSubstr("/experiments: found 10001 experiments; at most 10000"),
                    HasSubstr("a list of")));
}

TEST(ConfigErrors, AreFoundQuicklyInALargeConfig) {
  std::string rows = "[1";
  for (int i = 0; i < 100'000; ++i) rows += ", 0.5";
  const std::string text = experiment("{\"given\": {\"scores\": [" + rows + ", \"x\"]]}}");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(message_of(text), HasSubstr("/experiments/0/given/scores/0/100001: found \"x\""));
  // A hundred times the promise of 0.1 s: a sanitised build on a busy machine is nearly that slow.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

// Cells x scalings x metrics, of one experiment or of all; two sizes have three times as many
// crossings as top weights.
TEST(ConfigErrors, CountTheLinesOfFilesBeforeAnythingIsPlanned) {
  const auto swept = [](const std::string& d, const std::string& keys, const std::string& scalings,
                        const std::string& metrics) {
    const auto range = [](int from, const std::string& to) {
      return "{\"from\": " + std::to_string(from) + ", \"to\": " + to + ", \"step\": 1}";
    };
    return "{\"d\": " + range(1, d) + ", \"keys\": " + range(1, keys) +
           ", \"scalings\": [{\"name\": \"m\", \"logit\": \"m q.k\", \"m\": " + range(1, scalings) +
           "}], \"metrics\": [" + metrics + "]}";
  };
  const std::string most = swept("1000", "10", "1000", "\"logit_mean\"");
  EXPECT_EQ(message_of(experiment(most)), "accepted");
  EXPECT_THAT(message_of(experiment(swept("10000", "100", "10000", "\"logit_mean\""))),
              HasSubstr("summary.csv would have 10000000000 lines; at most 10000000"));
  EXPECT_THAT(message_of(experiment(swept("1000", "10", "1000", "\"logit_mean\", \"logit_sd\""))),
              HasSubstr("summary.csv would have 20000000 lines"));
  EXPECT_THAT(message_of(experiment(most + ", {\"d\": 1, \"metrics\": [\"logit_mean\"]}")),
              HasSubstr("/experiments/1: with this experiment summary.csv would have 10000003"));
  // A pole between the ends of a sweep of many lines is found as one of few.
  EXPECT_THAT(
      message_of(experiment("{\"d\": {\"from\": 490, \"to\": 510, \"step\": 1}, \"keys\": 2, "
                            "\"scalings\": [{\"name\": \"m\", \"logit\": \"m q.k / (d - 500)\", "
                            "\"m\": {\"from\": 1, \"to\": 6000, \"step\": 1}}]}")),
      HasSubstr("is not finite at d = 500"));
  EXPECT_THAT(message_of(experiment(swept("2", "1000", "4000", "\"top_weight\""))),
              HasSubstr("crossings.csv would have 24000000 lines"));
}

// A double keeps 53 bits from 2.2e-308 on.
TEST(ConfigErrors, RefuseLogitsThatWouldLoseDigits) {
  const auto scaling = [](const std::string& text, const std::string& rest = "") {
    return "{\"name\": \"a\", \"experiments\": [{\"d\": 16, \"scalings\": @[{\"name\": \"s\", "
           "\"logit\": \"" +
           text + "\"}]" + rest + "}]}";
  };
  const std::string at = "/experiments/0/scalings";
  expect_refused({
      {scaling("1e-305 q.k"), at, {"\"s\"", "by 1e-305 at d = 16", "from 1e-300"}},
      {scaling("1e-300 (0.001 q).(0.001 k)"), at, {"spread of about"}},
      {scaling("1e-300 d^-8 q.k"), at, {"spread of about"}},
      {scaling("1e-301 tanh(q.k / 1e-301)"), at, {"a spread of about 1e-301"}},
      {scaling("1e-200 q.k", ", \"entries\": {\"sd\": 1e-60}"), at, {"4e-320"}},
  });
  EXPECT_EQ(parse_config(R"({"name": "a", "experiments": [{"d": 16, "scalings":
      [{"name": "zero", "logit": "0 q.k"}, {"name": "s", "logit": "1e-300 q.k"}]}]})",
                         "a.json")
                .config.experiments.size(),
            1U);
}

}  // namespace
}  // namespace attnscale
