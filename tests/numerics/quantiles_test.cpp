#include "numerics/quantiles.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/units.h"

namespace attnscale {
namespace {

// The nearest double is at most half a unit away; the rest is the error of ours before it is
// rounded.
constexpr double kNearest = 0.5 + 1e-3;

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

TEST(StudentTails, AreBoosts) {
  for (const double degrees : {2.1, 3.0, 5.0, 30.0, 1000.0}) {
    const boost::math::students_t law(degrees);
    for (const double t : {1e-9, 0.3, 0.999, 1.0, 1.001, 2.5, 40.0, 1e5}) {
      const double expected = 2 * boost::math::cdf(boost::math::complement(law, t));
      EXPECT_NEAR(student_tails(degrees, t), expected, 1e-11 * expected) << degrees << " " << t;
    }
  }
  EXPECT_EQ(student_tails(3, 0), 1);
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
  for (double degrees = 1; degrees < 1e9; degrees = std::floor(degrees * 1.03) + 1) {
    for (const double probability : {0.975, 0.6, 1e-6, 1 - 1e-9}) {
      const boost::math::students_t_distribution<Quad> law(degrees);
      const Quad exact = boost::math::quantile(law, Quad(probability));
      EXPECT_LE(units_between(student_quantile(degrees, probability), exact), kNearest)
          << degrees << " " << probability;
    }
  }
}

TEST(BetaQuantile, IsThatOfBoostInMoreBits) {
  for (double n = 1; n < 1e5; n = std::floor(n * 1.3) + 1) {
    for (double counted = 0; counted < n; counted = std::floor(counted * 1.4) + 1) {
      for (const double probability : {0.025, 0.975, 0.0001}) {
        const Quad exact =
            boost::math::ibeta_inv(Quad(counted + 1), Quad(n - counted), Quad(probability));
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
