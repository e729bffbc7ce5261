// Four entries of each kind at a time, in vectors, from the words of a stream. Included by kernels
// only, once per instruction set. What each kind is, entry_shape.h says.

#if defined(ATTNSCALE_NUMERICS_ENTRY_KINDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNSCALE_NUMERICS_ENTRY_KINDS_INL_H_
#undef ATTNSCALE_NUMERICS_ENTRY_KINDS_INL_H_
#else
#define ATTNSCALE_NUMERICS_ENTRY_KINDS_INL_H_
#endif

#include <type_traits>

#include "numerics/box_muller-inl.h"
#include "numerics/entry_shape.h"
#include "numerics/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscale {
namespace HWY_NAMESPACE {

/// The middle of one of 2^52 equal parts of (0, 1), from the word's upper 52 bits.
HWY_INLINE Doubles unit_of(Words word) {
  const DoubleLanes tag;
  const WordLanes words;
  const Words one_and_more =
      hn::Or(hn::ShiftRight<12>(word), hn::BitCast(words, hn::Set(tag, 1.0)));
  return hn::Sub(hn::BitCast(tag, one_and_more), hn::Set(tag, 1 - 0x1p-53));
}

/// From the word's upper 63 bits, which say how far out: on (0, 2^63], all bits counting near 0.
HWY_INLINE Doubles tail_of(Words word) {
  const DoubleLanes tag;
  return hn::Max(hn::ConvertTo(tag, hn::ShiftRight<1>(word)), hn::Set(tag, 0.5));
}

/// x with a sign from the word's lowest bit.
HWY_INLINE Doubles signed_by(Words word, Doubles x) {
  return hn::Xor(x, hn::BitCast(DoubleLanes(), hn::ShiftLeft<63>(word)));
}

/// z with P(|z| <= z) = inside and P(|z| > z) = outside, inside + outside = 1, z standard normal:
/// z = inside F(t) with t = -2 ln(1 - inside^2) = -2 ln(outside (1 + inside)), as Giles,
/// "Approximating the erfinv function", GPU Computing Gems 2 (2011), does it. F interpolates at
/// Chebyshev nodes (computed with 50 digits, rounded to double), in t below 9 (|z| < 2.77) with a
/// relative error below 2^-53, beyond in sqrt(t) up to the tail of 2^-64 below 2^-48.
HWY_INLINE Doubles normal_within(Doubles inside, Doubles outside) {
  static constexpr double kCentre[] = {
      0x1.0494328c11f68p+1,   0x1.67d684b8bd0d8p-3,   -0x1.247225e75bc5dp-10,
      -0x1.110805d061561p-12, 0x1.47c6a064c6f1ep-16,  0x1.18e0cb7dcf91ep-25,
      -0x1.901f3e4bf788ap-24, 0x1.43636d5b50324p-28,  0x1.e65e885178715p-33,
      -0x1.325f2a0abfee5p-35, 0x1.5c92439d17a87p-41,  0x1.4ca7071c4106fp-43,
      -0x1.7ba31b46b93b5p-47, -0x1.1b0ac718857aep-52, 0x1.36b449bd852a8p-54,
      -0x1.2720178950f3ap-59, -0x1.37265733140afp-62, 0x1.968e104d9458p-66,
      0x1.34c95ccfb4181p-71,  -0x1.b6c13715c7ac1p-74};
  static constexpr double kTail[] = {
      0x1.81dfd218f4c87p+2,   0x1.029a965f20c17p+0,   0x1.4457607f2c7bbp-12,
      -0x1.f810f1d8a42c2p-13, 0x1.eb33498920803p-15,  -0x1.89a9c689ac2ddp-17,
      0x1.3f90ddcfc7e19p-19,  -0x1.4921c82645e1ep-21, 0x1.d38baeafff7dap-23,
      -0x1.759f6637c4d0cp-24, 0x1.1245657ca8eb3p-25,  -0x1.4b5c4effad14ap-27,
      0x1.23e3f1841b47ep-29,  -0x1.cd769a8316747p-33, -0x1.324e5bfa504f1p-34,
      0x1.7bf0fe01075c4p-35,  -0x1.c100ef0060f9dp-37, 0x1.3e672088fdfecp-39,
      0x1.9d94e604b5efbp-44,  -0x1.e2334a60b8175p-43, 0x1.90cf9ceb92295p-45,
      0x1.4d2909a5e8f5cp-48,  -0x1.63afd52667294p-50, -0x1.5701dbdf2624ap-51,
      0x1.3c1335dd05a9p-55,   0x1.1ecc1f8e854cap-54,  -0x1.eb8204b14b34dp-58,
      -0x1.66c3cb160a5a0p-59, 0x1.a91c2f8c13e5fp-62,  0x1.409c1c5af6c0fp-65,
      -0x1.cb29d6c95ef15p-68};
  const DoubleLanes tag;
  const Doubles t = minus_two_log<0>(hn::Mul(outside, hn::Add(hn::Set(tag, 1.0), inside)));
  const auto central = hn::Le(t, hn::Set(tag, 9.0));
  Doubles ratio = polynomial(hn::Sub(t, hn::Set(tag, 4.5)), kCentre);
  if (!hn::AllTrue(tag, central)) {
    const Doubles far = polynomial(hn::Sub(hn::Sqrt(t), hn::Set(tag, 6.25)), kTail);
    ratio = hn::IfThenElse(central, ratio, far);
  }
  return hn::Mul(inside, ratio);
}

/// Sine of an angle uniform on (-pi / 2, pi / 2), whose law is that of the cosine of a full turn's.
/// The polynomial interpolates as those of point_on_circle do, with a relative error below 2^-54.
HWY_INLINE Doubles sine_of_half_turn(Words word) {
  static constexpr double kSine[] = {
      0x1.921fb54442d18p+1,  -0x1.4abbce625be52p+2,  0x1.466bc6775aa7dp+1,
      -0x1.32d2cce627c86p-1, 0x1.5078348551854p-4,   -0x1.e3074dfaf87afp-8,
      0x1.e8f3675ee37ddp-12, -0x1.6f7acdb8f6580p-16, 0x1.9d462020fcc78p-21};
  const Doubles t = hn::Sub(unit_of(word), hn::Set(DoubleLanes(), 0.5));
  return hn::Mul(t, polynomial(hn::Mul(t, t), kSine));
}

template <EntryKind kKind>
using Kind = std::integral_constant<EntryKind, kKind>;

/// Each word's entry mean + sd x, x = standardised(word).
template <typename Standardised>
HWY_INLINE FourDoubles of_each(const FourWords& w, const EntryShape& shape,
                               const Standardised& standardised) {
  const DoubleLanes tag;
  const Doubles mean = hn::Set(tag, shape.mean);
  const Doubles sd = hn::Set(tag, shape.sd);
  return {hn::MulAdd(sd, standardised(w.x0), mean), hn::MulAdd(sd, standardised(w.x1), mean),
          hn::MulAdd(sd, standardised(w.x2), mean), hn::MulAdd(sd, standardised(w.x3), mean)};
}

HWY_INLINE FourDoubles four_entries(Kind<EntryKind::kNormal>, const Generator& generator,
                                    std::uint64_t call, const EntryShape& shape) {
  const DoubleLanes tag;
  return normals_of(generator.call(call), hn::Set(tag, shape.mean), hn::Set(tag, shape.sd));
}

HWY_INLINE FourDoubles four_entries(Kind<EntryKind::kUniform>, const Generator& generator,
                                    std::uint64_t call, const EntryShape& shape) {
  return of_each(generator.call(call), shape, [](Words word) HWY_ATTR {
    return hn::Sub(unit_of(word), hn::Set(DoubleLanes(), 0.5));
  });
}

HWY_INLINE FourDoubles four_entries(Kind<EntryKind::kExponential>, const Generator& generator,
                                    std::uint64_t call, const EntryShape& shape) {
  return of_each(generator.call(call), shape, [](Words word) HWY_ATTR {
    return signed_by(word, minus_two_log<63>(tail_of(word)));
  });
}

HWY_INLINE FourDoubles four_entries(Kind<EntryKind::kLogistic>, const Generator& generator,
                                    std::uint64_t call, const EntryShape& shape) {
  return of_each(generator.call(call), shape, [](Words word) HWY_ATTR {
    const DoubleLanes tag;
    const Doubles u = hn::Mul(tail_of(word), hn::Set(tag, 0x1p-64));  // the smaller of u and 1 - u
    return signed_by(word, minus_two_log<0>(hn::Div(u, hn::Sub(hn::Set(tag, 1.0), u))));
  });
}

HWY_INLINE FourDoubles four_entries(Kind<EntryKind::kStudentT>, const Generator& generator,
                                    std::uint64_t call, const EntryShape& shape) {
  const DoubleLanes tag;
  const FourWords radius = generator.call(call);
  const FourWords angle = generator.call(call, 1);
  const auto entry = [&](Words radius_word, Words angle_word) HWY_ATTR {
    const Doubles power =
        hn::Mul(minus_two_log_uniform(radius_word), hn::Set(tag, shape.numbers[0]));
    const Doubles radius_of_it =
        hn::Mul(hn::Sqrt(expm1_of_positive(power)), hn::Set(tag, shape.sd));
    return hn::MulAdd(radius_of_it, sine_of_half_turn(angle_word), hn::Set(tag, shape.mean));
  };
  return {entry(radius.x0, angle.x0), entry(radius.x1, angle.x1), entry(radius.x2, angle.x2),
          entry(radius.x3, angle.x3)};
}

HWY_INLINE FourDoubles four_entries(Kind<EntryKind::kTruncatedNormal>, const Generator& generator,
                                    std::uint64_t call, const EntryShape& shape) {
  const auto& [at, within, beyond] = shape.numbers;
  const DoubleLanes tag;
  const Doubles inside = hn::Set(tag, within);
  const Doubles outside = hn::Set(tag, beyond);
  const Doubles end = hn::Set(tag, at);
  return of_each(generator.call(call), shape, [&](Words word) HWY_ATTR {
    const Doubles u = hn::Mul(tail_of(word), hn::Set(tag, 0x1p-63));
    const Doubles z =
        normal_within(hn::NegMulAdd(u, inside, inside), hn::MulAdd(u, inside, outside));
    return signed_by(word, hn::Min(z, end));
  });
}

HWY_INLINE FourDoubles four_entries(Kind<EntryKind::kMixedNormal>, const Generator& generator,
                                    std::uint64_t call, const EntryShape& shape) {
  const auto& [p, a, b] = shape.numbers;
  const DoubleLanes tag;
  const FourDoubles z = normals_of(generator.call(call), hn::Zero(tag), hn::Set(tag, 1.0));
  const FourWords choice = generator.call(call, 1);
  const Doubles share = hn::Set(tag, p);
  const Doubles mean = hn::Set(tag, shape.mean);
  const Doubles chosen = hn::Set(tag, shape.sd * a);
  const Doubles other = hn::Set(tag, shape.sd * b);
  const auto entry = [&](Doubles x, Words word) HWY_ATTR {
    return hn::MulAdd(hn::IfThenElse(hn::Lt(unit_of(word), share), chosen, other), x, mean);
  };
  return {entry(z.x0, choice.x0), entry(z.x1, choice.x1), entry(z.x2, choice.x2),
          entry(z.x3, choice.x3)};
}

HWY_INLINE FourDoubles four_entries(Kind<EntryKind::kSigned>, const Generator& generator,
                                    std::uint64_t call, const EntryShape& shape) {
  const DoubleLanes tag;
  const Doubles share = hn::Set(tag, shape.numbers[0]);
  return of_each(generator.call(call), shape, [&](Words word) HWY_ATTR {
    return hn::IfThenElseZero(hn::Lt(unit_of(word), share),
                              signed_by(word, hn::Set(DoubleLanes(), 1.0)));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attnscale
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
