// Quantiles of Student's t and of the beta distribution. The one file that includes Boost.Math,
// which takes seconds to compile.
#pragma once

namespace attnscale {

/// The number below which Student's t with `degrees` > 0 degrees of freedom lies with this
/// probability.
double student_quantile(double degrees, double probability);

/// The same of the beta distribution with parameters a and b > 0.
double beta_quantile(double a, double b, double probability);

}  // namespace attnscale
