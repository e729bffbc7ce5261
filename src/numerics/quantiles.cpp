#include "numerics/quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numerics/double_double.h"
#include "numerics/portable_math.h"

// What follows is written once for two kinds of numbers: doubles find where the solution is, and
// numbers in two doubles the rest of its digits.

namespace attnscale {
namespace {

double rounded(double number) {
  return number;
}
double rounded(const DoubleDouble& number) {
  return number.high;
}

// Stirling's series (Abramowitz & Stegun 6.1.40) from 16 on, where its first omitted term is 2e-27.
template <typename Real>
Real log_gamma(Real z) {
  constexpr std::array<std::array<double, 2>, 12> kTerms{{{1, 12},
                                                          {-1, 360},
                                                          {1, 1260},
                                                          {-1, 1680},
                                                          {1, 1188},
                                                          {-691, 360360},
                                                          {1, 156},
                                                          {-3617, 122400},
                                                          {43867, 244188},
                                                          {-174611, 125400},
                                                          {77683, 5796},
                                                          {-236364091, 1506960}}};
  constexpr double kHalfLogTwoPi = 0x1.d67f1c864beb5p-1;
  constexpr double kHalfLogTwoPiRest = -0x1.65b5a1b7ff5dfp-55;
  Real passed = 1.0;
  for (; rounded(z) < 16; z = z + 1.0) passed = passed * z;
  const Real inverse = Real(1.0) / z;
  Real series = 0.0;
  for (auto term = kTerms.rbegin(); term != kTerms.rend(); ++term) {
    series = series * inverse * inverse + Real((*term)[0]) / Real((*term)[1]);
  }
  return (z - 0.5) * plain::log(z) - z + kHalfLogTwoPi +
         (series * inverse + kHalfLogTwoPiRest - plain::log(passed));
}

// What x^a y^b / B(a, b), y = 1 - x, is to be divided by for the distribution function at x; by
// Lentz's method.
template <typename Real>
Real continued_fraction(const Real& a, const Real& b, const Real& x, const Real& y) {
  constexpr double kEnough = 0x1p-72;
  const Real apart = a * y - b * x + 1.0;
  Real inverse = Real(1.0) / (a + 1.0);
  Real fraction = a * apart * inverse;
  Real numerator = fraction;
  Real denominator = 0.0;
  for (double n = 1; n < 10000; ++n) {
    const Real ratio = x * inverse;
    inverse = Real(1.0) / (a + (2 * n + 1));
    const Real product = (b - n) * n * ratio;
    const Real partial = (a + (n - 1)) * (a + b + (n - 1)) * ratio * product;
    const Real term = product + n + (a + n) * (apart + (y + 1.0) * n) * inverse;
    numerator = term + partial / numerator;
    denominator = Real(1.0) / (term + partial * denominator);
    const Real factor = numerator * denominator;
    fraction = fraction * factor;
    if (std::abs(rounded(factor - 1.0)) < kEnough) break;
  }
  return fraction;
}

// The odds x / (1 - x) of the number x below which a beta number lies with the probability `below`,
// at most 1/2, by Newton's method from `odds` until a step starts `enough` (relative) away from it.
// The function is concave: after the first step each one starts below the solution, but for
// rounding errors.
template <typename Real>
Real solve_odds(const Real& a, const Real& b, const Real& below, Real odds, double enough) {
  const Real constant = log_gamma(a) + log_gamma(b) - log_gamma(a + b) + plain::log(below);
  double previous = 0;
  for (int step = 0; step < 100; ++step) {
    const Real y = Real(1.0) / (odds + 1.0);
    const Real x = odds * y;
    const Real slope = continued_fraction(a, b, x, y);
    const Real miss = a * plain::log(x) + b * plain::log(y) - plain::log(slope) - constant;
    odds = odds * plain::exp(-miss / slope);
    const double size = rounded(miss);
    if (std::abs(size) < enough || (step > 0 && size > 0) || (step > 1 && size <= previous)) break;
    previous = size;
  }
  return odds;
}

// The probability that a beta number's odds are at most `odds`, up to its mean's or so.
double beta_below(double a, double b, double odds) {
  const double y = 1 / (1 + odds);
  const double x = odds * y;
  return plain::exp_of_negative(a * plain::log(x) + b * plain::log(y) + log_gamma(a + b) -
                                log_gamma(a) - log_gamma(b)) /
         continued_fraction(a, b, x, y);
}

DoubleDouble odds_below(double a, double b, double below) {
  const double near = solve_odds<double>(a, b, below, a / b, 1e-7);
  return solve_odds<DoubleDouble>(a, b, below, near, 1e-10);
}

}  // namespace

double student_quantile(double degrees, double probability) {
  if (probability == 0.5) return 0;
  const double tails = 2 * std::min(probability, 1 - probability);
  const DoubleDouble square = tails > 0.5
                                  ? odds_below(0.5, degrees / 2, 1 - tails) * degrees
                                  : DoubleDouble(degrees) / odds_below(degrees / 2, 0.5, tails);
  const double root = std::sqrt(square.high);
  const double size = root + ((square - DoubleDouble(root) * root) / (2 * root)).high;
  return probability < 0.5 ? -size : size;
}

double student_tails(double degrees, double t) {
  if (t == 0) return 1;
  const double odds = t * t / degrees;
  return t < 1 ? 1 - beta_below(0.5, degrees / 2, odds) : beta_below(degrees / 2, 0.5, 1 / odds);
}

double beta_quantile(double a, double b, double probability) {
  if (probability > 0.5)
    return (DoubleDouble(1.0) / (odds_below(b, a, 1 - probability) + 1.0)).high;
  const DoubleDouble odds = odds_below(a, b, probability);
  return (odds / (odds + 1.0)).high;
}

}  // namespace attnscale
