// `--set PATH=VALUE` reaches what its path names, and its result passes the checks of a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/config.h"
#include "config/user_error.h"

namespace attnscale {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kConfig = R"({
  "name": "a",
  "experiments": [
    {"name": "one.two", "d": 4, "keys": 2, "scalings": [{"name": "x", "logit": "m q.k", "m": 2}]},
    {"d": 8, "keys": 2},
    {"name": "numbers", "given": {"scores": [[2, 1, 0]], "d": 4}}
  ]
})";

Config with(const std::vector<std::string>& settings) {
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
  return parse_config(kConfig, "file.json", overrides).config;
}

std::string refusal(const std::string& setting) {
  try {
    with({setting});
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Override, SplitsAtTheFirstEqualsSign) {
  EXPECT_EQ(parse_override("a=b=c").path, "a");
  EXPECT_EQ(parse_override("a=b=c").value, "b=c");
  EXPECT_EQ(parse_override("a=").value, "");
  EXPECT_THROW(parse_override("queries"), UserError);
  EXPECT_THROW(parse_override("=3"), UserError);
}

TEST(Override, FollowsAJsonPointer) {
  EXPECT_THAT(with({"/experiments/0/d=[16,64]"}).experiments[0].d, ElementsAre(16, 64));
  EXPECT_EQ(
      with({"/experiments/0/scalings/0/m=5"}).experiments[0].scalings[0].numbers[0].second.number(),
      5);
  EXPECT_EQ(with({"/experiments/2/given/scores/0/1=7"}).experiments[2].given->scores.rows[0][1], 7);
}

TEST(Override, SaysWhatIsWhereNoKeyCanBeAdded) {
  EXPECT_THAT(refusal("/experiments/0/d/from=3"),
              AllOf(HasSubstr("/experiments/0/d is 4, which has no \"from\""),
                    HasSubstr("set the whole of /experiments/0/d to an object that has it")));
}

TEST(Override, MayAddAKeyButNoParent) {
  EXPECT_EQ(with({"/experiments/1/samples=9"}).experiments[1].samples, 9);
  EXPECT_THAT(refusal("/experiments/1/given/d=9"),
              HasSubstr("there is nothing at /experiments/1/given"));
  EXPECT_THAT(refusal("/experiments/3=9"), HasSubstr("the list has 3"));
  EXPECT_THAT(refusal("/experiments/00/d=9"), HasSubstr("there is nothing at /experiments/00"));
  EXPECT_THAT(refusal("/name/x=9"), HasSubstr("/name is \"a\""));
}

TEST(Override, SetsATopLevelKey) {
  EXPECT_EQ(with({"seed=42"}).seed, 42U);
  EXPECT_EQ(with({"reference=off"}).reference, ReferenceMode::kOff);
  EXPECT_EQ(with({"name=b"}).name, "b");
}

TEST(Override, SetsAKeyOfOneExperimentByItsName) {
  const Config config =
      with({"one.two.d=16", "experiment_2.keys=[4,8]", "numbers.scalings=[\"none\"]"});
  EXPECT_THAT(config.experiments[0].d, ElementsAre(16));
  EXPECT_THAT(config.experiments[1].keys, ElementsAre(4, 8));
  EXPECT_EQ(config.experiments[2].scalings.size(), 1U);
}

TEST(Override, SetsABareKeyInEveryDrawnExperiment) {
  const Config config = with({"queries=1e3"});
  EXPECT_EQ(config.experiments[0].queries, 1000);
  EXPECT_EQ(config.experiments[1].queries, 1000);
  EXPECT_EQ(config.experiments[2].queries, 0);
}

TEST(Override, OfTheSamplerReachesExperimentsThatNameTheirOwn) {
  const std::string name(sampler_table().back().name);
  const std::string text = R"({"name": "a", "experiments": [{"d": 4, "sampler": ")" +
                           std::string(sampler_table().front().name) + R"("}, {"d": 4}]})";
  const Config config = parse_config(text, "test", {{"sampler", name}}).config;
  EXPECT_EQ(config.experiments[0].sampler, &sampler_table().back());
  EXPECT_EQ(config.experiments[1].sampler, &sampler_table().back());
}

TEST(Override, TheLaterOfTwoHolds) {
  EXPECT_EQ(with({"queries=10", "experiment_2.queries=20", "queries=30"}).experiments[1].queries,
            30);
}

TEST(Override, TakesWhatIsNotJsonForAText) {
  EXPECT_EQ(with({"description=two words"}).description, "two words");
  EXPECT_EQ(with({"description=\"quoted\""}).description, "quoted");
  EXPECT_EQ(with({"description="}).description, "");
  EXPECT_THAT(refusal("d=[4,"), HasSubstr("found \"[4,\""));
}

TEST(Override, PassesTheChecksOfAFileAndNamesItself) {
  EXPECT_THAT(refusal("d=[3.9]"), StartsWith("--set d=[3.9]: /experiments/0/d/0: found 3.9"));
  EXPECT_THAT(refusal("numbers.d=4"), StartsWith("--set numbers.d=4: /experiments/2/d: "));
  EXPECT_THAT(refusal("metrics=[\"slop\"]"), HasSubstr("did you mean \"slope\"?"));
  EXPECT_THAT(refusal("d={\"from\":1,\"from\":2}"), HasSubstr("duplicate key \"from\""));
  EXPECT_THAT(refusal("one.two.kes=4"), HasSubstr("/experiments/0/kes: unknown key \"kes\""));
}

TEST(Override, SuggestsTheNearestPath) {
  EXPECT_THAT(refusal("querys=4"),
              AllOf(StartsWith("--set querys=4: "), HasSubstr("\"queries\"?")));
  EXPECT_THAT(refusal("numers.d=4"), HasSubstr("did you mean \"numbers\"?"));
  for (const std::string path : {"law", "laws", "lawz"}) {
    EXPECT_THAT(refusal(path + "=laplace"), HasSubstr("did you mean entries=laplace?"));
  }
}

TEST(Override, SaysHowAKeyWithinAnObjectIsSet) {
  EXPECT_THAT(refusal("given.d=9"),
              HasSubstr("a key within \"given\" is set by a JSON Pointer: write "
                        "/experiments/2/given/d=9"));
}

TEST(Override, NamesAnExperimentWhoseNumbersAreGivenIfNoneIsDrawn) {
  const std::string text =
      R"({"name": "a", "experiments": [{"given": {"scores": [[2, 1, 0]], "d": 4}}]})";
  try {
    parse_config(text, "test", {{"metrics", "all"}});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no experiment is drawn; use experiment_1.metrics"));
  }
}

}  // namespace
}  // namespace attnscale
