#include "numerics/weight_jacobian.h"

#include <algorithm>
#include <cmath>

namespace attnscale {
namespace {

bool is_diagonal(const QueryWeights& query) {
  return query.rule().normaliser.kind == NormaliserKind::kSigmoid;
}

double diagonal_entry(const QueryWeights& query, std::size_t key) {
  return query.weights()[key] * query.complements()[key];
}

double largest_diagonal_entry(const QueryWeights& query) {
  double largest = 0;
  for (std::size_t key = 0; key < query.weights().size(); ++key) {
    largest = std::max(largest, diagonal_entry(query, key));
  }
  return largest;
}

double diagonal_norm(const QueryWeights& query) {
  const double scale = largest_diagonal_entry(query);
  if (scale == 0) return 0;
  double squares = 0;
  for (std::size_t key = 0; key < query.weights().size(); ++key) {
    const double entry = diagonal_entry(query, key) / scale;
    squares += entry * entry;
  }
  return scale * std::sqrt(squares);
}

// sqrt(a^2 + b^2) for a, b >= 0.
double hypotenuse(double a, double b) {
  const double larger = std::max(a, b);
  if (larger == 0) return 0;
  const double ratio = std::min(a, b) / larger;
  return larger * std::sqrt(1 + ratio * ratio);
}

}  // namespace

// Entries relative to `scale`, which is about the largest of them; those of the top key apart, so
// that the pairs of the others are a difference of numbers no larger than they are.
double jacobian_norm(const QueryWeights& query) {
  if (is_diagonal(query)) return diagonal_norm(query);
  const std::size_t top = query.top();
  const std::size_t keys = query.weights().size();
  const double p = query.weights()[top];
  const double next = keys > 1 ? query.weights()[query.next()] : 0;
  const double scale = std::max(diagonal_entry(query, top), next);
  if (scale == 0) return 0;

  double diagonal = 0;
  double power2 = 0;  // sums of powers of the other weights over scale
  double power4 = 0;
  for (std::size_t key = 0; key < keys; ++key) {
    const double entry = diagonal_entry(query, key) / scale;
    diagonal += entry * entry;
    if (key == top) continue;
    const double other = query.weights()[key] / scale;
    power2 += other * other;
    power4 += other * other * other * other;
  }
  const double pairs = 2 * p * p * power2 + scale * scale * (power2 * power2 - power4);
  return scale * std::sqrt(diagonal + pairs);
}

double jacobian_spectral(const QueryWeights& query) {
  if (is_diagonal(query)) return largest_diagonal_entry(query);
  const std::size_t top = query.top();
  const double p1 = query.weights()[top];
  const double s1 = diagonal_entry(query, top);
  if (query.weights().size() == 1) return s1;
  const double p2 = query.weights()[query.next()];
  // Two equal weights: moving one up and the other down is the eigenvector.
  if (p1 == p2) return p1;

  // Newton's method for (l - s1) - (p1 - l) sum = 0, whose left side rises and bends down between
  // p2 and p1: from below the root it climbs to it and never beyond. It starts from the largest
  // eigenvalue of the two largest weights alone.
  const double s2 = diagonal_entry(query, query.next());
  double root = (s1 + s2 + hypotenuse(std::abs(s1 - s2), 2 * p1 * p2)) / 2;
  constexpr int kMostSteps = 100;  // a handful are needed
  for (int step = 0; step < kMostSteps && p2 < root && root < p1; ++step) {
    double sum = 0;
    double steepness = 0;  // minus the derivative of the sum
    for (std::size_t key = 0; key < query.weights().size(); ++key) {
      if (key == top) continue;
      const double p = query.weights()[key];
      const double ratio = p / (root - p);
      sum += p * ratio;
      steepness += ratio * ratio;
    }
    const double value = (root - s1) - (p1 - root) * sum;
    const double higher = root - value / (1 + sum + (p1 - root) * steepness);
    if (!(higher > root)) break;
    root = higher;
  }
  return std::clamp(root, p2, p1);
}

}  // namespace attnscale
