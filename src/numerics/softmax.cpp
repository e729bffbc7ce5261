#include "numerics/softmax.h"

#include <algorithm>
#include <cmath>

#include "numerics/portable_math.h"

// The bare comment lines keep the formatter from sorting the includes: what foreach_target.h needs
// is set before it, and it comes before all that is compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/softmax.cpp"
#include "numerics/vector_targets.h"
//
#include <hwy/foreach_target.h>
//
#include <hwy/contrib/math/math-inl.h>

#include "numerics/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnscale {
namespace HWY_NAMESPACE {

// Columns of SoftmaxSums, in the order of SoftmaxQuery.
enum Column : std::size_t {
  kTop,
  kNext,
  kMaxAbs,
  kRest,
  kRest2,
  kRest3,
  kRest4,
  kGap,
  kLog,
  kSink,
  kShare
};

struct Sums {
  Doubles top, rest, rest2, rest3, rest4, gap;
};

// Makes the sums relative to a higher top, to which the old top is one more key of the rest.
// Where the top stays (`drop` is 0), `fades` is false and nothing changes.
HWY_INLINE void lower(DoubleLanes tag, hn::Mask<DoubleLanes> fades, Doubles new_top, Sums& s) {
  const Doubles one = hn::Set(tag, 1.0);
  const Doubles drop = hn::IfThenElseZero(fades, hn::Sub(new_top, s.top));
  const Doubles fade = exp_of_negative(hn::Neg(drop));
  const Doubles fade2 = hn::Mul(fade, fade);
  const auto choose = [&](Doubles faded, Doubles kept) {
    return hn::IfThenElse(fades, faded, kept);
  };
  const Doubles with_old_top = hn::Add(s.rest, one);
  s.gap = choose(hn::Mul(fade, hn::MulAdd(drop, with_old_top, s.gap)), s.gap);
  s.rest = choose(hn::Mul(fade, with_old_top), s.rest);
  s.rest2 = choose(hn::Mul(fade2, hn::Add(s.rest2, one)), s.rest2);
  s.rest3 = choose(hn::Mul(hn::Mul(fade2, fade), hn::Add(s.rest3, one)), s.rest3);
  s.rest4 = choose(hn::Mul(hn::Mul(fade2, fade2), hn::Add(s.rest4, one)), s.rest4);
  s.top = new_top;
}

void add_keys(const double* HWY_RESTRICT logits, std::size_t keys, std::size_t stride, bool first,
              bool powers, double* HWY_RESTRICT columns) {
  const DoubleLanes tag;
  const Doubles zero = hn::Zero(tag);
  const Doubles lowest = hn::Neg(hn::Inf(tag));
  for (std::size_t query = 0; query < stride; query += hn::Lanes(tag)) {
    const auto column = [&](std::size_t index) { return columns + index * stride + query; };

    // 1. Largest and second largest logit.
    Doubles top = first ? lowest : hn::LoadU(tag, column(kTop));
    Doubles next = first ? lowest : hn::LoadU(tag, column(kNext));
    Doubles max_abs = first ? zero : hn::LoadU(tag, column(kMaxAbs));
    const Doubles old_top = top;
    for (std::size_t key = 0; key < keys; ++key) {
      const Doubles logit = hn::LoadU(tag, logits + key * stride + query);
      next = hn::Max(next, hn::Min(top, logit));
      top = hn::Max(top, logit);
      max_abs = hn::Max(max_abs, hn::Abs(logit));
    }

    // 2. What was summed so far, relative to the new top.
    Sums s{top, zero, zero, zero, zero, zero};
    hn::Mask<DoubleLanes> top_is_separated = hn::MaskFromVec(zero);
    if (!first) {
      s = {old_top,
           hn::LoadU(tag, column(kRest)),
           hn::LoadU(tag, column(kRest2)),
           hn::LoadU(tag, column(kRest3)),
           hn::LoadU(tag, column(kRest4)),
           hn::LoadU(tag, column(kGap))};
      const auto fades = hn::Gt(top, old_top);
      lower(tag, fades, top, s);
      top_is_separated = hn::Not(fades);
    }

    // 3. One exponential per key; the first key that equals the top is the one left out.
    for (std::size_t key = 0; key < keys; ++key) {
      const Doubles logit = hn::LoadU(tag, logits + key * stride + query);
      const auto is_top = hn::AndNot(top_is_separated, hn::Eq(logit, top));
      top_is_separated = hn::Or(top_is_separated, is_top);
      const Doubles difference = hn::Sub(logit, top);
      const Doubles e = hn::IfThenZeroElse(is_top, exp_of_negative(difference));
      s.rest = hn::Add(s.rest, e);
      s.gap = hn::NegMulAdd(e, difference, s.gap);
      if (!powers) continue;
      const Doubles e2 = hn::Mul(e, e);
      s.rest2 = hn::Add(s.rest2, e2);
      s.rest3 = hn::MulAdd(e2, e, s.rest3);
      s.rest4 = hn::MulAdd(e2, e2, s.rest4);
    }

    hn::StoreU(top, tag, column(kTop));
    hn::StoreU(next, tag, column(kNext));
    hn::StoreU(max_abs, tag, column(kMaxAbs));
    hn::StoreU(s.rest, tag, column(kRest));
    hn::StoreU(s.gap, tag, column(kGap));
    if (!powers) continue;
    hn::StoreU(s.rest2, tag, column(kRest2));
    hn::StoreU(s.rest3, tag, column(kRest3));
    hn::StoreU(s.rest4, tag, column(kRest4));
  }
}

// With s the larger of top and sink, log(e^s total) - top is log1p of what is added to the larger
// one, and s - top.
void add_logs(double sink_logit, std::size_t stride, double* HWY_RESTRICT columns) {
  const DoubleLanes tag;
  const Doubles one = hn::Set(tag, 1.0);
  const Doubles zero = hn::Zero(tag);
  for (std::size_t query = 0; query < stride; query += hn::Lanes(tag)) {
    const auto column = [&](std::size_t index) {
      return hn::LoadU(tag, columns + index * stride + query);
    };
    const Doubles rest = column(kRest);
    const Doubles above = hn::Sub(hn::Set(tag, sink_logit), column(kTop));
    const auto sink_is_larger = hn::Gt(above, zero);
    const Doubles added = hn::IfThenElse(
        sink_is_larger, hn::Mul(column(kShare), hn::Add(one, rest)), hn::Add(rest, column(kSink)));
    const Doubles log = hn::Add(hn::Log1p(tag, added), hn::IfThenElseZero(sink_is_larger, above));
    hn::StoreU(log, tag, columns + kLog * stride + query);
  }
}

void take_exponentials(double top, std::size_t padded_count, double* HWY_RESTRICT numbers) {
  const DoubleLanes tag;
  for (std::size_t i = 0; i < padded_count; i += hn::Lanes(tag)) {
    const Doubles difference = hn::Sub(hn::LoadU(tag, numbers + i), hn::Set(tag, top));
    hn::StoreU(exp_of_negative(difference), tag, numbers + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attnscale
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscale {

HWY_EXPORT(add_keys);
HWY_EXPORT(add_logs);
HWY_EXPORT(take_exponentials);

namespace {
using HWY_NAMESPACE::kShare;
using HWY_NAMESPACE::kSink;
using HWY_NAMESPACE::kTop;
constexpr std::size_t kColumns = 11;
}  // namespace

void SoftmaxSums::start(std::int64_t queries, SoftmaxLevel level) {
  queries_ = queries;
  empty_ = true;
  if (padded(queries) == stride_ && level == level_) return;
  stride_ = padded(queries);
  level_ = level;
  // Columns beyond the level are never written.
  columns_.assign(kColumns * static_cast<std::size_t>(stride_), kNan);
}

void SoftmaxSums::add_keys(std::span<const double> logits, std::int64_t keys) {
  HWY_DYNAMIC_DISPATCH(add_keys)
  (logits.data(), static_cast<std::size_t>(keys), static_cast<std::size_t>(stride_), empty_,
   level_ >= SoftmaxLevel::kPowers, columns_.data());
  empty_ = false;
}

void SoftmaxSums::finish(double sink_logit) {
  const auto stride = static_cast<std::size_t>(stride_);
  const double* const top = columns_.data() + kTop * stride;
  double* const sink = columns_.data() + kSink * stride;
  double* const share = columns_.data() + kShare * stride;
  std::fill(sink, sink + stride, 0.0);
  std::fill(share, share + stride, 1.0);
  for (std::size_t query = 0; query < stride && std::isfinite(sink_logit); ++query) {
    const double larger = std::max(top[query], sink_logit);
    sink[query] = plain::exp_of_negative(sink_logit - larger);
    share[query] = plain::exp_of_negative(top[query] - larger);
  }
  if (level_ < SoftmaxLevel::kEntropy) return;
  HWY_DYNAMIC_DISPATCH(add_logs)(sink_logit, stride, columns_.data());
}

void exponentials_below(double top, std::span<double> numbers) {
  HWY_DYNAMIC_DISPATCH(take_exponentials)(top, numbers.size(), numbers.data());
}

}  // namespace attnscale
#endif  // HWY_ONCE
