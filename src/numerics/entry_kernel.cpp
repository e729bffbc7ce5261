#include "numerics/entry_kernel.h"

#include <algorithm>
#include <limits>

// The bare comment lines keep the formatter from sorting the includes: what foreach_target.h needs
// is set before it, and it comes before all that is compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/entry_kernel.cpp"
#include "numerics/vector_targets.h"
//
#include <hwy/foreach_target.h>
//
#include "numerics/entry_kinds-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscale {
namespace HWY_NAMESPACE {

// Four entries, clipped where that is asked for: a branch that goes one way all through a kernel.
template <EntryKind kKind>
HWY_INLINE FourDoubles clipped_entries(const Generator& generator, std::uint64_t call,
                                       const EntryShape& shape) {
  const FourDoubles x = four_entries(Kind<kKind>(), generator, call, shape);
  if (shape.clip == std::numeric_limits<double>::infinity()) return x;
  const DoubleLanes tag;
  const Doubles low = hn::Set(tag, -shape.clip);
  const Doubles high = hn::Set(tag, shape.clip);
  return {hn::Clamp(x.x0, low, high), hn::Clamp(x.x1, low, high), hn::Clamp(x.x2, low, high),
          hn::Clamp(x.x3, low, high)};
}

template <EntryKind kKind>
HWY_INLINE void fill_entries(const StreamKey& key, std::uint64_t first_query, std::uint64_t vector,
                             const EntryShape& shape, std::size_t d, std::size_t stride,
                             double* HWY_RESTRICT entries) {
  Generator generator(key);
  for (std::size_t query = 0; query < stride; query += hn::Lanes(DoubleLanes())) {
    generator.turn_to(first_query + query, vector);
    for (std::size_t i = 0; i < d; i += 4) {
      const FourDoubles x = clipped_entries<kKind>(generator, i / 4, shape);
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

template <EntryKind kKind, KeyNorms kNorms>
HWY_INLINE void score_keys_of_kind(const StreamKey& key, std::uint64_t first_query,
                                   std::uint64_t first_key, std::size_t keys,
                                   const EntryShape& shape, const ScoreRows& rows) {
  constexpr std::size_t kBlock = 256;
  const DoubleLanes tag;
  Generator generator(key);
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
          const FourDoubles x = clipped_entries<kKind>(generator, i / 4, shape);
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

// Calls work(Kind<kind>()), so that each kind has loops of its own.
template <typename Work>
HWY_INLINE void for_kind(EntryKind kind, const Work& work) {
  switch (kind) {
    case EntryKind::kNormal:
      return work(Kind<EntryKind::kNormal>());
    case EntryKind::kUniform:
      return work(Kind<EntryKind::kUniform>());
    case EntryKind::kExponential:
      return work(Kind<EntryKind::kExponential>());
    case EntryKind::kLogistic:
      return work(Kind<EntryKind::kLogistic>());
    case EntryKind::kStudentT:
      return work(Kind<EntryKind::kStudentT>());
    case EntryKind::kTruncatedNormal:
      return work(Kind<EntryKind::kTruncatedNormal>());
    case EntryKind::kMixedNormal:
      return work(Kind<EntryKind::kMixedNormal>());
    case EntryKind::kSigned:
      return work(Kind<EntryKind::kSigned>());
  }
}

void entries_of_kind(const StreamKey& key, std::uint64_t first_query, std::uint64_t vector,
                     const EntryShape& shape, std::size_t d, std::size_t stride,
                     double* HWY_RESTRICT entries) {
  for_kind(shape.kind, [&](auto kind) HWY_ATTR {
    fill_entries<kind()>(key, first_query, vector, shape, d, stride, entries);
  });
}

void scores_of_kind(const StreamKey& key, std::uint64_t first_query, std::uint64_t first_key,
                    std::size_t keys, const EntryShape& shape, const ScoreRows& rows) {
  for_kind(shape.kind, [&](auto kind) HWY_ATTR {
    if (rows.squared_key_norms == nullptr) {
      score_keys_of_kind<kind(), KeyNorms::kSkipped>(key, first_query, first_key, keys, shape,
                                                     rows);
    } else {
      score_keys_of_kind<kind(), KeyNorms::kSummed>(key, first_query, first_key, keys, shape, rows);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attnscale
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscale {

HWY_EXPORT(entries_of_kind);
HWY_EXPORT(scores_of_kind);

void draw_entries(const StreamKey& key, std::int64_t first_query, std::int64_t vector,
                  const EntryShape& shape, std::int64_t d, std::span<double> entries) {
  const std::size_t stride = entries.size() / static_cast<std::size_t>(entry_rows(d));
  const auto drawn = static_cast<std::size_t>(d);
  HWY_DYNAMIC_DISPATCH(entries_of_kind)
  (key, static_cast<std::uint64_t>(first_query), static_cast<std::uint64_t>(vector), shape, drawn,
   stride, entries.data());
  std::ranges::fill(entries.subspan(drawn * stride), 0.0);
}

void score_drawn_keys(const StreamKey& key, std::int64_t first_query, std::int64_t first_key,
                      std::int64_t keys, const EntryShape& shape, const ScoreRows& rows) {
  HWY_DYNAMIC_DISPATCH(scores_of_kind)
  (key, static_cast<std::uint64_t>(first_query), static_cast<std::uint64_t>(first_key),
   static_cast<std::size_t>(keys), shape, rows);
}

}  // namespace attnscale
#endif  // HWY_ONCE
