#include "numerics/quantile_sketch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace attnscale {
namespace {

constexpr std::array kShares{1e-9, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999, 1.0};

// The value at rank ceil(q n), by definition.
double order_statistic(std::vector<double> values, double q) {
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

QuantileSketch sketch_of(const std::vector<double>& values) {
  QuantileSketch sketch;
  for (const double value : values) sketch.add(value);
  return sketch;
}

// Numbers of both signs and 48 orders of magnitude.
std::vector<double> wide_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 words(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(words() >> 11) * 0x1p-53;
    const double size = std::pow(10.0, 48 * share - 24);
    values.push_back(words() % 3 == 0 ? -size : size);
  }
  return values;
}

TEST(QuantileSketch, IsWithinOne128thOfTheOrderStatistic) {
  for (const std::size_t count : {1U, 2U, 99U, 5000U}) {
    const std::vector<double> values = wide_values(count, count);
    const QuantileSketch sketch = sketch_of(values);
    EXPECT_EQ(sketch.count(), static_cast<std::int64_t>(count));
    for (const double q : kShares) {
      const double exact = order_statistic(values, q);
      EXPECT_NEAR(*sketch.quantile(q), exact, std::abs(exact) / 128) << q;
    }
  }
}

TEST(QuantileSketch, CountsRanksExactly) {
  const QuantileSketch sketch = sketch_of({8, 1, 4, 2});
  const auto near = [&](double q) { return std::round(*sketch.quantile(q)); };
  EXPECT_EQ(near(0.25), 1);
  EXPECT_EQ(near(std::nextafter(0.25, 1.0)), 2);
  EXPECT_EQ(near(0.5), 2);
  EXPECT_EQ(near(0.75), 4);
  EXPECT_EQ(near(0.76), 8);
  EXPECT_EQ(near(1), 8);
}

TEST(QuantileSketch, HasSixtyFourBinsAnOctave) {
  std::vector<double> values;
  for (int i = 0; i < 64; ++i) values.push_back(1 + i / 64.0);
  EXPECT_EQ(sketch_of(values).bins().size(), 64U);
  values.push_back(std::nextafter(2.0, 0.0));  // still in the last of them
  EXPECT_EQ(sketch_of(values).bins().size(), 64U);
  values.push_back(2);
  EXPECT_EQ(sketch_of(values).bins().size(), 65U);
}

TEST(QuantileSketch, HoldsZerosAndBothSignsInOrder) {
  const QuantileSketch sketch = sketch_of({-2, 0, -0.0, 0, 3});
  EXPECT_NEAR(*sketch.quantile(0.2), -2, 2.0 / 128);
  EXPECT_EQ(*sketch.quantile(0.4), 0);
  EXPECT_EQ(*sketch.quantile(0.8), 0);
  EXPECT_NEAR(*sketch.quantile(1), 3, 3.0 / 128);
  EXPECT_EQ(sketch.bins().size(), 3U);  // -0 is 0
}

TEST(QuantileSketch, HoldsTheWholeRangeOfDoubles) {
  const double largest = std::numeric_limits<double>::max();
  const double smallest = std::numeric_limits<double>::min();
  const QuantileSketch sketch = sketch_of({-largest, -smallest, smallest, largest, 1e-310});
  EXPECT_NEAR(*sketch.quantile(0.2) / largest, -1, 1.0 / 128);
  EXPECT_NEAR(*sketch.quantile(0.4) / smallest, -1, 1.0 / 128);
  EXPECT_EQ(*sketch.quantile(0.6), 0);  // below the smallest normal double: zero
  EXPECT_NEAR(*sketch.quantile(0.8) / smallest, 1, 1.0 / 128);
  EXPECT_NEAR(*sketch.quantile(1) / largest, 1, 1.0 / 128);
}

TEST(QuantileSketch, ResolvesValuesNearOneByTheirComplements) {
  // Complements over 18 orders of magnitude on both sides of one half; many values round to 1.
  std::mt19937_64 words(5);
  QuantileSketch sketch;
  std::vector<double> complements;
  for (int i = 0; i < 4001; ++i) {
    const double share = static_cast<double>(words() >> 11) * 0x1p-53;
    const double small = std::pow(10.0, -18 * share) / 2;
    const bool near_one = i % 4 != 0;
    complements.push_back(near_one ? small : 1 - small);
    sketch.add_with_complement(near_one ? 1 - small : small, complements.back());
  }
  // The q quantile of the values is the 1 - q quantile of the complements, from the other end.
  std::ranges::sort(complements, std::ranges::greater());
  for (const double q : kShares) {
    const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(q * 4001)));
    const double exact = complements[rank - 1];
    const double nearer_end = std::min(exact, 1 - exact);
    EXPECT_NEAR(1 - *sketch.quantile(q), exact, nearer_end / 128 + 0x1p-53) << q;
  }
}

