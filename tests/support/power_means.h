// Whether draws have the means of their powers that a law says.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>

namespace attnscale {

/// The mean of draw^power within so many standard errors, which the draws themselves tell: false
/// alarm 6e-7 of 5, 6e-5 of 4.
inline void expect_mean_of_power(std::span<const double> draws, int power, double expected,
                                 double errors) {
  const auto count = static_cast<double>(draws.size());
  double sum = 0;
  double squares = 0;
  for (const double draw : draws) {
    const double term = std::pow(draw, power);
    sum += term;
    squares += term * term;
  }
  const double mean = sum / count;
  const double error = std::sqrt((squares / count - mean * mean) / count);
  EXPECT_LE(std::abs(mean - expected), errors * error + 1e-12) << "power " << power;
}

}  // namespace attnscale
