#include "numerics/portable_math.h"

namespace attnscale::plain {

double cos_pi(double x) {
  // cos(pi x) = sin(pi (1/2 - x)): odd about 1/2, where the Taylor series is best.
  constexpr double kPi = 3.14159265358979323846;
  const double angle = kPi * (0.5 - x);
  double term = angle;
  double sum = angle;
  for (int k = 2; k < 30; k += 2) {
    term *= -angle * angle / (k * (k + 1));
    sum += term;
  }
  return sum;
}

double normal_cdf(double x) {
  if (x > 0) return 1 - normal_cdf(-x);
  if (x < -37) return 0;
  const double density = normal_density(x);
  if (x > -2.5) {
    // 1/2 + density * sum x^(2k+1) / (1 3 5 ... (2k+1)).
    double term = x;
    double sum = x;
    for (int k = 1; k < 45; ++k) {
      term *= x * x / (2 * k + 1);
      sum += term;
    }
    return 0.5 + density * sum;
  }
  // Laplace's continued fraction of Mills' ratio, from the bottom.
  double fraction = -x;
  for (int k = 160; k >= 1; --k) fraction = -x + k / fraction;
  return density / fraction;
}

}  // namespace attnscale::plain
