// Normal numbers from random words, in vectors: Box and Muller, "A note on the generation of random
// normal deviates", Ann. Math. Stat. 29 (1958), with a logarithm, sine and cosine of our own, so
// that bytes depend on no libm. Included by kernels only, once per instruction set.
//
// The polynomials interpolate at Chebyshev nodes (computed with 50 digits, rounded to double); with
// rounded coefficients their relative errors are below 2^-57 (logarithm), 2^-54 (sine) and 2^-55
// (cosine).

#if defined(ATTNSCALE_NUMERICS_BOX_MULLER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNSCALE_NUMERICS_BOX_MULLER_INL_H_
#undef ATTNSCALE_NUMERICS_BOX_MULLER_INL_H_
#else
#define ATTNSCALE_NUMERICS_BOX_MULLER_INL_H_
#endif

#include "numerics/polynomial-inl.h"
#include "numerics/threefry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscale {
namespace HWY_NAMESPACE {

/// -2 ln(x 2^-kExponent) for positive normal x, to a few units in the last place also near 0.
///
/// With x 2^-kExponent = m 2^e, m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1) and z = s^2:
/// ln m = 2 artanh s = s (2 + z P(z)), |s| < 0.1716.
template <int kExponent>
HWY_INLINE Doubles minus_two_log(Doubles x) {
  static constexpr double kP[] = {
      -0x1.5555555555558p+0, -0x1.99999999952d7p-1, -0x1.2492492df281ap-1, -0x1.c71c62e3f11e6p-2,
      -0x1.7462b51cb66b1p-2, -0x1.39fe51a7c18f9p-2, -0x1.2b5900de53b32p-2};
  constexpr std::uint64_t kSqrtHalf = 0x3FE6A09E667F3BCDU;  // bits of sqrt(1/2), rounded up
  constexpr std::uint64_t kMantissa = 0x000FFFFFFFFFFFFFU;
  constexpr std::uint64_t kTwo52 = 0x4330000000000000U;  // bits of 2^52: or-ing n adds n
  constexpr int kBias = 1023;
  constexpr double kMinusTwoLn2 = -0x1.62e42fefa39efp+0;
  const DoubleLanes tag;
  const WordLanes words;

  // 1. Exponent and mantissa: relative to sqrt(1/2), so that the exponent changes there.
  const Words bits = hn::BitCast(words, x);
  const Words offset = hn::Add(bits, hn::Set(words, (std::uint64_t{kBias} << 52) - kSqrtHalf));
  const Doubles biased =
      hn::BitCast(tag, hn::Or(hn::ShiftRight<52>(offset), hn::Set(words, kTwo52)));
  const Doubles e = hn::Sub(biased, hn::Set(tag, 0x1p52 + kBias + kExponent));
  const Doubles m = hn::BitCast(
      tag, hn::Add(hn::And(offset, hn::Set(words, kMantissa)), hn::Set(words, kSqrtHalf)));

  // 2. The logarithm of the mantissa.
  const Doubles one = hn::Set(tag, 1.0);
  const Doubles s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const Doubles z = hn::Mul(s, s);
  const Doubles minus_two_artanh_ratio = hn::MulAdd(z, polynomial(z, kP), hn::Set(tag, -4.0));
  return hn::MulAdd(e, hn::Set(tag, kMinusTwoLn2), hn::Mul(s, minus_two_artanh_ratio));
}

/// -2 ln u of a random word w, where u = max(w, 1/2) 2^-64, rounded to double: all 64 bits of the
/// word count, u is never 0 and never above 1, and sqrt(-2 ln u) reaches 9.49.
HWY_INLINE Doubles minus_two_log_uniform(Words word) {
  const DoubleLanes tag;
  return minus_two_log<64>(hn::Max(hn::ConvertTo(tag, word), hn::Set(tag, 0.5)));
}

struct TwoDoubles {
  Doubles first, second;
};

/// Cosine and sine, in either order, of an angle uniform on the full turn.
///
/// The word's upper 52 bits give t, uniform on [-1/2, 1/2) in steps of 2^-52, and with it
/// (c, s) = (cos, sin)(t pi/2), the quarter turn around the first axis; bit 0 negates c, bit 1
/// swaps the two: the four quarters of the circle.
HWY_INLINE TwoDoubles point_on_circle(Words word) {
  static constexpr double kSine[] = {
      0x1.921fb54442d18p+0,  -0x1.4abbce625be41p-1,  0x1.466bc677587f8p-4, -0x1.32d2cce2e5b19p-8,
      0x1.50782fda12d96p-13, -0x1.e30071afc3e59p-19, 0x1.e3f38399551bfp-25};
  static constexpr double kCosine[] = {1.0,
                                       -0x1.3bd3cc9be45dep+0,
                                       0x1.03c1f081b5ac0p-2,
                                       -0x1.55d3c7e3cb241p-6,
                                       0x1.e1f5068688d5bp-11,
                                       -0x1.a6d1eef479be1p-16,
                                       0x1.f9ce245cada0bp-22,
                                       -0x1.b2f3eb054afcdp-28};
  const DoubleLanes tag;
  const WordLanes words;
  const Words one_and_half =
      hn::Or(hn::ShiftRight<12>(word), hn::BitCast(words, hn::Set(tag, 1.0)));
  const Doubles t = hn::Sub(hn::BitCast(tag, one_and_half), hn::Set(tag, 1.5));
  const Doubles y = hn::Mul(t, t);
  const Doubles sine = hn::Mul(t, polynomial(y, kSine));
  const Doubles negate = hn::BitCast(tag, hn::ShiftLeft<63>(word));
  const Doubles cosine = hn::Xor(polynomial(y, kCosine), negate);
  const auto swap = hn::RebindMask(tag, hn::TestBit(word, hn::Set(words, 2)));
  return {hn::IfThenElse(swap, sine, cosine), hn::IfThenElse(swap, cosine, sine)};
}

/// Two independent normals mean + sd x from two words.
HWY_INLINE TwoDoubles box_muller(Words radius_word, Words angle_word, Doubles mean, Doubles sd) {
  const Doubles radius = hn::Mul(hn::Sqrt(minus_two_log_uniform(radius_word)), sd);
  const TwoDoubles point = point_on_circle(angle_word);
  return {hn::MulAdd(radius, point.first, mean), hn::MulAdd(radius, point.second, mean)};
}

/// A number of each of four rows.
struct FourDoubles {
  Doubles x0, x1, x2, x3;
};

/// Four independent normals mean + sd x.
HWY_INLINE FourDoubles normals_of(const FourWords& w, Doubles mean, Doubles sd) {
  const TwoDoubles a = box_muller(w.x0, w.x1, mean, sd);
  const TwoDoubles b = box_muller(w.x2, w.x3, mean, sd);
  return {a.first, a.second, b.first, b.second};
}

/// Stores the first `rows` (1 to 4) of four rows.
HWY_INLINE void store_rows(const FourDoubles& x, std::size_t rows, std::size_t stride,
                           double* HWY_RESTRICT out) {
  const DoubleLanes tag;
  hn::StoreU(x.x0, tag, out);
  if (rows > 1) hn::StoreU(x.x1, tag, out + stride);
  if (rows > 2) hn::StoreU(x.x2, tag, out + 2 * stride);
  if (rows > 3) hn::StoreU(x.x3, tag, out + 3 * stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace attnscale
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
