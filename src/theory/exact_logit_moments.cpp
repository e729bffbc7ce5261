#include "theory/exact_logit_moments.h"

#include <algorithm>
#include <cmath>

#include "numerics/quadrature.h"
#include "theory/law_integrals.h"

namespace attnscale {

LogitMoments exact_logit_moments(const ExactRequest& request) {
  const double d = request.d;
  const bool is_cosine = request.law == ScoreLaw::kCosine;
  const double full_size = std::abs(request.multiplier) * (is_cosine ? 1 : request.entry_sd);
  if (full_size == 0) return {0, std::nullopt};
  if (request.weighing.softcap == kNoSoftcap) {
    return is_cosine ? LogitMoments{full_size / std::sqrt(d), 3 * d / (d + 2)}
                     : LogitMoments{full_size * std::sqrt(d), 3 + 6 / d};
  }
  // Panels are cut by what logits rise on them, up to twice the cap: a large cap and its logits are
  // shrunk together, which changes no moment but by that factor.
  constexpr double kMostCap = 64;
  const double shrink = std::min(1.0, kMostCap / request.weighing.softcap);
  const double cap = shrink * request.weighing.softcap;
  const double size = shrink * full_size;
  EvenMoments mean{};
  if (is_cosine) {
    mean = even_moments(cosine_law(d, size, cap));
  } else {
    const QuadratureRule norms = chi_rule(d);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      const EvenMoments at = even_moments(normal_law(size * norms.node[i], cap));
      mean.second += norms.weight[i] * at.second;
      mean.fourth += norms.weight[i] * at.fourth;
    }
  }
  return {std::sqrt(mean.second) / shrink, mean.fourth / (mean.second * mean.second)};
}

}  // namespace attnscale
