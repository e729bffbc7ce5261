// Threefry4x64 in vectors: four 64-bit words of every lane from a key shared by all lanes and a
// counter of each lane's own. Included by kernels only, once per instruction set. Knows nothing of
// what the words are for.
//
// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
// Random123's threefry.h (1.14): "the authors know of no statistical flaws with ROUNDS=12 or more
// for Threefry4x64" (their tests: TestU01's BigCrush). 13 rounds, the smallest number for which
// vectors are published, are one more than that.

#if defined(ATTNSCALE_NUMERICS_THREEFRY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNSCALE_NUMERICS_THREEFRY_INL_H_
#undef ATTNSCALE_NUMERICS_THREEFRY_INL_H_
#else
#define ATTNSCALE_NUMERICS_THREEFRY_INL_H_
#endif

#include <hwy/highway.h>

#include "numerics/lanes.h"
#include "numerics/random_stream.h"

HWY_BEFORE_NAMESPACE();
namespace attnscale {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using WordLanes = hn::CappedTag<std::uint64_t, kLanes>;
using Words = hn::Vec<WordLanes>;

/// Four words of every lane: a counter, or what becomes of it.
struct FourWords {
  Words x0, x1, x2, x3;
};

/// The key as it is added before rounds 0, 4, 8 and 12, the same in all lanes: rotated by one word
/// each time, with the parity word among them and the number of the addition in the last word.
struct KeySchedule {
  FourWords before0, before4, before8, before12;
};

HWY_INLINE KeySchedule schedule_of(const StreamKey& key) {
  constexpr std::uint64_t kSkeinParity = 0x1BD11BDAA9FC1A22U;
  const std::uint64_t parity = kSkeinParity ^ key[0] ^ key[1] ^ key[2] ^ key[3];
  const auto four = [](std::uint64_t a, std::uint64_t b, std::uint64_t c,
                       std::uint64_t d) HWY_ATTR {
    const WordLanes tag;
    return FourWords{hn::Set(tag, a), hn::Set(tag, b), hn::Set(tag, c), hn::Set(tag, d)};
  };
  return {four(key[0], key[1], key[2], key[3]), four(key[1], key[2], key[3], parity + 1),
          four(key[2], key[3], parity, key[0] + 2), four(key[3], parity, key[0], key[1] + 3)};
}

template <int kBits>
HWY_INLINE void mix(Words& sum, Words& turned) {
  sum = hn::Add(sum, turned);
  turned = hn::Xor(hn::RotateRight<64 - kBits>(turned), sum);
}

// Two rounds: words pair up as 0-1 and 2-3, then as 0-3 and 2-1.
template <int kFirst01, int kFirst23, int kSecond03, int kSecond21>
HWY_INLINE void two_rounds(FourWords& w) {
  mix<kFirst01>(w.x0, w.x1);
  mix<kFirst23>(w.x2, w.x3);
  mix<kSecond03>(w.x0, w.x3);
  mix<kSecond21>(w.x2, w.x1);
}

HWY_INLINE void add_key(const FourWords& key, FourWords& w) {
  w.x0 = hn::Add(w.x0, key.x0);
  w.x1 = hn::Add(w.x1, key.x1);
  w.x2 = hn::Add(w.x2, key.x2);
  w.x3 = hn::Add(w.x3, key.x3);
}

/// Threefry4x64 with 13 rounds.
HWY_INLINE FourWords threefry(const KeySchedule& key, FourWords w) {
  add_key(key.before0, w);
  two_rounds<14, 16, 52, 57>(w);
  two_rounds<23, 40, 5, 37>(w);
  add_key(key.before4, w);
  two_rounds<25, 33, 46, 12>(w);
  two_rounds<58, 22, 32, 32>(w);
  add_key(key.before8, w);
  two_rounds<14, 16, 52, 57>(w);
  two_rounds<23, 40, 5, 37>(w);
  add_key(key.before12, w);
  mix<25>(w.x0, w.x1);
  mix<33>(w.x2, w.x3);
  return w;
}

/// The words of a stream, four a call, for the queries of the lanes.
class Generator {
 public:
  HWY_INLINE explicit Generator(const StreamKey& key)
      : schedule_(schedule_of(key)), lane_(hn::Iota(WordLanes(), 0)) {}

  /// Which queries and which of their vectors the next calls are for.
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

}  // namespace HWY_NAMESPACE
}  // namespace attnscale
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
