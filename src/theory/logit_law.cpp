#include "theory/logit_law.h"

#include <cmath>
#include <utility>

#include "numerics/portable_math.h"

namespace attnscale {
namespace {

constexpr double kReach = 9.5;       // P(score < -9.5) is 1e-21
constexpr double kNothing = 45.125;  // = kReach^2 / 2

// log cosh u, without cancellation near 0 or overflow far from it.
double log_cosh(double u) {
  const double magnitude = std::abs(u);
  if (magnitude < 1) {
    const double tangent = plain::tanh(magnitude);
    return -0.5 * plain::log1p(-tangent * tangent);
  }
  constexpr double kLn2 = 0.69314718055994530942;
  return magnitude - kLn2 + plain::log1p(plain::exp(-2 * magnitude));
}

}  // namespace

LogitPoint softcapped(double score, double slope, double cap) {
  if (cap == kNoSoftcap) return {slope * score, slope};
  const double bent = plain::tanh(slope * score / cap);
  return {cap * bent, slope * (1 - bent) * (1 + bent)};
}

LogitLaw normal_law(LogitCurve logit) {
  return {-kReach, kReach, [](double score) { return -0.5 * score * score; }, std::move(logit)};
}

LogitLaw normal_law(double spread, double cap) {
  return normal_law([=](double score) { return softcapped(score, spread, cap); });
}

LogitLaw cosine_law(double d, double multiplier, double cap) {
  // (d - 1) log cosh u = kNothing at u = arcosh(e^y).
  const double y = kNothing / (d - 1);
  const double reach = y + plain::log1p(std::sqrt(-plain::expm1(-2 * y)));
  return {-reach, reach, [=](double u) { return -(d - 1) * log_cosh(u); },
          [=](double u) { return softcapped(plain::tanh(u), multiplier, cap); }};
}

}  // namespace attnscale
