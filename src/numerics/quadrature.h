// Rules of integration and interpolation on an interval, from portable arithmetic. Knows nothing
// of what is integrated.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace attnscale {

/// Nodes and weights: the integral of f is about the sum of weight[i] * f(node[i]).
struct QuadratureRule {
  std::vector<double> node;
  std::vector<double> weight;

  std::size_t size() const { return node.size(); }
  void add(double at, double with_weight) {
    node.push_back(at);
    weight.push_back(with_weight);
  }
};

/// The Gauss-Legendre rule on [-1, 1], exact for polynomials of degree 2 points - 1.
QuadratureRule gauss_legendre(int points);

/// Norms r of a vector of d standard normal entries (chi with d degrees of freedom) in equal steps
/// of log r, with their probabilities, which sum to 1. For functions of log r that are as smooth as
/// the density the error is below 1e-10. Any real d > 0; the number of nodes is 25 to 250, and
/// grows as 1 / d below d = 1. `halvings` of the step let the rule follow sharper functions.
QuadratureRule chi_rule(double d, int halvings = 0);

/// Chebyshev points of the first kind on [-1, 1].
std::vector<double> chebyshev_points(int points);

/// Coefficients of the polynomial through `values` at chebyshev_points(values.size()).
std::vector<double> chebyshev_coefficients(std::span<const double> values);

/// That polynomial at x in [-1, 1], by Clenshaw's recurrence.
double chebyshev_value(std::span<const double> coefficients, double x);

}  // namespace attnscale
