// The quantile columns and histograms of a run against the sorted values they stand for, whatever
// order blocks are merged in.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "experiment/histogram.h"
#include "support/drawn_cell.h"

namespace attnscale {
namespace {

const std::vector<std::string_view> kPerQuery{"top_weight", "slope",        "score_slope",
                                              "entropy",    "sum_p2",       "margin",
                                              "max_logit",  "jacobian_norm"};

struct Sorted {
  std::vector<double> values;
  std::vector<double> complements;  // descending; empty for metrics that have none
};

class MeasuredQueries {
 public:
  explicit MeasuredQueries(std::int64_t queries) {
    Experiment experiment = drawn_experiment("direct", 64, 8, queries);
    experiment.scalings.resize(2);
    experiment.metrics = metric_rows(kPerQuery);
    experiment.histogram = histogram_quantities({"top_weight", "slope", "entropy", "margin"});
    plan = plan_of(experiment);
    for (std::int64_t block = 0; block < cell().blocks; ++block) {
      blocks.push_back(*measure_block(experiment, cell(), plan.config.seed, block));
    }
  }

  Sorted sorted(std::size_t scaling, std::size_t metric) const {
    Sorted sorted;
    for (const BlockValues& block : blocks) {
      const auto& values = block.metrics[scaling][metric];
      const auto& rest = block.complements[scaling][metric];
      sorted.values.insert(sorted.values.end(), values.begin(), values.end());
      sorted.complements.insert(sorted.complements.end(), rest.begin(), rest.end());
    }
    std::sort(sorted.values.begin(), sorted.values.end());
    std::sort(sorted.complements.begin(), sorted.complements.end(), std::greater<>());
    return sorted;
  }

  /// Counts of all blocks, in pairs of pairs from the end, as another schedule would merge them.
  CellCounts merged_in_pairs() const {
    std::vector<CellCounts> counts(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) counts[i].add(blocks[blocks.size() - 1 - i]);
    for (std::size_t step = 1; step < counts.size(); step *= 2) {
      for (std::size_t i = 0; i + step < counts.size(); i += 2 * step) {
        counts[i + step].merge(counts[i]);
        std::swap(counts[i], counts[i + step]);
      }
    }
    return counts.front();
  }

  CellCounts merged_in_order() const {
    CellCounts counts;
    for (const BlockValues& block : blocks) counts.add(block);
    return counts;
  }

  const Cell& cell() const { return plan.cells.front(); }

  Plan plan;
  std::vector<BlockValues> blocks;
};

std::size_t place_of_rank(double q, std::size_t count) {
  return static_cast<std::size_t>(std::ceil(q * static_cast<double>(count))) - 1;
}

void expect_quantiles(const MeasuredQueries& measured) {
  CellTally tally{{}, measured.merged_in_order()};
  FoldTree tree;
  for (std::size_t i = 0; i < measured.blocks.size(); ++i) {
    tree.add({0, static_cast<std::int64_t>(i)}, moments_of(measured.blocks[i]));
  }
  tally.moments = tree.fold();
  ExactValues off(ReferenceMode::kOff);
  const auto rows = estimate_cell(measured.plan, measured.cell(), tally, off);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ResultRow& row = rows[i];
    SCOPED_TRACE(row.key.scaling + " " + row.metric);
    const Sorted sorted = measured.sorted(i / kPerQuery.size(), i % kPerQuery.size());
    EXPECT_EQ(row.min, sorted.values.front());
    EXPECT_EQ(row.max, sorted.values.back());
    const std::vector<std::pair<double, double>> quantiles{
        {0.05, row.q05.value()}, {0.5, row.median.value()}, {0.95, row.q95.value()}};
    for (const auto& [q, column] : quantiles) {
      const std::size_t place = place_of_rank(q, sorted.values.size());
      const double exact = sorted.values[place];
      if (sorted.complements.empty() || exact <= 0.5) {
        EXPECT_NEAR(column, exact, exact / 128) << q;
      } else {
        // Of the complement; the double 1 - complement itself is a rounding away.
        EXPECT_NEAR(1 - column, sorted.complements[place], sorted.complements[place] / 128 + 2e-16)
            << q;
      }
    }
  }
}

void expect_same_whatever_the_order(const MeasuredQueries& measured) {
  EXPECT_EQ(measured.merged_in_order(), measured.merged_in_pairs());
}

// Every line of a histogram holds as many queries as have a value between its edges, and none is
// lost.
void expect_histograms(const MeasuredQueries& measured) {
  const auto lines =
      histogram_cell(measured.plan, measured.cell(), measured.merged_in_pairs().histograms);
  std::map<std::pair<std::string, std::string>, std::int64_t> totals;
  std::map<std::pair<std::string, std::string>, std::vector<double>> sorted;
  for (const HistogramRow& line : lines) {
    const std::pair quantity{line.key.scaling, line.metric};
    if (!sorted.contains(quantity)) {
      const auto metric = std::find(kPerQuery.begin(), kPerQuery.end(), line.metric);
      sorted[quantity] = measured
                             .sorted(line.key.scaling == "none" ? 0 : 1,
                                     static_cast<std::size_t>(metric - kPerQuery.begin()))
                             .values;
    }
    const std::vector<double>& values = sorted[quantity];
    const bool in_log10 = line.metric == "slope";
    const auto below = [&](const std::optional<double>& edge, double otherwise) {
      if (!edge) return otherwise;
      const double value = in_log10 ? std::pow(10.0, *edge) : *edge;
      return static_cast<double>(std::lower_bound(values.begin(), values.end(), value) -
                                 values.begin());
    };
    const auto all = static_cast<double>(values.size());
    // A value on an edge may be counted on either side where the edge is a rounded power of ten.
    EXPECT_NEAR(static_cast<double>(line.count), below(line.bin_high, all) - below(line.bin_low, 0),
                in_log10 || line.metric == "entropy" ? 1 : 0)
        << line.key.scaling << " " << line.metric << " from " << line.bin_low.value_or(-999);
    totals[quantity] += line.count;
  }
  EXPECT_EQ(totals.size(), 8U);
  for (const auto& [key, total] : totals) EXPECT_EQ(total, measured.cell().queries) << key.second;
}

TEST(QuantileColumns, AreWithinTheirGuarantee) {
  expect_quantiles(MeasuredQueries(20000));
}

TEST(QuantileColumns, SlowOfAMillionQueriesAreWithinTheirGuarantee) {
  const MeasuredQueries measured(1000000);
  expect_quantiles(measured);
  expect_same_whatever_the_order(measured);
}

TEST(QuantileColumns, DoNotDependOnTheOrderOfMerging) {
  expect_same_whatever_the_order(MeasuredQueries(20000));
}

TEST(HistogramLines, CountTheValuesBetweenTheirEdges) {
  expect_histograms(MeasuredQueries(20000));
}

}  // namespace
}  // namespace attnscale
