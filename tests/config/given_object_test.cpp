// Given numbers of a config: what they come to, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/read_experiment.h"
#include "support/refused_configs.h"

namespace attnscale {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(GivenObject, ReadsMatricesFromFiles) {
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

TEST(GivenObject, ReadsGivenNumbers) {
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

TEST(GivenObject, NameWhatIsWrongWithGivenNumbers) {
  const std::string at = "/experiments/0/given";
  expect_refused({
      {experiment("{\"given\": {\"scores\": [[1, 2]]}, \"d\": @4}"),
       "/experiments/0/d",
       {"cannot be used with \"given\""}},
      {experiment("{\"given\": {\"scores\": [[1, 2]]}, \"samples\": @4}"),
       "/experiments/0/samples",
       {"\"given\""}},
      {experiment("@{\"given\": {\"scores\": [[1, 2]]}}"),
       "/experiments/0",
       {"div_sqrt_d", "\"d\" inside \"given\""}},
      {experiment("{\"given\": @{}}"), at, {"either \"scores\"", "not a mixture"}},
      {experiment("{\"given\": @{\"queries\": [[1]], \"keys\": [[1]], \"d\": 1}}"),
       at,
       {"not a mixture"}},
      {experiment("{\"given\": @{\"queries\": [[1]]}}"), at, {"\"keys\" is missing"}},
      {experiment("{\"given\": {\"scores\": [[1, @\"2\"]]}}"),
       at + "/scores/0/1",
       {"found \"2\"", "a number"}},
      {experiment("{\"given\": {\"scores\": [@1]}}"),
       at + "/scores/0",
       {"found 1", "a list of numbers"}},
      {experiment("{\"given\": {\"scores\": [[1], @[]]}}"), at + "/scores/1", {"an empty list"}},
      {experiment("{\"given\": {\"queries\": [[1, 2], @[1]], \"keys\": [[1, 2]]}}"),
       at + "/queries/1",
       {"a row of 1", "expected 2"}},
      {experiment("{\"given\": {\"queries\": [[1, 2]], \"keys\": [[1, 2], @[1, 2, 3]]}}"),
       at + "/keys/1",
       {"a row of 3", "expected 2"}},
      {experiment("{\"given\": {\"queries\": [[1]], \"keys\": [[1]], \"values\": @[[1], [2]]}}"),
       at + "/values",
       {"found 2 rows", "1"}},
      {experiment(
           "{\"given\": {\"queries\": [[1]], \"keys\": [[1], [2]], \"values\": [[1], @[2, 3]]}}"),
       at + "/values/1",
       {"a row of 2"}},
  });
}

}  // namespace
}  // namespace attnscale
