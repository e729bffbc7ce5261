#include "numerics/quantiles.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/units.h"

namespace attnscale {
namespace {

// The nearest double is at most half a unit away; the rest is the error of Boost.Math in the 64
// bits of x86's long double. (Of Beta(375, 300) at 0.0001 it has 0.54 units where 30 digits of
// mpmath have 0.44.)
constexpr double kNearest = 0.6;

// The solutions of 50 digits' arithmetic (mpmath 1.3, the densities integrated by quad, Newton's
// method), rounded to double.
nlohmann::json reference_values() {
  std::ifstream file(ATTNSCALE_SOURCE_DIR "/tests/reference_values/quantiles.json");
  return nlohmann::json::parse(file);
}

TEST(StudentQuantile, IsThatOfQuadrature) {
  const nlohmann::json values = reference_values();
  for (const auto& line : values.at("student")) {
    EXPECT_EQ(student_quantile(line.at("degrees"), line.at("probability")), line.at("value"))
        << line;
  }
  EXPECT_EQ(values.at("student").size(), 78);
}

TEST(BetaQuantile, IsThatOfQuadrature) {
  const nlohmann::json values = reference_values();
  for (const auto& line : values.at("beta")) {
    EXPECT_EQ(beta_quantile(line.at("a"), line.at("b"), line.at("probability")), line.at("value"))
        << line;
  }
  EXPECT_EQ(values.at("beta").size(), 72);
}

TEST(StudentQuantile, IsThatOfBoostInMoreBits) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no longer double";
  for (double degrees = 1; degrees < 1e9; degrees = std::floor(degrees * 1.03) + 1) {
    for (const double probability : {0.975, 0.6, 1e-6, 1 - 1e-9}) {
      const boost::math::students_t_distribution<long double> law(degrees);
      const long double exact = boost::math::quantile(law, static_cast<long double>(probability));
      EXPECT_LE(units_between(student_quantile(degrees, probability), exact), kNearest)
          << degrees << " " << probability;
    }
  }
}

TEST(BetaQuantile, IsThatOfBoostInMoreBits) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no longer double";
  for (double n = 1; n < 1e5; n = std::floor(n * 1.3) + 1) {
    for (double counted = 0; counted < n; counted = std::floor(counted * 1.4) + 1) {
      for (const double probability : {0.025, 0.975, 0.0001}) {
        const long double exact = boost::math::ibeta_inv(static_cast<long double>(counted + 1),
                                                         static_cast<long double>(n - counted),
                                                         static_cast<long double>(probability));
        EXPECT_LE(units_between(beta_quantile(counted + 1, n - counted, probability), exact),
                  kNearest)
            << n << " " << counted << " " << probability;
      }
    }
  }
}

TEST(StudentQuantile, IsOddAboutTheMedian) {
  for (const double degrees : {1.0, 2.5, 30.0, 1e6}) {
    EXPECT_EQ(student_quantile(degrees, 0.5), 0);
    EXPECT_EQ(student_quantile(degrees, 0.125), -student_quantile(degrees, 0.875));
    EXPECT_EQ(student_quantile(degrees, 0.4375), -student_quantile(degrees, 0.5625));
  }
}

}  // namespace
}  // namespace attnscale
