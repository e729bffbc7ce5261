#include "estimate/quantiles.h"

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>

namespace attnscale {

double student_quantile(double degrees, double probability) {
  return boost::math::quantile(boost::math::students_t(degrees), probability);
}

double beta_quantile(double a, double b, double probability) {
  return boost::math::ibeta_inv(a, b, probability);
}

}  // namespace attnscale
