// Whether what the kernels draw is distributed as promised. Seeds are fixed; each check states the
// probability of a false alarm had the seed been chosen at random.
#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <string>

#include "numerics/entry_kernel.h"
#include "numerics/normal_kernel.h"
#include "support/kolmogorov_smirnov.h"

namespace attnscale {
namespace {

using namespace testing_statistics;

constexpr std::int64_t kRows = 1024;

std::vector<double> draw_normals(const StreamKey& key, std::size_t count,
                                 std::int64_t first_query = 0) {
  constexpr auto kPerGroup = static_cast<std::size_t>(kRows * kLanes);
  std::vector<double> normals(count / kPerGroup * kPerGroup);
  for (std::size_t start = 0; start < normals.size(); start += kPerGroup) {
    draw_entries(key, first_query, 0, {}, kRows, std::span(normals).subspan(start, kPerGroup));
    first_query += kLanes;
  }
  return normals;
}

constexpr std::size_t kMillion = std::size_t{123} * kRows * kLanes;  // 1,007,616

TEST(Normals, HaveTheMomentsOfTheNormalLaw) {
  // E[x^m] for m = 1 ... 6 and the variance of each power, E[x^2m] - E[x^m]^2, from
  // E[x^2m] = (2m - 1)!!. 5 standard errors each: false alarm 6 * 6e-7.
  const std::vector<double> normals = draw_normals({1, 2, 3, 4}, kMillion);
  const std::array<double, 6> mean{0, 1, 0, 3, 0, 15};
  const std::array<double, 6> mean_of_square{1, 3, 15, 105, 945, 10395};
  for (std::size_t m = 0; m < mean.size(); ++m) {
    double sum = 0;
    for (const double x : normals) sum += std::pow(x, static_cast<int>(m) + 1);
    const auto n = static_cast<double>(normals.size());
    const double std_error = std::sqrt((mean_of_square[m] - mean[m] * mean[m]) / n);
    EXPECT_LT(std::abs(sum / n - mean[m]), 5 * std_error) << "power " << m + 1;
  }
}

TEST(Normals, FollowTheNormalDistribution) {
  // False alarm 1e-6 for each of three seeds.
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    EXPECT_LT(kolmogorov_smirnov(draw_normals({seed, 7, 0, 0}, kMillion), normal_distribution),
              kOneInAMillion);
  }
}

TEST(Normals, PlaceInACallDoesNotMatter) {
  // Each of the four numbers of a call by itself. False alarm 4 * 1e-6.
  const std::vector<double> normals = draw_normals({5, 5, 5, 5}, 4 * kMillion / 8);
  for (std::size_t place = 0; place < 4; ++place) {
    std::vector<double> sample;
    for (std::size_t i = 0; i < normals.size(); ++i) {
      if (i / static_cast<std::size_t>(kLanes) % 4 == place) sample.push_back(normals[i]);
    }
    EXPECT_LT(kolmogorov_smirnov(sample, normal_distribution), kOneInAMillion) << place;
  }
}

// Counts of |x| > level among `groups` times 8,192 normals lie within 5 standard deviations of the
// Poisson law's mean, widened by 5 for its skewness: false alarm below 1e-6 for each level.
void expect_tails(std::int64_t groups) {
  const std::array<double, 4> levels{3, 4, 4.5, 5};
  std::array<double, 4> counts{};
  std::vector<double> normals(static_cast<std::size_t>(kRows * kLanes));
  for (std::int64_t group = 0; group < groups; ++group) {
    draw_entries({9, 9, 9, 9}, group * kLanes, 0, {}, kRows, normals);
    for (const double x : normals) {
      if (std::abs(x) <= levels[0]) continue;
      for (std::size_t i = 0; i < levels.size(); ++i) counts[i] += std::abs(x) > levels[i] ? 1 : 0;
    }
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double mean =
        static_cast<double>(groups * kRows * kLanes) * std::erfc(levels[i] / std::sqrt(2.0));
    EXPECT_NEAR(counts[i], mean, 5 * std::sqrt(mean) + 5) << "beyond " << levels[i];
  }
}

TEST(Normals, TailsHoldAsManyAsTheyShould) {
  expect_tails(4000);  // 3.3e7 normals: 19 expected beyond 5
}

TEST(NormalsSlow, TailsHoldAsManyAsTheyShould) {
  expect_tails(60000);  // 4.9e8 normals: 282 expected beyond 5
}

double correlation(const std::vector<double>& a, const std::vector<double>& b, int power) {
  // Of numbers with known mean and variance: x, or x^2 - 1 with variance 2.
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += power == 1 ? a[i] * b[i] : (a[i] * a[i] - 1) * (b[i] * b[i] - 1) / 2;
  }
  return sum / static_cast<double>(a.size());
}

