#include "experiment/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "support/drawn_cell.h"
#include "support/drawn_scores.h"
#include "support/scalings.h"

namespace attnscale {
namespace {

Cell cell_of(const Experiment& experiment) {
  return plan_of(experiment).cells.front();
}

Scaling scaling_of(const std::string& name) {
  if (name == "sigmoid") return preset(name, {2});
  if (name == "capped") return logit_scaling(name, "3 tanh(q.k / 3)");
  if (name == "cosine") return logit_scaling(name, "cos(q, k)");
  return *find_scaling(name);
}

HistogramBins bins_of(const std::string& quantity, const std::string& scaling = "none") {
  return {find_histogram_quantity(quantity).value(), cell_of(drawn_experiment("boost", 16, 8, 10)),
          scaling_of(scaling)};
}

std::vector<std::int64_t> count(const HistogramBins& bins, const std::vector<double>& values) {
  std::vector<std::int64_t> counts;
  bins.count(values, counts);
  return counts;
}

// The only bin that holds something, 0 and kHistogramBins + 1 beyond the ends.
std::size_t bin_of(const HistogramBins& bins, double value) {
  const auto counts = count(bins, {value});
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 1);
  return static_cast<std::size_t>(std::ranges::find(counts, 1) - counts.begin());
}

TEST(HistogramQuantity, IsFoundByItsNameAndIsNoStatisticOfAllLogits) {
  for (const char* const name : {"score", "logit", "slope"}) {
    EXPECT_EQ(find_histogram_quantity(name).value().name(), name);
  }
  EXPECT_EQ(find_histogram_quantity("slope")->metric, find_metric("slope"));
  EXPECT_EQ(find_histogram_quantity("logit_sd"), std::nullopt);
  EXPECT_EQ(find_histogram_quantity("scores"), std::nullopt);
}

TEST(HistogramBins, AreAHundredEqualOnesOverTheRangeOfTheirQuantity) {
  struct Range {
    const char* quantity;
    const char* scaling;
    double low, high;
  };
  // d = 16, 8 keys: scores within 5 sqrt(16), divided by 4 or 16.
  for (const auto& [quantity, scaling, low, high] :
       {Range{"score", "none", -20, 20}, Range{"score", "div_d", -20, 20},
        Range{"logit", "none", -20, 20}, Range{"logit", "div_sqrt_d", -5, 5},
        Range{"logit", "div_d", -1.25, 1.25}, Range{"top_weight", "div_d", 0, 1},
        Range{"entropy", "none", 0, std::log(8.0)}, Range{"effective_keys", "none", 0, 8},
        Range{"margin", "div_sqrt_d", 0, 5}, Range{"max_logit", "none", 0, 20},
        Range{"slope", "none", -20, 0}, Range{"sum_p2", "div_d", 0, 1},
        // A sigmoid's weights add up to 8 at most, and -p ln p is at most 1/e.
        Range{"total_weight", "sigmoid", 0, 8}, Range{"output_sd", "sigmoid", 0, std::sqrt(8.0)},
        Range{"entropy", "sigmoid", 0, 8 / std::exp(1.0)},
        // No logit is beyond a cap, nor a product of unit vectors beyond 1.
        Range{"logit", "capped", -3, 3}, Range{"logit", "cosine", -1, 1}}) {
    SCOPED_TRACE(std::string(quantity) + " " + scaling);
    const auto edges = bins_of(quantity, scaling).edges();
    ASSERT_EQ(edges.size(), kHistogramBins + 1);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      EXPECT_NEAR(edges[i], low + (high - low) * static_cast<double>(i) / 100, 1e-14 * 20);
    }
  }
}

TEST(HistogramBins, AreCentredOnTheExpectedScore) {
  Experiment experiment = drawn_experiment("boost", 16, 8, 10);
  experiment.entries = {normal_entries(1, 1)};  // mean 16, variance 16 * 3
  const HistogramBins bins({HistogramOf::kLogits}, cell_of(experiment), *find_scaling("div_d"));
  const auto edges = bins.edges();
  EXPECT_NEAR(edges.front(), 1 - 5 * std::sqrt(48.0) / 16, 1e-14);
  EXPECT_NEAR(edges.back(), 1 + 5 * std::sqrt(48.0) / 16, 1e-14);
}