TEST(QuantileSketch, SeparatesWeightsThatDifferInTheirComplementsOnly) {
  QuantileSketch sketch;
  sketch.add_with_complement(1, 1e-20);
  sketch.add_with_complement(1, 1e-30);
  EXPECT_EQ(sketch.bins().size(), 2U);
  EXPECT_EQ(*sketch.quantile(0.5), 1);
}

TEST(QuantileSketch, MergesToTheSameInAnyOrder) {
  const QuantileSketch a = sketch_of(wide_values(300, 1));
  const QuantileSketch b = sketch_of(wide_values(500, 2));
  const QuantileSketch c = sketch_of({0, 0, -1});
  std::vector<double> all = wide_values(300, 1);
  const std::vector<double> more = wide_values(500, 2);
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), {0, 0, -1});

  QuantileSketch forwards = a;
  forwards.merge(b);
  forwards.merge(c);
  QuantileSketch backwards = c;
  backwards.merge(b);
  backwards.merge(QuantileSketch{});
  backwards.merge(a);
  EXPECT_EQ(forwards, backwards);
  EXPECT_EQ(forwards, sketch_of(all));
  EXPECT_EQ(forwards.count(), 803);
}

TEST(QuantileSketch, IsTheSameWhateverOrderItsOctavesCameIn) {
  const std::vector<double> values{3, 1e-200, -7, 1e100, 0, 5e3};
  QuantileSketch upwards;
  QuantileSketch downwards;
  for (std::size_t i = 0; i < values.size(); ++i) {
    upwards.add(values[i]);
    downwards.add(values[values.size() - 1 - i]);
  }
  EXPECT_EQ(upwards, downwards);
  EXPECT_EQ(upwards.quantile(0.5), downwards.quantile(0.5));
  downwards.add(3);
  EXPECT_NE(upwards, downwards);
}

TEST(QuantileSketch, IsRestoredFromItsBins) {
  QuantileSketch sketch = sketch_of(wide_values(300, 3));
  sketch.add(0);
  const auto bins = sketch.bins();
  EXPECT_TRUE(std::ranges::is_sorted(bins));
  std::int64_t total = 0;
  for (const auto& [bin, times] : bins) {
    EXPECT_GT(times, 0);
    total += times;
  }
  EXPECT_EQ(total, 301);
  EXPECT_EQ(QuantileSketch::from_bins(bins), sketch);

  QuantileSketch of_complements;
  for (const double complement : {0.0, 1e-17, 0.25, 0.5}) {
    of_complements.add_with_complement(1 - complement, complement);
  }
  EXPECT_EQ(QuantileSketch::from_bins(of_complements.bins()), of_complements);
}

TEST(QuantileSketch, HasNoQuantileWhereItIsEmpty) {
  EXPECT_EQ(QuantileSketch().quantile(0.5), std::nullopt);
  EXPECT_TRUE(QuantileSketch().bins().empty());
}

}  // namespace
}  // namespace attnscale
