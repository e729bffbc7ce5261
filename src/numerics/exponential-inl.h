// Exponentials in vectors, of our own, so that bytes depend on no library and no work is done for
// numbers that nobody asks for. Included by
// kernels only, once per instruction set.

#if defined(ATTNSCALE_NUMERICS_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNSCALE_NUMERICS_EXPONENTIAL_INL_H_
#undef ATTNSCALE_NUMERICS_EXPONENTIAL_INL_H_
#else
#define ATTNSCALE_NUMERICS_EXPONENTIAL_INL_H_
#endif

#include "numerics/polynomial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscale {
namespace HWY_NAMESPACE {

/// e^x = 2^n (1 + fraction), with n as it is added to an exponent's bits.
struct ScaledExponential {
  Doubles fraction;
  hn::Vec<hn::RebindToUnsigned<DoubleLanes>> power;
};

/// For |x| <= 708: with n = x / ln 2 rounded and r = x - n ln 2, |r| < 0.3467, fraction =
/// r + r^2 Q(r), where Q interpolates at Chebyshev nodes (computed with 60 digits, rounded to
/// double), which costs a relative error of e^x below 2^-55.
HWY_INLINE ScaledExponential scaled_exponential(Doubles x) {
  static constexpr double kQ[] = {
      0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,  0x1.11111111109b3p-7,
      0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13, 0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19,
      0x1.289185613a3d6p-22, 0x1.af38a9b0ec855p-26};
  constexpr double kOneOverLn2 = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fefa38p-1;  // 42 bits: its product with n is exact
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  constexpr double kRounds = 0x1.8p52;  // adding it rounds to an integer, in the low bits
  const DoubleLanes tag;
  const hn::RebindToUnsigned<DoubleLanes> bits;
  const Doubles shifted = hn::MulAdd(x, hn::Set(tag, kOneOverLn2), hn::Set(tag, kRounds));
  const Doubles n = hn::Sub(shifted, hn::Set(tag, kRounds));
  const Doubles high = hn::NegMulAdd(n, hn::Set(tag, kLn2High), x);
  const Doubles r = hn::NegMulAdd(n, hn::Set(tag, kLn2Low), high);
  return {hn::MulAdd(hn::Mul(r, r), polynomial(r, kQ), r),
          hn::ShiftLeft<52>(hn::BitCast(bits, shifted))};
}

/// x 2^n, by n added to the exponent.
HWY_INLINE Doubles times_power(Doubles x, const ScaledExponential& exponential) {
  const hn::RebindToUnsigned<DoubleLanes> bits;
  return hn::BitCast(DoubleLanes(), hn::Add(hn::BitCast(bits, x), exponential.power));
}

/// exp(x) for x <= 0, within 1.1 units in the last place; 0 below -708, where it is next to the
/// smallest normal double. NaN gives anything.
HWY_INLINE Doubles exp_of_negative(Doubles x) {
  constexpr double kSmallest = -708;
  const DoubleLanes tag;
  const ScaledExponential exponential = scaled_exponential(x);
  const Doubles mantissa = hn::Add(exponential.fraction, hn::Set(tag, 1.0));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(tag, kSmallest)), times_power(mantissa, exponential));
}

/// exp(x) - 1 for 0 <= x <= 700, to a few units in the last place also near 0.
HWY_INLINE Doubles expm1_of_positive(Doubles x) {
  const Doubles one = hn::Set(DoubleLanes(), 1.0);
  const ScaledExponential exponential = scaled_exponential(x);
  const Doubles power = times_power(one, exponential);
  return hn::MulAdd(power, exponential.fraction, hn::Sub(power, one));
}

}  // namespace HWY_NAMESPACE
}  // namespace attnscale
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