TEST(HistogramBins, AValueOnAnEdgeBelongsAboveItButTheLastToTheLastBin) {
  const HistogramBins bins = bins_of("top_weight");
  EXPECT_EQ(bin_of(bins, 0), 1U);
  EXPECT_EQ(bin_of(bins, std::nextafter(0.25, 0.0)), 25U);
  EXPECT_EQ(bin_of(bins, 0.25), 26U);
  EXPECT_EQ(bin_of(bins, 0.999), 100U);
  EXPECT_EQ(bin_of(bins, 1), 100U);
}

TEST(HistogramBins, CountWhatIsBeyondTheEndsAndLeaveOutWhatIsNoNumber) {
  const HistogramBins bins = bins_of("score");
  EXPECT_EQ(bin_of(bins, -20.001), 0U);
  EXPECT_EQ(bin_of(bins, 20.001), kHistogramBins + 1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(count(bins, {kInfinity, -kInfinity, std::nan("")}), ::testing::Each(0));
}

TEST(HistogramBins, TakeLogarithmsOfSlopes) {
  const HistogramBins bins = bins_of("slope");
  EXPECT_EQ(bin_of(bins, 0.25), 97U);       // log10 = -0.602, bins 0.2 wide from -20
  EXPECT_EQ(bin_of(bins, 4.248e-18), 14U);  // -17.37
  EXPECT_EQ(bin_of(bins, 1e-21), 0U);
  EXPECT_EQ(bin_of(bins, 0), 0U);
}

TEST(HistogramBins, AddToTheCountsThatAreThere) {
  const HistogramBins bins = bins_of("top_weight");
  std::vector<std::int64_t> counts = count(bins, {0.5, 0.5});
  bins.count(std::vector<double>{0.5, 0.7}, counts);
  EXPECT_EQ(counts[51], 3);
  EXPECT_EQ(counts[71], 1);
}

std::vector<HistogramRow> rows_of(const Experiment& experiment) {
  const Plan plan = plan_of(experiment);
  const Cell& cell = plan.cells.front();
  return histogram_cell(plan, cell, measure_cell(plan, cell).counts.histograms);
}

TEST(HistogramCell, DensitiesAreSharesOfAllValuesPerUnit) {
  Experiment experiment = drawn_experiment("direct", 4, 8, 3000);
  experiment.scalings.resize(2);
  experiment.histogram = histogram_quantities({"top_weight", "score"});
  std::map<std::pair<std::string, std::string>, std::pair<double, std::int64_t>> totals;
  for (const HistogramRow& row : rows_of(experiment)) {
    auto& [share, values] = totals[{row.key.scaling, row.metric}];
    values += row.count;
    const double all = row.metric == "score" ? 24000 : 3000;
    if (row.density) {
      share += *row.density * (*row.bin_high - *row.bin_low);
    } else {
      EXPECT_NE(row.bin_low.has_value(), row.bin_high.has_value()) << "only beyond an end";
      EXPECT_GT(row.count, 0);
      share += static_cast<double>(row.count) / all;
    }
  }
  ASSERT_EQ(totals.size(), 4U);
  for (const auto& [key, total] : totals) {
    EXPECT_NEAR(total.first, 1, 1e-12);
    EXPECT_EQ(total.second, key.second == "score" ? 24000 : 3000);
  }
}

TEST(HistogramCell, ListsEveryBinBetweenTheEndsInOrder) {
  Experiment experiment = drawn_experiment("direct", 64, 4, 500);
  experiment.scalings.resize(1);
  experiment.histogram = histogram_quantities({"top_weight"});
  const auto rows = rows_of(experiment);
  ASSERT_EQ(rows.size(), kHistogramBins);  // no weight is beyond 0 or 1
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].bin_low, static_cast<double>(i) / 100);
    if (i < 24) {
      EXPECT_EQ(rows[i].count, 0) << "a top weight of 4 keys is 1/4 or more";
    }
  }
}

TEST(HistogramCell, HasNoDensityWhereThereAreNoValues) {
  Experiment experiment = drawn_experiment("direct", 64, 4, 500);
  experiment.scalings.resize(1);
  experiment.histogram = histogram_quantities({"top_weight"});
  const Plan plan = plan_of(experiment);
  const std::vector<std::int64_t> nothing(kHistogramBins + 2);
  for (const HistogramRow& row : histogram_cell(plan, plan.cells.front(), {nothing})) {
    EXPECT_EQ(row.density, std::nullopt);
  }
}

}  // namespace
}  // namespace attnscale
