#include "numerics/normal_kernel.h"

#include <algorithm>
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

// The words of a stream, four a call, for the queries of the lanes.
class Generator {
 public:
  HWY_INLINE explicit Generator(const StreamKey& key)
      : schedule_(schedule_of(key)), lane_(hn::Iota(WordLanes(), 0)) {}

  // Which queries and which of their vectors the next calls are for.
  HWY_INLINE void turn_to(std::uint64_t first_query, std::uint64_t vector) {
    const WordLanes tag;
    query_ = hn::Add(lane_, hn::Set(tag, first_query));
    vector_ = hn::Set(tag, vector);
  }

  HWY_INLINE FourWords call(std::uint64_t number, std::uint64_t attempt = 0) const {
    const WordLanes tag;
    return threefry(schedule_, {hn::Set(tag, number), query_, vector_, hn::Set(tag, attempt)});
  }

 private:
  KeySchedule schedule_;
  Words lane_;
  Words query_;
  Words vector_;
};

struct FourDoubles {
  Doubles x0, x1, x2, x3;
};

HWY_INLINE FourDoubles normals_of(const FourWords& w, Doubles mean, Doubles sd) {
  const TwoDoubles a = box_muller(w.x0, w.x1, mean, sd);
  const TwoDoubles b = box_muller(w.x2, w.x3, mean, sd);
  return {a.first, a.second, b.first, b.second};
}

// Stores the first `rows` (1 to 4) of four rows.
HWY_INLINE void store_rows(const FourDoubles& x, std::size_t rows, std::size_t stride,
                           double* HWY_RESTRICT out) {
  const DoubleLanes tag;
  hn::StoreU(x.x0, tag, out);
  if (rows > 1) hn::StoreU(x.x1, tag, out + stride);
  if (rows > 2) hn::StoreU(x.x2, tag, out + 2 * stride);
  if (rows > 3) hn::StoreU(x.x3, tag, out + 3 * stride);
}

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

void normal_entries(const StreamKey& key, std::uint64_t first_query, std::uint64_t vector,
                    const NormalShape& shape, std::size_t d, std::size_t stride,
                    double* HWY_RESTRICT entries) {
  const DoubleLanes tag;
  Generator generator(key);
  const Doubles mean = hn::Set(tag, shape.mean);
  const Doubles sd = hn::Set(tag, shape.sd);
  for (std::size_t query = 0; query < stride; query += hn::Lanes(tag)) {
    generator.turn_to(first_query + query, vector);
    for (std::size_t i = 0; i < d; i += 4) {
      const FourDoubles x = normals_of(generator.call(i / 4), mean, sd);
      store_rows(x, d - i, stride, entries + i * stride + query);
    }
  }
}

// total + error += x without loss: error gathers what total cannot hold (Knuth, TAOCP 2, 4.2.2).
HWY_INLINE void add_compensated(Doubles x, Doubles& total, Doubles& error) {
  const Doubles sum = hn::Add(total, x);
  const Doubles x_as_added = hn::Sub(sum, total);
  const Doubles total_as_added = hn::Sub(sum, x_as_added);
  error = hn::Add(error, hn::Add(hn::Sub(total, total_as_added), hn::Sub(x, x_as_added)));
  total = sum;
}

// One sum over the entries of two vectors, term by term: four chains of fused multiply-adds a
// block, block sums added up with a compensation.
class BlockedSum {
 public:
  // Every vector in the list: the implicit constructor of g++'s for NEON lies outside the target.
  HWY_INLINE BlockedSum()
      : total_(hn::Zero(DoubleLanes())), error_(total_), chains_{total_, total_, total_, total_} {}

  HWY_INLINE void start_block() {
    const Doubles zero = hn::Zero(DoubleLanes());
    chains_ = {zero, zero, zero, zero};
  }

  HWY_INLINE void add_products(const FourDoubles& a, const FourDoubles& b) {
    chains_.x0 = hn::MulAdd(a.x0, b.x0, chains_.x0);
    chains_.x1 = hn::MulAdd(a.x1, b.x1, chains_.x1);
    chains_.x2 = hn::MulAdd(a.x2, b.x2, chains_.x2);
    chains_.x3 = hn::MulAdd(a.x3, b.x3, chains_.x3);
  }

  HWY_INLINE void finish_block() {
    add_compensated(hn::Add(hn::Add(chains_.x0, chains_.x1), hn::Add(chains_.x2, chains_.x3)),
                    total_, error_);
  }

  HWY_INLINE Doubles total() const { return hn::Add(total_, error_); }

 private:
  Doubles total_;
  Doubles error_;
  FourDoubles chains_;
};

HWY_INLINE FourDoubles load_rows(const double* HWY_RESTRICT from, std::size_t stride) {
  const DoubleLanes tag;
  return {hn::LoadU(tag, from), hn::LoadU(tag, from + stride), hn::LoadU(tag, from + 2 * stride),
          hn::LoadU(tag, from + 3 * stride)};
}

