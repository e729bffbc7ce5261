#include "experiment/plan.h"

#include <gtest/gtest.h>

#include <set>

#include "experiment/samples.h"
#include "support/drawn_cell.h"

namespace attnscale {
namespace {

Cell only_cell(const Experiment& experiment) {
  const Plan plan = plan_of(experiment);
  EXPECT_EQ(plan.cells.size(), 1U);
  return plan.cells.front();
}

TEST(BlockQueries, AreAsManyAsTheRuleAllows) {
  EXPECT_EQ(block_queries(1, 1), 1024);
  EXPECT_EQ(block_queries(8, 1024), 1024);   // 2^10 2^3 2^10 = 2^23
  EXPECT_EQ(block_queries(64, 1024), 1024);  // exactly 2^26
  EXPECT_EQ(block_queries(65, 1024), 512);   // just above
  EXPECT_EQ(block_queries(1024, 1024), 64);
  EXPECT_EQ(block_queries(1 << 20, 8), 8);
  EXPECT_EQ(block_queries(1 << 20, 1 << 20), 8);  // at least 8, whatever the work
  EXPECT_EQ(block_queries(1 << 20, 1), 64);
}

TEST(BlockQueries, FollowTheRuleAtOddSizes) {
  for (const std::int64_t keys : {1, 3, 7, 100, 1023, 4097, 70001, 1 << 20}) {
    for (const std::int64_t work : {1, 5, 64, 1000, 65537, 1 << 20}) {
      const std::int64_t queries = block_queries(keys, work);
      const auto product = [&](std::int64_t count) { return count * keys * work; };
      EXPECT_EQ(1024 % queries, 0);
      EXPECT_GE(queries, 8);
      EXPECT_TRUE(queries == 8 || product(queries) <= 1 << 26) << keys << " " << work;
      EXPECT_TRUE(queries == 1024 || product(2 * queries) > 1 << 26) << keys << " " << work;
    }
  }
}

TEST(Plan, CutsEveryQueryIntoExactlyOneBlock) {
  for (const std::int64_t queries : {1, 1023, 1024, 1025, 5000}) {
    const Cell cell = only_cell(drawn_experiment("direct", 4, 8, queries));
    std::int64_t total = 0;
    for (std::int64_t block = 0; block < cell.blocks; ++block) {
      EXPECT_GE(cell.queries_in(block), 1);
      EXPECT_LE(cell.queries_in(block), cell.block_queries);
      if (block + 1 < cell.blocks) {
        EXPECT_EQ(cell.queries_in(block), cell.block_queries);
      }
      total += cell.queries_in(block);
    }
    EXPECT_EQ(total, queries);
  }
}

TEST(Plan, CountsTheWorkOfEntriesOnlyWhereTheyAreDrawn) {
  EXPECT_EQ(only_cell(drawn_experiment("boost", 1024, 1024, 100)).block_queries, 64);
  EXPECT_EQ(only_cell(drawn_experiment("direct", 1024, 1024, 100)).block_queries, 1024);
}

TEST(Plan, ListsCellsInConfigOrder) {
  Experiment first = drawn_experiment("boost", 4, 1, 10);
  first.d = {16, 4};
  first.keys = {2, 1};
  Experiment given;
  given.given = Given{};
  const Experiment last = drawn_experiment("boost", 9, 3, 10);
  Config config = config_of(first);
  config.experiments = {first, given, last};

  const Plan plan = make_plan(config);
  ASSERT_EQ(plan.cells.size(), 5U);
  const std::vector<std::vector<std::int64_t>> expected{
      {0, 16, 2}, {0, 16, 1}, {0, 4, 2}, {0, 4, 1}, {2, 9, 3}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(plan.cells[i].experiment, static_cast<std::size_t>(expected[i][0]));
    EXPECT_EQ(plan.cells[i].draw.d, expected[i][1]);
    EXPECT_EQ(plan.cells[i].draw.keys, expected[i][2]);
  }
}

TEST(CellIdentity, DependsOnNothingButWhatIsDrawn) {
  const Experiment asked = drawn_experiment("boost", 16, 8, 100);
  const std::uint64_t identity = only_cell(asked).identity;

  Experiment other = asked;
  other.name = "renamed";
  other.queries = 7;
  other.scalings.pop_back();
  other.metrics = metric_rows({"entropy"});
  other.saturated_above = 0.5;
  other.entries.front().name = "renamed";
  other.d = {4, 1024, 16};
  other.keys = {1, 8};
  Config config = config_of(asked, 99);
  config.experiments = {drawn_experiment("boost", 2, 2, 5), other};
  const Plan plan = make_plan(config);
  EXPECT_EQ(plan.cells.back().draw.d, 16);
  EXPECT_EQ(plan.cells.back().identity, identity);
}

TEST(CellIdentity, DiffersWhereverAnotherThingIsDrawn) {
  const Experiment asked = drawn_experiment("boost", 16, 8, 100);
  std::vector<Experiment> others(6, asked);
  others[0].d = {17};
  others[1].keys = {9};
  others[2].sampler = find_sampler("direct");
  others[3].entries.front().queries.sd = 2;
  others[4].entries.front().keys.sd = 2;
  others[5].entries.front().keys.mean = 1;
  std::set<std::uint64_t> identities{only_cell(asked).identity};
  for (const Experiment& other : others) {
    EXPECT_TRUE(identities.insert(only_cell(other).identity).second);
  }
  // d and keys that read alike side by side
  EXPECT_NE(only_cell(drawn_experiment("boost", 1, 12, 1)).identity,
            only_cell(drawn_experiment("boost", 11, 2, 1)).identity);
}

TEST(Plan, FirstQueriesOfALongerRunAreThoseOfAShorterOne) {
  for (const SamplerRow& sampler : sampler_table()) {
    Experiment asked = drawn_experiment(sampler.name, 3, 4, 1500);
    asked.samples = 1500;
    const Plan shorter = plan_of(asked);
    asked.queries = 4000;
    const Plan longer = plan_of(asked);
    const auto first = *sample_cell(shorter, shorter.cells.front());
    const auto second = *sample_cell(longer, longer.cells.front());
    ASSERT_EQ(first.size(), 3U * 1500);
    ASSERT_EQ(second.size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].values, second[i].values);
  }
}

TEST(ExpectedSeconds, GrowWithTheWork) {
  const auto seconds = [](const Experiment& experiment) {
    return expected_seconds(plan_of(experiment)).front();
  };
  const double small = seconds(drawn_experiment("boost", 16, 8, 1000));
  EXPECT_GT(small, 0);
  EXPECT_DOUBLE_EQ(seconds(drawn_experiment("boost", 16, 8, 3000)), 3 * small);
  EXPECT_GT(seconds(drawn_experiment("boost", 32, 8, 1000)), small);
  EXPECT_DOUBLE_EQ(seconds(drawn_experiment("direct", 32, 8, 1000)),
                   seconds(drawn_experiment("direct", 16, 8, 1000)));
  // Sixteen entries more of each of 1,000 queries and their 8 keys.
  EXPECT_NEAR(seconds(drawn_experiment("boost", 32, 8, 1000)) - small,
              16 * 9 * 1000 * find_sampler("boost")->nanoseconds * 1e-9, 1e-9 * small);
}

TEST(KeyOf, NamesTheCellAndTheScaling) {
  Experiment asked = drawn_experiment("boost", 16, 8, 100);
  asked.entries.front().value = 2.5;
  const Plan plan = plan_of(asked, 42);
  const Scaling scaling{"sweep", 0.25};
  EXPECT_EQ(key_of(plan, plan.cells.front(), scaling),
            (ResultKey{"test", 42, "drawn", "normal", 2.5, 16, 8, "sweep", 0.25}));
}

}  // namespace
}  // namespace attnscale
