// Doubles in vectors, one query per lane, and polynomials of them. Included by kernels only, once
// per instruction set.

#if defined(ATTNSCALE_NUMERICS_POLYNOMIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNSCALE_NUMERICS_POLYNOMIAL_INL_H_
#undef ATTNSCALE_NUMERICS_POLYNOMIAL_INL_H_
#else
#define ATTNSCALE_NUMERICS_POLYNOMIAL_INL_H_
#endif

#include <hwy/highway.h>

#include "numerics/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace attnscale {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DoubleLanes = hn::CappedTag<double, kLanes>;
using Doubles = hn::Vec<DoubleLanes>;

/// c[0] + c[1] x + ..., even and odd terms side by side, every step one fused multiply-add. A loop
/// over pairs, as g++ unrolls no more than 16 turns.
template <std::size_t kCoefficients>
HWY_INLINE Doubles polynomial(Doubles x, const double (&c)[kCoefficients]) {
  const DoubleLanes tag;
  const Doubles x2 = hn::Mul(x, x);
  Doubles last = hn::Set(tag, c[kCoefficients - 1]);
  Doubles other = hn::Set(tag, c[kCoefficients - 2]);
  for (std::size_t i = kCoefficients - 2; i > 1; i -= 2) {
    last = hn::MulAdd(last, x2, hn::Set(tag, c[i - 1]));
    other = hn::MulAdd(other, x2, hn::Set(tag, c[i - 2]));
  }
  if constexpr (kCoefficients % 2 == 0) return hn::MulAdd(last, x, other);
  return hn::MulAdd(other, x, hn::MulAdd(last, x2, hn::Set(tag, c[0])));
}

}  // namespace HWY_NAMESPACE
}  // namespace attnscale
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
