#include "numerics/precision.h"

#include <algorithm>

#include "numerics/portable_math.h"

namespace attnscale {

ATTNSCALE_VECTOR_CLONES
void round_all(Precision precision, std::span<double> numbers) {
  with_rounding_to(precision, [=](auto round) ATTNSCALE_INLINED {
    for (double& number : numbers) number = round(number);
  });
}

// From the widest numbers on, one power of two after the other, to where steps no longer count.
double rounding_variance(Precision precision, double sd) {
  if (precision == Precision::kFloat64 || sd == 0) return 0;
  constexpr int kBeyond = 6;  // powers of two: 64 spreads have no probability
  constexpr int kPowers = 26;
  const FloatFormat format = format_of(precision);
  const int least = format.smallest_power + format.digits - 1;
  const int first = std::max(std::ilogb(sd) + kBeyond, least);
  const int last = std::max(first - kPowers, least);
  double variance = 0;
  double above = 0;
  for (int power = first; power >= last; --power) {
    // Below the last one steps are no larger.
    const double size = power == last ? 0 : std::ldexp(1.0, power);
    const double here = 2 * plain::normal_cdf(-size / sd);
    const double step = std::ldexp(1.0, power - format.digits + 1);
    variance += (here - above) * step * step / 12;
    above = here;
  }
  return variance;
}

}  // namespace attnscale
