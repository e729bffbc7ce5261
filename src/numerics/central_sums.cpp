#include "numerics/central_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attnscale {
namespace {

// The same sums in a larger unit.
CentralSums in_unit(double unit, CentralSums sums) {
  const double ratio = sums.unit / unit;
  sums.unit = unit;
  sums.square *= ratio * ratio;
  sums.cube *= ratio * ratio * ratio;
  sums.fourth *= ratio * ratio * ratio * ratio;
  return sums;
}

}  // namespace

CentralSums CentralSums::of(std::span<const double> numbers) {
  CentralSums sums;
  if (numbers.empty()) return sums;
  sums.count = std::ssize(numbers);
  const double n = static_cast<double>(sums.count);
  sums.mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / n;
  double largest = 0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number - sums.mean));
  sums.unit = unit_of(largest);
  const double per_unit = 1 / sums.unit;  // exact, as units are powers of two
  for (const double number : numbers) {
    const double deviation = (number - sums.mean) * per_unit;
    const double square = deviation * deviation;
    sums.square += square;
    sums.cube += square * deviation;
    sums.fourth += square * square;
  }
  return sums;
}

void CentralSums::add(const CentralSums& added) {
  if (added.count == 0) return;
  if (count == 0) {
    *this = added;
    return;
  }
  const double shift = added.mean - mean;
  const CentralSums a = in_unit(std::max({unit, added.unit, unit_of(shift)}), *this);
  const CentralSums b = in_unit(a.unit, added);
  const auto na = static_cast<double>(a.count);
  const auto nb = static_cast<double>(b.count);
  const double n = na + nb;
  const double apart = shift / a.unit;
  const double step = apart / n;
  count = a.count + b.count;
  mean = a.mean + nb * (shift / n);
  unit = a.unit;
  square = a.square + b.square + na * nb * apart * step;
  cube = a.cube + b.cube + na * nb * (na - nb) * apart * step * step +
         3 * step * (na * b.square - nb * a.square);
  fourth = a.fourth + b.fourth +
           na * nb * (na * na - na * nb + nb * nb) * apart * step * step * step +
           6 * step * step * (na * na * b.square + nb * nb * a.square) +
           4 * step * (na * b.cube - nb * a.cube);
}

}  // namespace attnscale
