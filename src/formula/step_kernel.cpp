#include "formula/step_kernel.h"

#include <cmath>
#include <limits>

#include "numerics/portable_math.h"
#include "numerics/vector_clones.h"

namespace attnscale {
namespace {

constexpr double kSmallest = std::numeric_limits<double>::min();
constexpr double kLargest = std::numeric_limits<double>::max();

ATTNSCALE_INLINED inline double exponential(double x) {
  const double power = plain::exp(x);
  return x > 700 ? kInfinity : x < -700 ? 0 : power;
}

ATTNSCALE_INLINED inline double logarithm(double x) {
  const double power = plain::log(x);
  const double below = x < 0 ? kNan : -kInfinity;
  const double above = x <= kLargest ? power : x;  // infinity and NaN stay
  return x < kSmallest ? below : above;
}

// One step of Newton's method makes up for the error of the exponential.
ATTNSCALE_INLINED inline double cube_root(double x) {
  const double magnitude = std::abs(x);
  const double near = plain::exp(plain::log(magnitude) / 3);
  const double root = near - (near * near * near - magnitude) / (3 * near * near);
  const double above = magnitude <= kLargest ? root : magnitude;
  return std::copysign(magnitude < kSmallest ? 0 : above, x);
}

ATTNSCALE_INLINED inline double power(double a, double b) {
  const double magnitude = exponential(b * logarithm(std::abs(a)));
  const bool is_whole = std::floor(b) == b;
  const bool is_even = std::floor(b / 2) * 2 == b;
  const double of_negative = !is_whole ? kNan : is_even ? magnitude : -magnitude;
  return b == 0 ? 1 : a < 0 ? of_negative : magnitude;
}

}  // namespace

// One operation is one line.
// clang-format off
ATTNSCALE_VECTOR_CLONES
void apply_step(Operation operation, const double* a, const double* b, double* out,
                std::size_t count) {
  const auto each = [=](auto function) ATTNSCALE_INLINED {
    for (std::size_t n = 0; n < count; ++n) out[n] = function(a[n], b[n]);
  };
#define ATTNSCALE_STEP(result)                                                         \
  each([=](double x, [[maybe_unused]] double y) ATTNSCALE_INLINED { return result; }); \
  break
  switch (operation) {
    case Operation::kNegate: ATTNSCALE_STEP(-x);
    case Operation::kAdd: ATTNSCALE_STEP(x + y);
    case Operation::kSubtract: ATTNSCALE_STEP(x - y);
    case Operation::kMultiply: ATTNSCALE_STEP(x * y);
    case Operation::kDivide: ATTNSCALE_STEP(x / y);
    case Operation::kPower: ATTNSCALE_STEP(power(x, y));
    case Operation::kSqrt: ATTNSCALE_STEP(std::sqrt(x));
    case Operation::kCbrt: ATTNSCALE_STEP(cube_root(x));
    case Operation::kExp: ATTNSCALE_STEP(exponential(x));
    case Operation::kLn: ATTNSCALE_STEP(logarithm(x));
    case Operation::kLog2: ATTNSCALE_STEP(logarithm(x) / plain::log(2));
    case Operation::kLog10: ATTNSCALE_STEP(logarithm(x) / plain::log(10));
    case Operation::kTanh: ATTNSCALE_STEP(plain::tanh(x));
    case Operation::kAbs: ATTNSCALE_STEP(std::abs(x));
    case Operation::kSign: ATTNSCALE_STEP(x > 0 ? 1.0 : x < 0 ? -1.0 : x);
    case Operation::kFloor: ATTNSCALE_STEP(std::floor(x));
    case Operation::kCeil: ATTNSCALE_STEP(std::ceil(x));
    case Operation::kMin: ATTNSCALE_STEP(y < x || y != y ? y : x);
    case Operation::kMax: ATTNSCALE_STEP(y > x || y != y ? y : x);
    default: break;
  }
#undef ATTNSCALE_STEP
}
// clang-format on

double apply_step(Operation operation, double a, double b) {
  double out = 0;
  apply_step(operation, &a, &b, &out, 1);
  return out;
}

}  // namespace attnscale