TEST(Normals, NeighbouringAddressesAreUncorrelated) {
  // Correlations of the numbers and of their squares are 0 with standard error 1 / sqrt(n).
  // 5 standard errors, 7 addresses, 2 correlations: false alarm 8e-6.
  const StreamKey key{100, 200, 300, 0};
  const std::vector<double> here = draw_normals(key, kMillion);
  const double limit = 5 / std::sqrt(static_cast<double>(here.size()));
  const auto expect_uncorrelated = [&](const std::vector<double>& there, const std::string& what) {
    EXPECT_LT(std::abs(correlation(here, there, 1)), limit) << what;
    EXPECT_LT(std::abs(correlation(here, there, 2)), limit) << what;
  };
  for (std::size_t part = 0; part < key.size(); ++part) {
    StreamKey neighbour = key;
    ++neighbour[part];
    expect_uncorrelated(draw_normals(neighbour, kMillion), "key word " + std::to_string(part));
  }
  expect_uncorrelated(draw_normals(key, kMillion, 1), "next query");
  std::vector<double> next_entry(here.begin() + kLanes, here.end());
  next_entry.resize(here.size());
  expect_uncorrelated(next_entry, "next entry");
  StreamKey swapped = key;
  std::swap(swapped[0], swapped[2]);
  expect_uncorrelated(draw_normals(swapped, kMillion), "seed and block exchanged");
}

// False alarm 1e-6 for each number of degrees.
void expect_chi_squared(std::size_t count) {
  for (const std::int64_t degrees : {1, 2, 3, 4, 5, 64, 1000, 65536}) {
    std::vector<double> numbers(count);
    draw_chi_squared({6, 6, static_cast<std::uint64_t>(degrees), 2}, 0, degrees, numbers);
    const boost::math::chi_squared law(static_cast<double>(degrees));
    const auto distribution = [&](double x) { return boost::math::cdf(law, x); };
    EXPECT_LT(kolmogorov_smirnov(numbers, distribution), kOneInAMillion) << degrees << " degrees";
  }
}

TEST(ChiSquared, FollowsItsDistribution) {
  expect_chi_squared(40000);
}

TEST(ChiSquaredSlow, FollowsItsDistributionAtAMillion) {
  expect_chi_squared(1000000);
}

TEST(ChiSquared, HasItsMeanVarianceAndSkewness) {
  // Mean k, variance 2k, third central moment 8k. Variances of the sample moments about the known
  // mean, from the cumulants 2^(m-1) (m-1)! k. 5 standard errors: false alarm 18e-7 a line.
  constexpr std::size_t kCount = 1000000;
  for (const std::int64_t degrees : {1, 2, 3, 4, 7, 64, 4096}) {
    std::vector<double> numbers(kCount);
    draw_chi_squared({8, 8, static_cast<std::uint64_t>(degrees), 2}, 0, degrees, numbers);
    const auto k = static_cast<double>(degrees);
    double m1 = 0, m2 = 0, m3 = 0;
    for (const double x : numbers) {
      const double y = x - k;
      m1 += y;
      m2 += y * y;
      m3 += y * y * y;
    }
    const double n = kCount;
    const double k2 = 2 * k, k3 = 8 * k, k4 = 48 * k, k6 = 3840 * k;
    const double mu4 = k4 + 3 * k2 * k2;
    const double mu6 = k6 + 15 * k4 * k2 + 10 * k3 * k3 + 15 * k2 * k2 * k2;
    EXPECT_LT(std::abs(m1 / n), 5 * std::sqrt(k2 / n)) << degrees;
    EXPECT_LT(std::abs(m2 / n - k2), 5 * std::sqrt((mu4 - k2 * k2) / n)) << degrees;
    EXPECT_LT(std::abs(m3 / n - k3), 5 * std::sqrt((mu6 - k3 * k3) / n)) << degrees;
  }
}

}  // namespace
}  // namespace attnscale
