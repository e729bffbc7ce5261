#include "numerics/normal_kernel.h"

#include <cmath>

// The bare comment lines keep the formatter from sorting the includes: what foreach_target.h needs
// is set before it, and it comes before all that is compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/normal_kernel.cpp"
#include "numerics/vector_targets.h"
//
#include <hwy/foreach_target.h>
//
#include "numerics/box_muller-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscale {
namespace HWY_NAMESPACE {

void words(const StreamKey& key, const std::array<std::uint64_t, 4>& first, std::size_t rows,
           std::uint64_t* HWY_RESTRICT out) {
  constexpr auto kStride = static_cast<std::size_t>(kLanes);
  const WordLanes tag;
  Generator generator(key);
  for (std::size_t lane = 0; lane < kStride; lane += hn::Lanes(tag)) {
    generator.turn_to(first[1] + lane, first[2]);
    for (std::size_t row = 0; row < rows; row += 4) {
      const FourWords w = generator.call(first[0] + row / 4, first[3]);
      std::uint64_t* const to = out + row * kStride + lane;
      hn::StoreU(w.x0, tag, to);
      hn::StoreU(w.x1, tag, to + kStride);
      hn::StoreU(w.x2, tag, to + 2 * kStride);
      hn::StoreU(w.x3, tag, to + 3 * kStride);
    }
  }
}

void scaled_normals(const StreamKey& key, std::uint64_t first_query, std::uint64_t first_key,
                    std::size_t keys, const double* HWY_RESTRICT sds, std::size_t stride,
                    double* HWY_RESTRICT scores) {
  const DoubleLanes tag;
  Generator generator(key);
  for (std::size_t query = 0; query < stride; query += hn::Lanes(tag)) {
    generator.turn_to(first_query + query, 0);
    const Doubles sd = hn::LoadU(tag, sds + query);
    for (std::size_t k = 0; k < keys; k += 4) {
      const FourDoubles x = normals_of(generator.call((first_key + k) / 4), hn::Zero(tag), sd);
      store_rows(x, keys - k, stride, scores + k * stride + query);
    }
  }
}

// Constants of Marsaglia and Tsang's method for a gamma variable of shape degrees / 2.
struct GammaConstants {
  double d;  // shape - 1/3
  double c;  // 1 / sqrt(9 d)
};

// Chi-squared numbers of the lanes by rejection: x normal, v = (1 + c x)^3, accepted where
// ln u < x^2 / 2 + d - d v + d ln v. A call gives two attempts; the second is skipped where it
// cannot matter. No squeeze before the logarithms: in more than half of the groups one of eight
// queries fails it (probability 0.1 each), so the branch would cost what it saves.
HWY_INLINE Doubles chi_squared_by_rejection(const Generator& generator, GammaConstants constants) {
  const DoubleLanes tag;
  const Doubles one = hn::Set(tag, 1.0);
  const Doubles c = hn::Set(tag, constants.c);
  const Doubles two_d = hn::Set(tag, 2 * constants.d);
  const Doubles three_d = hn::Set(tag, 3 * constants.d);
  Doubles result = hn::Zero(tag);
  auto accepted = hn::Lt(one, one);
  const auto attempt = [&](Doubles x, Words word) HWY_ATTR {
    const Doubles base = hn::MulAdd(c, x, one);
    const auto positive = hn::Gt(base, hn::Zero(tag));
    const Doubles v = hn::Mul(base, hn::Mul(base, base));
    const Doubles log_base = minus_two_log<0>(hn::IfThenElse(positive, base, one));
    // Twice the condition, both sides negated: -2 ln u > 2 d (v - 1) - 2 d ln v - x^2.
    const Doubles bound =
        hn::MulAdd(three_d, log_base, hn::MulSub(two_d, hn::Sub(v, one), hn::Mul(x, x)));
    const auto fits = hn::And(positive, hn::Gt(minus_two_log_uniform(word), bound));
    result = hn::IfThenElse(hn::AndNot(accepted, fits), hn::Mul(two_d, v), result);
    accepted = hn::Or(accepted, fits);
  };
  for (std::uint64_t call = 0; !hn::AllTrue(tag, accepted); ++call) {
    const FourWords w = generator.call(0, call);
    const TwoDoubles x = box_muller(w.x0, w.x1, hn::Zero(tag), one);
    attempt(x.first, w.x2);
    if (!hn::AllTrue(tag, accepted)) attempt(x.second, w.x3);
  }
  return result;
}

void chi_squared(const StreamKey& key, std::uint64_t first_query, std::uint64_t first_vector,
                 std::size_t vectors, std::int64_t degrees, std::size_t stride,
                 double* HWY_RESTRICT out) {
  const DoubleLanes tag;
  Generator generator(key);
  const double d = static_cast<double>(degrees) / 2 - 1.0 / 3;
  const GammaConstants constants{d, 1 / std::sqrt(9 * d)};
  for (std::size_t vector = 0; vector < vectors; ++vector) {
    for (std::size_t query = 0; query < stride; query += hn::Lanes(tag)) {
      generator.turn_to(first_query + query, first_vector + vector);
      Doubles number;
      if (degrees == 1) {
        const FourWords w = generator.call(0);
        const Doubles x = box_muller(w.x0, w.x1, hn::Zero(tag), hn::Set(tag, 1.0)).first;
        number = hn::Mul(x, x);
      } else if (degrees == 2) {
        number = minus_two_log_uniform(generator.call(0).x0);
      } else {
        number = chi_squared_by_rejection(generator, constants);
      }
      hn::StoreU(number, tag, out + vector * stride + query);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attnscale
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscale {

HWY_EXPORT(words);
HWY_EXPORT(scaled_normals);
HWY_EXPORT(chi_squared);

void draw_words(const StreamKey& key, const std::array<std::uint64_t, 4>& first,
                std::span<std::uint64_t> words) {
  HWY_DYNAMIC_DISPATCH(words)
  (key, first, words.size() / static_cast<std::size_t>(kLanes), words.data());
}

void draw_scaled_normals(const StreamKey& key, std::int64_t first_query, std::int64_t first_key,
                         std::span<const double> sds, std::span<double> scores) {
  HWY_DYNAMIC_DISPATCH(scaled_normals)
  (key, static_cast<std::uint64_t>(first_query), static_cast<std::uint64_t>(first_key),
   scores.size() / sds.size(), sds.data(), sds.size(), scores.data());
}

void draw_chi_squared(const StreamKey& key, std::int64_t first_query, std::int64_t degrees,
                      std::span<double> numbers) {
  HWY_DYNAMIC_DISPATCH(chi_squared)
  (key, static_cast<std::uint64_t>(first_query), 0, 1, degrees, numbers.size(), numbers.data());
}

void draw_chi_squared_of_keys(const StreamKey& key, std::int64_t first_query,
                              std::int64_t first_key, std::int64_t keys, std::int64_t degrees,
                              std::span<double> numbers) {
  const auto vectors = static_cast<std::size_t>(keys);
  HWY_DYNAMIC_DISPATCH(chi_squared)
  (key, static_cast<std::uint64_t>(first_query), static_cast<std::uint64_t>(first_key), vectors,
   degrees, numbers.size() / vectors, numbers.data());
}

}  // namespace attnscale
#endif  // HWY_ONCE
