// Quantiles of the laws that intervals are made of, and tails of one, from IEEE 754 arithmetic
// alone: the same bits on every machine. Knows nothing of estimates.
#pragma once

namespace attnscale {

/// The number below which Student's t with `degrees` >= 1/2 degrees of freedom lies with this
/// probability in (0, 1).
///
/// t^2 / degrees is the odds of a beta number (Abramowitz & Stegun 26.5.27). Nearest double but for
/// one in some 1000, and then the next, up to 1e9 degrees.
double student_quantile(double degrees, double probability);

/// The probability that Student's t with `degrees` >= 2 lies beyond -t or t, t >= 0. Relative error
/// below 1e-11 up to 1000 degrees, and growing as they do.
double student_tails(double degrees, double t);

/// The number below which a beta number with the parameters a and b (each at least 1/4) lies with
/// this probability in (0, 1). As exact as student_quantile.
///
/// The distribution function is DiDonato and Morris's continued fraction (ACM TOMS 18, 1992, eq. 9)
/// times the density; Newton's method on its logarithm, as a function of the log of the odds, comes
/// from any start to the solution, as that function is concave.
double beta_quantile(double a, double b, double probability);

}  // namespace attnscale
