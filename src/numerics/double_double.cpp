#include "numerics/double_double.h"

#include <limits>

#include "numerics/portable_math.h"

namespace attnscale::plain {

DoubleDouble exp(const DoubleDouble& x) {
  constexpr DoubleDouble kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  constexpr double kLargest = 710;
  constexpr double kSmallest = -746;
  if (x.high > kLargest) return std::numeric_limits<double>::infinity();
  if (x.high < kSmallest) return 0.0;
  const double doublings = std::floor(x.high / kLn2.high + 0.5);
  const DoubleDouble rest = x - kLn2 * doublings;
  // Taylor: the remainder is below 1e-34 for |rest| <= ln(2) / 2.
  DoubleDouble sum = 1.0;
  for (int k = 24; k > 0; --k) sum = rest * sum / static_cast<double>(k) + 1.0;
  const int exponent = static_cast<int>(doublings);
  return {std::ldexp(sum.high, exponent), std::ldexp(sum.low, exponent)};
}

DoubleDouble log(const DoubleDouble& x) {
  // With y near log x, log x = y + log(1 + d) and d = x e^-y - 1 below 1e-12: one term more than
  // Newton's is enough.
  int exponent = 0;
  const double fraction = std::frexp(x.high, &exponent);
  const DoubleDouble scaled(fraction, std::ldexp(x.low, -exponent));
  const DoubleDouble near = log(fraction);
  const DoubleDouble d = scaled * exp(-near) - 1.0;
  constexpr DoubleDouble kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  return kLn2 * static_cast<double>(exponent) + (near + (d - d * d * 0.5));
}

double power(double x, double power) {
  if (power == 0 || x == 1) return 1;
  if (std::isnan(x) || std::isnan(power)) return kNan;
  const bool is_whole = std::floor(power) == power;
  if (x < 0 && std::isfinite(x) && !is_whole) return kNan;
  const double size = std::abs(x);
  double result = 1;
  if (size == 0 || std::isinf(size) || (std::isinf(power) && size != 1)) {
    result = (size > 1) == (power > 0) ? kInfinity : 0;
  } else if (size != 1) {
    result = exp(log(DoubleDouble(size)) * power).high;
  }
  const bool is_odd = is_whole && std::floor(power / 2) * 2 != power;
  return is_odd ? std::copysign(result, x) : result;
}

}  // namespace attnscale::plain