// Zero in place of all but the first `rows` of four rows.
HWY_INLINE FourDoubles first_rows(const FourDoubles& x, std::size_t rows) {
  const Doubles zero = hn::Zero(DoubleLanes());
  return {x.x0, rows > 1 ? x.x1 : zero, rows > 2 ? x.x2 : zero, rows > 3 ? x.x3 : zero};
}

enum class KeyNorms { kSkipped, kSummed };

template <KeyNorms kNorms>
HWY_INLINE void score_keys(const StreamKey& key, std::uint64_t first_query, std::uint64_t first_key,
                           std::size_t keys, const NormalShape& shape, const ScoreRows& rows) {
  constexpr std::size_t kBlock = 256;
  const DoubleLanes tag;
  Generator generator(key);
  const Doubles mean = hn::Set(tag, shape.mean);
  const Doubles sd = hn::Set(tag, shape.sd);
  const auto query_stride = static_cast<std::size_t>(rows.query_stride);
  const auto score_stride = static_cast<std::size_t>(rows.score_stride);
  const auto d = static_cast<std::size_t>(rows.d);
  for (std::size_t query = 0; query < query_stride; query += hn::Lanes(tag)) {
    for (std::size_t k = 0; k < keys; ++k) {
      generator.turn_to(first_query + query, 1 + first_key + k);
      BlockedSum score;
      [[maybe_unused]] BlockedSum squares;
      for (std::size_t block = 0; block < d; block += kBlock) {
        const std::size_t end = std::min(d, block + kBlock);
        score.start_block();
        if constexpr (kNorms == KeyNorms::kSummed) squares.start_block();
        for (std::size_t i = block; i < end; i += 4) {
          const FourDoubles x = normals_of(generator.call(i / 4), mean, sd);
          const double* const q = rows.query_entries.data() + i * query_stride + query;
          score.add_products(load_rows(q, query_stride), x);
          if constexpr (kNorms == KeyNorms::kSummed) {
            const FourDoubles drawn = first_rows(x, d - i);
            squares.add_products(drawn, drawn);
          }
        }
        score.finish_block();
        if constexpr (kNorms == KeyNorms::kSummed) squares.finish_block();
      }
      const std::size_t place = k * score_stride + query;
      hn::StoreU(score.total(), tag, rows.scores + place);
      if constexpr (kNorms == KeyNorms::kSummed) {
        hn::StoreU(squares.total(), tag, rows.squared_key_norms + place);
      }
    }
  }
}

void scores_of_normal_keys(const StreamKey& key, std::uint64_t first_query, std::uint64_t first_key,
                           std::size_t keys, const NormalShape& shape, const ScoreRows& rows) {
  score_keys<KeyNorms::kSkipped>(key, first_query, first_key, keys, shape, rows);
}

void scores_and_norms_of_normal_keys(const StreamKey& key, std::uint64_t first_query,
                                     std::uint64_t first_key, std::size_t keys,
                                     const NormalShape& shape, const ScoreRows& rows) {
  score_keys<KeyNorms::kSummed>(key, first_query, first_key, keys, shape, rows);
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
HWY_EXPORT(normal_entries);
HWY_EXPORT(scores_of_normal_keys);
HWY_EXPORT(scores_and_norms_of_normal_keys);
HWY_EXPORT(scaled_normals);
HWY_EXPORT(chi_squared);

void draw_words(const StreamKey& key, const std::array<std::uint64_t, 4>& first,
                std::span<std::uint64_t> words) {
  HWY_DYNAMIC_DISPATCH(words)
  (key, first, words.size() / static_cast<std::size_t>(kLanes), words.data());
}

void draw_normal_entries(const StreamKey& key, std::int64_t first_query, std::int64_t vector,
                         const NormalShape& shape, std::int64_t d, std::span<double> entries) {
  const std::size_t stride = entries.size() / static_cast<std::size_t>(entry_rows(d));
  const auto drawn = static_cast<std::size_t>(d);
  HWY_DYNAMIC_DISPATCH(normal_entries)
  (key, static_cast<std::uint64_t>(first_query), static_cast<std::uint64_t>(vector), shape, drawn,
   stride, entries.data());
  std::ranges::fill(entries.subspan(drawn * stride), 0.0);
}

void score_normal_keys(const StreamKey& key, std::int64_t first_query, std::int64_t first_key,
                       std::int64_t keys, const NormalShape& shape, const ScoreRows& rows) {
  const auto query = static_cast<std::uint64_t>(first_query);
  const auto vector = static_cast<std::uint64_t>(first_key);
  const auto count = static_cast<std::size_t>(keys);
  if (rows.squared_key_norms == nullptr) {
    HWY_DYNAMIC_DISPATCH(scores_of_normal_keys)(key, query, vector, count, shape, rows);
  } else {
    HWY_DYNAMIC_DISPATCH(scores_and_norms_of_normal_keys)(key, query, vector, count, shape, rows);
  }
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
