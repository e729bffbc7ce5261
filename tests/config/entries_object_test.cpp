// The key `entries` of a config: what it comes to, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/read_experiment.h"
#include "support/refused_configs.h"

namespace attnscale {
namespace {

using ::testing::ElementsAre;

TEST(EntriesObject, SweepsOneNumberOfTheEntries) {
  const Experiment experiment =
      read_one(R"({"d": 4, "entries": ["normal", {"name": "wide", "mean": 1, "sd": [2, 3]}]})");
  ASSERT_EQ(experiment.entries.size(), 3U);
  const Law wide{find_law("normal"), {}, 1, 3};
  EXPECT_EQ(experiment.entries[2], (Entries{"wide", 3.0, wide, wide}));
}

TEST(EntriesObject, ReadsALawOfEachSide) {
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

TEST(EntriesObject, SweepsTheAlignment) {
  const Experiment experiment =
      read_one(R"({"d": 4, "keys": 8, "entries": {"alignment": [0, 0.5], "aligned_keys": 2}})");
  const Law normal{find_law("normal"), {}, 0, 1};
  EXPECT_THAT(experiment.entries, ElementsAre(Entries{"normal", 0.0, normal, normal, 0, 2},
                                              Entries{"normal", 0.5, normal, normal, 0.5, 2}));
}

TEST(EntriesObject, SayWhatALawNeeds) {
  const std::string at = "/experiments/0/entries";
  expect_refused({
      {experiment(R"({"d": 4, "entries": @"student_t"})"),
       at,
       {"needs a number; write {\"law\": \"student_t\", \"nu\": ...}"}},
      {experiment(R"({"d": 4, "entries": @"outlier"})"),
       at,
       {"write {\"law\": \"outlier\", \"p\": ..., \"outlier_sd\": ...}"}},
      {experiment(R"({"d": 4, "entries": @{"law": "student_t"}})"),
       at,
       {"needs the key \"nu\"", "degrees of freedom"}},
      {experiment(R"({"d": 4, "entries": {"law": "student_t", "nu": @2}})"),
       at + "/nu",
       {"found 2", "a number above 2", "the spread is infinite", "write more than 2, such as 2.1"}},
      {experiment(R"({"d": 4, "entries": {"law": "sparse", "p": @0}})"),
       at + "/p",
       {"above 0 and at most 1"}},
      {experiment(R"({"d": 4, "entries": {"law": "laplace", @"nu": 5}})"),
       at + "/nu",
       {"unknown key \"nu\""}},
      {experiment(R"({"d": 4, "entries": @{"keys": "normal"}})"),
       at,
       {"\"queries\" is missing", "{\"queries\": \"rademacher\", \"keys\": \"normal\"}"}},
      {experiment(R"({"d": 4, "entries": {"queries": "normal", "keys": "normal", "sd": @2}})"),
       at + "/sd",
       {"cannot be used with \"queries\" and \"keys\"", "write it inside them"}},
      {experiment(R"({"d": 4, "entries": {"queries": {"law": "student_t", "nu": @1},
                                          "keys": "normal"}})"),
       at + "/queries/nu",
       {"above 2"}},
      {experiment(R"({"d": 4, "entries": {"queries": {@"name": "x"}, "keys": "normal"}})"),
       at + "/queries/name",
       {"unknown key \"name\""}},
  });
}

TEST(EntriesObject, SayHowManyKeysCanBeAligned) {
  const std::string at = "/experiments/0/entries";
  expect_refused({
      {experiment(R"({"d": 4, "keys": [2, 8], "entries": @{"alignment": 0.5, "aligned_keys": 3}})"),
       at,
       {"3 aligned keys, but a query has only 2 keys"}},
      {experiment(R"({"d": 4, "entries": {"alignment": @-1.01}})"),
       at + "/alignment",
       {"a number from -1 to 1"}},
      {experiment(R"({"d": 4, "keys": 8, "entries": {"aligned_keys": @0}})"),
       at + "/aligned_keys",
       {"an integer from 1"}},
      {experiment(R"({"d": 4, "keys": 8, "metrics": [@"aligned_top"]})"),
       "/experiments/0/metrics/0",
       {"needs to know which keys are aligned", "{\"alignment\": 0.3, \"aligned_keys\": 1}"}},
      {experiment(R"({"given": {"scores": [[1, 2]]}, "metrics": [@"aligned_weight"]})"),
       "/experiments/0/metrics/0",
       {"cannot be used with \"given\""}},
  });
}

}  // namespace
}  // namespace attnscale
