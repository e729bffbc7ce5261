#include "numerics/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "numerics/quadrature.h"

namespace attnscale {
namespace {

// libm's own error is below 1 unit in the last place, 2.2e-16 relative.
TEST(PlainMath, ExponentialsAgreeWithTheLibraryTo1e15) {
  for (double x = -690; x < 690; x += 0.137) {
    EXPECT_NEAR(plain::exp(x) / std::exp(x), 1, 1e-15) << x;
  }
  for (double x = -40; x < 40; x += 0.00317) {
    EXPECT_NEAR(plain::expm1(x) / std::expm1(x), 1, 1e-15) << x;
    EXPECT_NEAR(plain::tanh(x) / std::tanh(x), 1, 1e-15) << x;
  }
  EXPECT_EQ(plain::exp(0), 1);
  EXPECT_FALSE(std::signbit(plain::tanh(0.0)));
  EXPECT_TRUE(std::signbit(plain::tanh(-0.0)));
  EXPECT_EQ(plain::expm1(0), 0);
  EXPECT_NEAR(plain::expm1(1e-18) / 1e-18, 1, 1e-15);
}

TEST(PlainMath, ExponentialsOfNegativesEndInZero) {
  for (const double x : {-1e-3, -1.0, -699.0, -703.5, -708.0}) {
    EXPECT_NEAR(plain::exp_of_negative(x) / std::exp(x), 1, 1e-15) << x;
  }
  EXPECT_EQ(plain::exp_of_negative(0), 1);
  EXPECT_EQ(plain::exp_of_negative(-708.01), 0);
  EXPECT_EQ(plain::exp_of_negative(-std::numeric_limits<double>::infinity()), 0);
}

TEST(PlainMath, LogarithmsAgreeWithTheLibraryTo1e15) {
  for (double x = 1e-300; x < 1e300; x *= 1.713) {
    EXPECT_NEAR(plain::log(x), std::log(x), 1e-15 * std::abs(std::log(x)) + 1e-16) << x;
    EXPECT_NEAR(plain::asinh(x < 1e150 ? x : 1) / std::asinh(x < 1e150 ? x : 1), 1, 1e-15) << x;
  }
  for (double x = -0.999; x < 3; x += 0.00171) {
    EXPECT_NEAR(plain::log1p(x), std::log1p(x), 2e-15 * std::abs(std::log1p(x)) + 1e-18) << x;
  }
  EXPECT_NEAR(plain::log1p(1e-18) / 1e-18, 1, 1e-15);
}

TEST(PlainMath, NormalDistributionAgreesWithErfcTo1e12) {
  for (double x = -36; x < 9; x += 0.0137) {
    EXPECT_NEAR(plain::normal_cdf(x) / (0.5 * std::erfc(-x / std::sqrt(2.0))), 1, 1e-12) << x;
  }
  EXPECT_EQ(plain::normal_cdf(0), 0.5);
}

TEST(PlainMath, CosineAgreesWithTheLibrary) {
  for (double x = 0; x <= 1; x += 0.0173) {
    EXPECT_NEAR(plain::cos_pi(x), std::cos(3.14159265358979323846 * x), 4e-16) << x;
  }
}

TEST(GaussLegendre, IntegratesPolynomialsOfDegreeTwicePointsMinusOne) {
  for (const int points : {1, 2, 8, 24, 99}) {
    const QuadratureRule rule = gauss_legendre(points);
    for (int degree = 0; degree < 2 * points; degree += 1 + degree / 7) {
      double sum = 0;
      for (std::size_t i = 0; i < rule.size(); ++i) {
        sum += rule.weight[i] * std::pow(rule.node[i], degree);
      }
      EXPECT_NEAR(sum, degree % 2 == 0 ? 2.0 / (degree + 1) : 0, 1e-14) << points << " " << degree;
    }
  }
}

TEST(Chebyshev, ReproducesAPolynomialBetweenItsPoints) {
  const auto f = [](double x) { return 1 + x * (3 + x * (-2 + x * (0.5 + x))); };
  std::vector<double> values;
  for (const double x : chebyshev_points(7)) values.push_back(f(x));
  const std::vector<double> coefficients = chebyshev_coefficients(values);
  for (double x = -1; x <= 1; x += 0.01) EXPECT_NEAR(chebyshev_value(coefficients, x), f(x), 1e-14);
}

// E r^2 = d, E r^4 = d (d + 2), E r = sqrt(2) Gamma((d + 1) / 2) / Gamma(d / 2). Gamma by libm's
// lgamma, whose relative error of 1e-15 counts d ln d times.
TEST(ChiRule, HasTheMomentsOfTheNorm) {
  for (const double d : {0.5, 1.0, 1.5, 2.0, 4.0, 64.0, 1e3, 1e6}) {
    const QuadratureRule rule = chi_rule(d);
    double total = 0;
    double first = 0;
    double second = 0;
    double fourth = 0;
    for (std::size_t i = 0; i < rule.size(); ++i) {
      const double r = rule.node[i];
      total += rule.weight[i];
      first += rule.weight[i] * r;
      second += rule.weight[i] * r * r;
      fourth += rule.weight[i] * r * r * r * r;
    }
    EXPECT_NEAR(total, 1, 1e-13);
    EXPECT_NEAR(second / d, 1, 1e-10) << d;
    EXPECT_NEAR(fourth / (d * (d + 2)), 1, 1e-10) << d;
    const double mean = std::sqrt(2.0) * std::exp(std::lgamma((d + 1) / 2) - std::lgamma(d / 2));
    EXPECT_NEAR(first / mean, 1, 1e-10 + 1e-15 * d * std::log(d + 1)) << d;
  }
}

TEST(ChiRule, StaysExactAtAHugeDimension) {
  const double d = 1e12;
  const QuadratureRule rule = chi_rule(d);
  double mean = 0;
  for (std::size_t i = 0; i < rule.size(); ++i) mean += rule.weight[i] * rule.node[i];
  EXPECT_NEAR(mean / std::sqrt(d), 1, 1e-12);  // E r = sqrt(d) (1 - 1 / (4 d) + ...)
}

}  // namespace
}  // namespace attnscale
