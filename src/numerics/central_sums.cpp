#include "numerics/central_sums.h"

#include <numeric>

namespace attnscale {
namespace {

CentralSums sums_of(std::span<const double> numbers) {
  CentralSums sums;
  sums.count = std::ssize(numbers);
  const double n = static_cast<double>(sums.count);
  sums.mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / n;
  for (const double number : numbers) {
    const double deviation = number - sums.mean;
    const double square = deviation * deviation;
    sums.square += square;
    sums.cube += square * deviation;
    sums.fourth += square * square;
  }
  return sums;
}

}  // namespace

void CentralSums::add(std::span<const double> numbers) {
  if (numbers.empty()) return;
  const CentralSums a = *this;
  const CentralSums b = sums_of(numbers);
  if (a.count == 0) {
    *this = b;
    return;
  }
  const auto na = static_cast<double>(a.count);
  const auto nb = static_cast<double>(b.count);
  const double n = na + nb;
  const double apart = b.mean - a.mean;
  const double step = apart / n;
  count = a.count + b.count;
  mean = a.mean + nb * step;
  square = a.square + b.square + na * nb * apart * step;
  cube = a.cube + b.cube + na * nb * (na - nb) * apart * step * step +
         3 * step * (na * b.square - nb * a.square);
  fourth = a.fourth + b.fourth +
           na * nb * (na * na - na * nb + nb * nb) * apart * step * step * step +
           6 * step * step * (na * na * b.square + nb * nb * a.square) +
           4 * step * (na * b.cube - nb * a.cube);
}

}  // namespace attnscale
