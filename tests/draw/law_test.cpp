// Whether each law is the distribution it says. Expected numbers are closed forms; the draws' seeds
// are fixed, and each check states the probability of a false alarm for other seeds.
#include "draw/law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>

#include "numerics/entry_kernel.h"
#include "numerics/lanes.h"
#include "support/drawn_cell.h"
#include "support/kolmogorov_smirnov.h"
#include "support/power_means.h"

namespace attnscale {
namespace {

using namespace testing_statistics;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct LawCase {
  std::string name;
  std::vector<double> parameters;
  double kurtosis;
  double tolerance = 1e-14;  ///< relative
};

// E[x^4] of the law with variance 1.
const std::vector<LawCase>& law_cases() {
  static const std::vector<LawCase> cases{
      {"normal", {}, 3},
      {"uniform", {}, 9.0 / 5},
      {"rademacher", {}, 1},
      {"laplace", {}, 6},
      {"logistic", {}, 21.0 / 5},
      {"student_t", {10}, 4},
      {"student_t", {5}, 9},
      {"student_t", {4}, kInfinity},
      {"student_t", {2.1}, kInfinity},
      {"truncated_normal", {2}, 2.3655, 3e-5},
      {"truncated_normal", {1e-2}, 1.8, 1e-5},  // nearly uniform
      {"truncated_normal", {30}, 3},            // nearly normal
      {"truncated_normal", {0.5}, 0, 0},        // by quadrature below
      {"sparse", {0.25}, 12},
      {"sparse", {1}, 3},
      {"outlier", {0.001, 10}, 3 * (0.999 + 0.001 * 101 * 101) / (1.1 * 1.1)},
      {"outlier", {0.1, 3}, 3 * (0.9 + 0.1 * 10 * 10) / (1.9 * 1.9)},
      {"outlier", {1, 3}, 3},
      {"ternary", {0.5}, 2},
      {"ternary", {1}, 1},  // fair signs
  };
  return cases;
}

/// Integral of f over [-end, end] by Simpson's rule.
double integral(double end, const std::function<double(double)>& f) {
  constexpr int kSteps = 2000;
  double sum = f(-end) + f(end);
  for (int i = 1; i < kSteps; ++i) sum += (i % 2 == 1 ? 4 : 2) * f(end * (2.0 * i / kSteps - 1));
  return sum * (2 * end / kSteps) / 3;
}

double truncated_kurtosis(double at) {
  const auto moment = [at](int power) {
    return integral(at, [power](double x) { return std::pow(x, power) * std::exp(-0.5 * x * x); });
  };
  return moment(4) * moment(0) / (moment(2) * moment(2));
}

TEST(LawKurtosis, IsThatOfTheStandardisedLaw) {
  std::set<std::string> covered;
  for (const LawCase& one : law_cases()) {
    const LawRow& row = *find_law(one.name);
    covered.insert(one.name);
    ASSERT_EQ(row.parameters.size(), one.parameters.size());
    const double kurtosis = row.kurtosis(one.parameters);
    if (one.kurtosis == kInfinity) {
      EXPECT_EQ(kurtosis, kInfinity) << one.name;
    } else if (one.kurtosis > 0) {
      EXPECT_NEAR(kurtosis, one.kurtosis, one.tolerance * one.kurtosis) << one.name;
    }
    if (one.name == "truncated_normal" && one.parameters[0] < 10) {
      EXPECT_NEAR(kurtosis, truncated_kurtosis(one.parameters[0]), 1e-11);
    }
  }
  EXPECT_EQ(covered.size(), law_table().size()) << "give every law a case above";
}

// Integrals of x^(2 half) and a density that need not be scaled; of three laws by their making.
TEST(LawMoments, AreIntegralsOverTheDensity) {
  using Density = std::function<double(double)>;
  const auto expect_moments = [](const LawCase& one, double end, int most, const Density& density) {
    const auto moment = [&](int order) {
      return integral(end, [&](double x) { return std::pow(x, order) * density(x); });
    };
    const double variance = moment(2) / moment(0);
    for (int half = 1; half <= most; ++half) {
      const double expected = moment(2 * half) / moment(0) / std::pow(variance, half);
      EXPECT_NEAR(find_law(one.name)->even_moment(one.parameters, half) / expected, 1, 1e-5)
          << one.name << " " << half;
    }
  };
  expect_moments({"normal", {}, 0}, 20, 12, [](double x) { return std::exp(-0.5 * x * x); });
  expect_moments({"uniform", {}, 0}, std::sqrt(3.0), 12, [](double) { return 1; });
  expect_moments({"laplace", {}, 0}, 60, 12,
                 [](double x) { return std::exp(-std::sqrt(2.0) * std::abs(x)); });
  expect_moments({"logistic", {}, 0}, 60, 12, [](double x) {
    return std::pow(std::cosh(x * std::acos(-1.0) / std::sqrt(12.0)), -2);
  });
  expect_moments({"student_t", {40}, 0}, 100, 6,
                 [](double x) { return std::pow(1 + x * x / 38, -20.5); });
  expect_moments({"truncated_normal", {2}, 0}, 2, 12,
                 [](double x) { return std::exp(-0.5 * x * x); });
  double normal = 1;  // 1, 3, 15, 105 ...
  for (int half = 1; half <= 12; ++half) {
    normal *= 2 * half - 1;
    EXPECT_NEAR(find_law("sparse")->even_moment(std::vector{0.25}, half),
                normal * std::pow(4, half - 1), 1e-9 * normal * std::pow(4, half));
    EXPECT_NEAR(find_law("ternary")->even_moment(std::vector{0.25}, half), std::pow(4, half - 1),
                1e-6);
    const double outlier = normal * (0.9 + 0.1 * std::pow(10, half)) / std::pow(1.9, half);
    EXPECT_NEAR(find_law("outlier")->even_moment(std::vector{0.1, 3.0}, half), outlier,
                1e-9 * outlier);
  }
  EXPECT_EQ(find_law("student_t")->even_moment(std::vector{12.0}, 6), kInfinity);
}

/// False where the kurtosis of scores has no standard error, or one that a handful of draws carry.
bool has_error(const LawCase& one) {
  if (one.name == "student_t") return one.parameters[0] > 8;
  return one.name != "outlier" || one.parameters[0] > 0.01;
}

std::vector<double> boost_draws(const LawCase& one, std::size_t count) {
  RandomStream words({30, hash_text(one.name), 0}, StreamPurpose::kEntries);
  std::vector<double> draws(count);
  find_law(one.name)->fill(one.parameters, words, draws);
  return draws;
}

// Of vectors of 1000 entries, eight queries each.
std::vector<double> kernel_draws(const LawCase& one, std::size_t count) {
  constexpr std::int64_t kD = 1000;
  constexpr auto kGroup = static_cast<std::size_t>(kD * kLanes);
  const EntryShape shape = find_law(one.name)->shape(one.parameters);
  std::vector<double> draws((count + kGroup - 1) / kGroup * kGroup);
  for (std::size_t start = 0; start < draws.size(); start += kGroup) {
    draw_entries({31, hash_text(one.name), 0, 0}, static_cast<std::int64_t>(start / 1000), 0, shape,
                 kD, std::span(draws).subspan(start, kGroup));
  }
  draws.resize(count);
  return draws;
}

constexpr std::array kWaysToDraw{kernel_draws, boost_draws};

std::string title(const LawCase& one) {
  return one.name + (one.parameters.empty() ? "" : " " + std::to_string(one.parameters[0]));
}

// Mean, variance and, where its error exists, the fourth moment.
void expect_moments(const LawCase& one, const std::vector<double>& draws, double errors) {
  expect_mean_of_power(draws, 1, 0, errors);
  const double kurtosis = find_law(one.name)->kurtosis(one.parameters);
  if (kurtosis == kInfinity) return;
  expect_mean_of_power(draws, 2, 1, errors);
  if (has_error(one)) expect_mean_of_power(draws, 4, kurtosis, errors);
}

TEST(EveryLaw, HasTheMomentsItSays) {
  for (const LawCase& one : law_cases()) {
    SCOPED_TRACE(title(one));
    for (const auto& draws_of : kWaysToDraw) expect_moments(one, draws_of(one, 200000), 5);
  }
}

// One Kolmogorov-Smirnov statistic each: 1e-6. Then how many lie beyond the sizes that a share of
// 0.01 ... 100 / count of Boost's exceed: two Poisson counts, 5 standard deviations, 6e-7 each.
void expect_kernels_of_boosts_law(std::size_t count) {
  for (const LawCase& one : law_cases()) {
    SCOPED_TRACE(title(one));
    std::vector<double> kernel = kernel_draws(one, count);
    std::vector<double> boost = boost_draws(one, count);
    expect_moments(one, kernel, 4);
    EXPECT_LT(kolmogorov_smirnov(kernel, boost), kOneInAMillion);
    for (std::vector<double>* draws : {&kernel, &boost}) {
      for (double& draw : *draws) draw = std::abs(draw);
      std::ranges::sort(*draws);
    }
    for (auto beyond = count / 100; beyond >= 100; beyond /= 10) {
      const double size = boost[count - beyond];
      const auto larger =
          static_cast<double>(kernel.end() - std::ranges::upper_bound(kernel, size));
      const auto as_boost =
          static_cast<double>(boost.end() - std::ranges::upper_bound(boost, size));
      EXPECT_LE(std::abs(larger - as_boost), 5 * std::sqrt(larger + as_boost)) << beyond;
    }
  }
}

TEST(KernelOfEveryLaw, DrawsAsBoostDoes) {
  expect_kernels_of_boosts_law(100000);
}

TEST(KernelOfEveryLaw, DrawsAsBoostDoesSlow) {
  expect_kernels_of_boosts_law(1000000);
}

// One Kolmogorov-Smirnov statistic each against the distribution function: 1e-6.
TEST(EveryContinuousLaw, HasItsDistributionFunction) {
  constexpr std::size_t kDraws = 100000;
  const auto expect_law = [&](const LawCase& one, const std::function<double(double)>& function) {
    for (const auto& draws_of : kWaysToDraw) {
      EXPECT_LT(kolmogorov_smirnov(draws_of(one, kDraws), function), kOneInAMillion) << one.name;
    }
  };
  expect_law({"normal", {}, 0}, normal_distribution);
  expect_law({"uniform", {}, 0}, [](double x) { return 0.5 + x / std::sqrt(12.0); });
  expect_law({"laplace", {}, 0}, [](double x) {
    const double tail = 0.5 * std::exp(-std::sqrt(2.0) * std::abs(x));
    return x < 0 ? tail : 1 - tail;
  });
  expect_law({"logistic", {}, 0},
             [](double x) { return 1 / (1 + std::exp(-x * std::acos(-1.0) / std::sqrt(3.0))); });
  // Three degrees of freedom: 1/2 + (atan(u) + u / (1 + u^2)) / pi with u = t / sqrt(3), which is
  // the draw itself once t is divided by its spread sqrt(3).
  expect_law({"student_t", {3}, 0},
             [](double u) { return 0.5 + (std::atan(u) + u / (1 + u * u)) / std::acos(-1.0); });
  for (const double at : {0.5, 2.0}) {
    const double inside = 2 * normal_distribution(at) - 1;
    const double density = std::exp(-0.5 * at * at) / std::sqrt(2 * std::acos(-1.0));
    const double spread = std::sqrt(1 - 2 * at * density / inside);
    expect_law({"truncated_normal", {at}, 0}, [&](double x) {
      return (normal_distribution(x * spread) - normal_distribution(-at)) / inside;
    });
  }
  expect_law({"outlier", {0.1, 5}, 0}, [](double x) {
    const double z = x * std::sqrt(3.5);
    return 0.9 * normal_distribution(z) + 0.1 * normal_distribution(z / std::sqrt(26.0));
  });
}

TEST(SparseLaw, HoldsThatManyNumbersWhichAreNot0) {
  constexpr double kP = 0.1;
  constexpr std::size_t kDraws = 100000;
  for (const auto& draws_of : kWaysToDraw) {
    const std::vector<double> draws = draws_of({"sparse", {kP}, 0}, kDraws);
    const auto zeros = static_cast<double>(std::count(draws.begin(), draws.end(), 0.0));
    // Binomial, 5 standard deviations: 6e-7.
    EXPECT_NEAR(zeros / kDraws, 1 - kP, 5 * std::sqrt(kP * (1 - kP) / kDraws));
  }
}

TEST(RademacherLaw, GivesSignsAlone) {
  for (const auto& draws_of : kWaysToDraw) {
    for (const double draw : draws_of({"rademacher", {}, 0}, 1000)) EXPECT_EQ(std::abs(draw), 1);
  }
}

// Spread and kurtosis of the scores of every law under the samplers that draw entries. 4 standard
// errors: 6e-5 for each of some 56 numbers, 4e-3 in all.
void expect_exact_scores(std::int64_t queries) {
  for (const std::string_view sampler : {"vectors", "boost"}) {
    for (const LawCase& one : law_cases()) {
      if (!has_error(one)) continue;
      SCOPED_TRACE(std::string(sampler) + " " + one.name);
      const Law law{find_law(one.name), one.parameters, 0, 1};
      Experiment experiment = drawn_experiment(sampler, 16, 1, queries);
      experiment.entries = {{one.name, {}, law, law, 0, {}}};
      experiment.metrics = metric_rows({"logit_sd", "logit_kurtosis"});
      const auto rows = run_config(config_of(experiment, 4));
      EXPECT_LT(std::abs(*row_of(rows, "div_sqrt_d", "logit_sd").z), 4);
      EXPECT_LT(std::abs(*row_of(rows, "div_sqrt_d", "logit_kurtosis").z), 4);
      EXPECT_NEAR(*row_of(rows, "none", "logit_sd").reference, 4, 1e-14);
    }
  }
}

TEST(ScoresOfEveryLaw, HaveTheExactSpreadAndKurtosis) {
  expect_exact_scores(100000);
}

TEST(ScoresOfEveryLaw, HaveTheExactSpreadAndKurtosisSlow) {
  expect_exact_scores(1000000);
}

TEST(ScoresOfTwoLaws, HaveTheKurtosisOfBoth) {
  // 3 + (1 * 6 - 3) / 4: rademacher queries, Laplace keys.
  const Law signs{find_law("rademacher"), {}, 0, 1};
  const Law laplace{find_law("laplace"), {}, 0, 2};
  const Entries mixed{"mixed", {}, signs, laplace, 0, {}};
  const ScoreMoments moments = score_moments(mixed, 4, 1);
  EXPECT_EQ(moments.mean, 0);
  EXPECT_EQ(moments.sd, 4);
  EXPECT_EQ(moments.kurtosis, 3.75);
  for (const std::string_view sampler : {"vectors", "boost"}) {
    Experiment experiment = drawn_experiment(sampler, 4, 2, 50000);
    experiment.entries = {mixed};
    experiment.metrics = metric_rows({"logit_mean", "logit_sd", "logit_kurtosis"});
    for (const ResultRow& row : run_config(config_of(experiment))) {
      EXPECT_LT(std::abs(*row.z), 4) << sampler << " " << row.metric;
    }
  }
}

TEST(ScoresOfHeavyTails, HaveNoKurtosisToCompareWith) {
  const Law heavy{find_law("student_t"), {4}, 0, 1};
  EXPECT_EQ(score_moments({"t", {}, heavy, heavy, 0, {}}, 16, 1).kurtosis, kInfinity);
  EXPECT_EQ(score_moments({"t", {}, heavy, heavy, 0, {}}, 16, 1).sd, 4);
}

}  // namespace
}  // namespace attnscale
