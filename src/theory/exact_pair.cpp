#include "theory/exact_pair.h"

#include <cmath>

#include "numerics/portable_math.h"
#include "numerics/quadrature.h"

namespace attnscale {
namespace {

bool has_known_law(const ExactRequest& request) {
  return request.weighing.keys == 2 && is_linear(request.weighing) &&
         request.law == ScoreLaw::kNormal;
}

// P(|top logit - next| > gap) for two keys: their difference is normal given |q|.
double fraction_apart(const QuadratureRule& norms, double per_norm, double gap) {
  double fraction = 0;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const double spread = std::sqrt(2.0) * per_norm * norms.node[i];
    if (spread > 0) fraction += norms.weight[i] * 2 * plain::normal_cdf(-gap / spread);
  }
  return fraction;
}

}  // namespace

std::optional<double> exact_saturated(const ExactRequest& request, double threshold) {
  if (!has_known_law(request)) return std::nullopt;
  if (threshold < 0.5) return 1;
  if (threshold >= 1) return 0;
  const double gap = plain::log(threshold / (1 - threshold));
  return fraction_apart(chi_rule(request.d), spread_per_norm(request), gap);
}

}  // namespace attnscale
