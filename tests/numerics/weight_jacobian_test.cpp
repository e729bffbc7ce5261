#include "numerics/weight_jacobian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/dense_eigenvalues.h"
#include "support/plain_softmax.h"

namespace attnscale {
namespace {

QueryWeights weigh(const std::vector<double>& logits, const WeightRule& rule = {}) {
  QueryWeights query;
  query.weigh(logits, rule, 0);
  return query;
}

void expect_relative(double found, long double expected, double tolerance) {
  EXPECT_LE(std::abs(found - expected), std::abs(expected) * tolerance)
      << found << " instead of " << static_cast<double>(expected);
}

// The largest eigenvalue of the whole matrix by rotations in long double. With a sink the matrix is
// that of the keys alone.
TEST(JacobianSpectral, IsTheLargestEigenvalueOfTheMatrix) {
  for (const std::size_t keys : {2U, 3U, 8U, 17U}) {
    for (const double reach : {0.0, 1e-9, 0.01, 1.0, 4.0, 20.0, 80.0}) {
      for (const std::vector<double>& row : random_rows(4, keys, reach)) {
        for (const bool has_sink : {false, true}) {
          std::vector<double> all = row;
          if (has_sink) all.push_back(1.5);
          const PlainSoftmax plain(all);
          const long double expected = largest_eigenvalue(jacobian_of(plain, keys));
          const Normaliser normaliser{has_sink ? NormaliserKind::kSink : NormaliserKind::kSoftmax,
                                      1.5};
          const double found = jacobian_spectral(weigh(row, {normaliser}));
          expect_relative(found, expected, plain.tolerance());
        }
      }
    }
  }
}

TEST(JacobianSpectral, OfTwoKeysIsTwiceTheSlope) {
  for (const double gap : {0.0, 1e-12, 1e-3, 0.5, 3.0, 40.0, 340.0, 400.0, 700.0}) {
    const auto query = weigh({0, -gap});
    const double slope = query.weights()[0] * query.complements()[0];
    EXPECT_NEAR(jacobian_spectral(query), 2 * slope, 1e-15 * slope) << gap;
    EXPECT_NEAR(jacobian_norm(query), 2 * slope, 1e-15 * slope) << gap;
  }
}

// Between the largest p(1-p), an entry of the diagonal, and 1/2.
TEST(JacobianSpectral, KeepsItsBounds) {
  constexpr double kSlack = 1 + 1e-14;
  for (const std::size_t keys : {2U, 5U, 64U, 1000U}) {
    for (const double reach : {0.0, 0.3, 3.0, 30.0, 700.0}) {
      for (const std::vector<double>& row : random_rows(5, keys, reach / 2)) {
        const auto query = weigh(row);
        double largest = 0;
        for (std::size_t key = 0; key < keys; ++key) {
          largest = std::max(largest, query.weights()[key] * query.complements()[key]);
        }
        EXPECT_GE(jacobian_spectral(query) * kSlack, largest);
        EXPECT_LE(jacobian_spectral(query), 0.5 * kSlack);
        EXPECT_LE(jacobian_spectral(query), jacobian_norm(query) * kSlack);
      }
    }
  }
}

TEST(JacobianSpectral, OfEqualWeightsIsTheWeight) {
  EXPECT_DOUBLE_EQ(jacobian_spectral(weigh({2, 2, 2, 2})), 0.25);
  EXPECT_DOUBLE_EQ(jacobian_spectral(weigh({5, 1, 5})), weigh({5, 1, 5}).weights()[0]);
  EXPECT_EQ(jacobian_spectral(weigh({5})), 0);
}

// Weights of e^-600 beside a sink: their squares are below every double.
TEST(Jacobian, OutlivesTheSquaresOfItsEntries) {
  const WeightRule rule{{NormaliserKind::kSink, 600}};
  const double p = std::exp(-600.0);
  expect_relative(jacobian_norm(weigh({0, 0}, rule)), std::sqrt(2.0L) * p, 1e-13);
  expect_relative(jacobian_spectral(weigh({0, 0}, rule)), p, 1e-13);
  // 2p for the top key itself, p for the others, p twice for each of their pairs with the top.
  expect_relative(jacobian_norm(weigh({600, 0, 0})), std::sqrt(4.0L + 2 + 4) * p, 1e-13);
  // Of [2 -1 -1; -1 1 0; -1 0 1] p.
  expect_relative(jacobian_spectral(weigh({600, 0, 0})), 3 * p, 1e-13);
}

// A sigmoid's weights answer their own logits alone.
TEST(Jacobian, OfASigmoidIsDiagonal) {
  const WeightRule rule{{NormaliserKind::kSigmoid, 0.25}};
  const auto query = weigh({-2, 0.5, 3}, rule);
  long double squares = 0;
  long double largest = 0;
  for (const long double x : {-1.75L, 0.75L, 3.25L}) {
    const long double entry = 1 / ((1 + std::exp(-x)) * (1 + std::exp(x)));
    squares += entry * entry;
    largest = std::max(largest, entry);
  }
  expect_relative(jacobian_norm(query), std::sqrt(squares), 1e-15);
  expect_relative(jacobian_spectral(query), largest, 1e-15);
}

}  // namespace
}  // namespace attnscale
