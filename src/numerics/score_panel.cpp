#include "numerics/score_panel.h"

#include <utility>

// The bare comment lines keep the formatter from sorting the includes: what foreach_target.h needs
// is set before it, and it comes before all that is compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/score_panel.cpp"
#include "numerics/vector_targets.h"
//
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscale {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two vectors of keys against all queries: with 6 queries their 12 sums, 2 vectors of keys and a
// query's component fill the 16 registers of AVX2.
template <std::size_t... kQuery>
HWY_INLINE void score_two_vectors(std::index_sequence<kQuery...> /*queries*/, const double* queries,
                                  std::size_t components, const double* keys, double* scores,
                                  std::size_t stride) {
  const hn::CappedTag<double, kPanelKeys / 2> tag;
  using Vector = hn::Vec<decltype(tag)>;
  const std::size_t lanes = hn::Lanes(tag);
  Vector first[] = {((void)kQuery, hn::Zero(tag))...};
  Vector second[] = {((void)kQuery, hn::Zero(tag))...};
  for (std::size_t i = 0; i < components; ++i) {
    const Vector a = hn::LoadU(tag, keys + i * kPanelKeys);
    const Vector b = hn::LoadU(tag, keys + i * kPanelKeys + lanes);
    const double* const entries = queries + i * kBlockQueries;
    ((first[kQuery] = hn::MulAdd(hn::Set(tag, entries[kQuery]), a, first[kQuery]),
      second[kQuery] = hn::MulAdd(hn::Set(tag, entries[kQuery]), b, second[kQuery])),
     ...);
  }
  ((hn::StoreU(first[kQuery], tag, scores + kQuery * stride),
    hn::StoreU(second[kQuery], tag, scores + kQuery * stride + lanes)),
   ...);
}

void score_all_keys(const double* queries, std::size_t components, const double* keys,
                    double* scores, std::size_t stride) {
  const std::size_t step = 2 * hn::Lanes(hn::CappedTag<double, kPanelKeys / 2>());
  for (std::size_t key = 0; key < kPanelKeys; key += step) {
    score_two_vectors(std::make_index_sequence<kBlockQueries>(), queries, components, keys + key,
                      scores + key, stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attnscale
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscale {

HWY_EXPORT(score_all_keys);

void score_panel(std::span<const double> queries, std::span<const double> keys, double* scores,
                 std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(score_all_keys)
  (queries.data(), queries.size() / kBlockQueries, keys.data(), scores, stride);
}

}  // namespace attnscale
#endif  // HWY_ONCE
