// Random words addressed by what they are for, never by who draws them.
//
// A stream is a pure function of its address: the same (seed, cell, block, purpose) gives the same
// words on any thread, rank or machine, and neighbouring addresses share nothing, because the
// address is the key of a counter-based generator. Knows nothing of laws, scores or experiments.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace attnscale {

/// Where a block's random words come from. `cell` is the hash of what is drawn (see cell_identity).
struct BlockAddress {
  std::uint64_t seed = 0;
  std::uint64_t cell = 0;
  std::uint64_t block = 0;
};

/// What the words of a block are for. Each purpose has counters of its own, so that drawing more
/// for one purpose moves no number of another.
enum class StreamPurpose : std::uint64_t {
  kEntries = 0,
  kScores = 1,
  kQueryNorms = 2,
  kKeyNorms = 3,
  kWiderQueries = 4,
  kWiderKeys = 5
};

/// The generator's key for an address: (seed, cell, block, purpose).
using StreamKey = std::array<std::uint64_t, 4>;
StreamKey stream_key(const BlockAddress& address, StreamPurpose purpose);

/// A sequence of 64-bit words: Threefry4x64 with 20 rounds (Salmon et al., "Parallel random
/// numbers: as easy as 1, 2, 3", SC 2011), keyed by stream_key, counting from 0.
/// Satisfies UniformRandomBitGenerator, so that Boost.Random's distributions can draw from it.
class RandomStream {
 public:
  using result_type = std::uint64_t;

  RandomStream(const BlockAddress& address, StreamPurpose purpose);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  result_type operator()() {
    if (used_ == words_.size()) refill();
    return words_[used_++];
  }

 private:
  void refill();

  StreamKey key_;
  std::array<std::uint64_t, 4> counter_{};
  std::array<std::uint64_t, 4> words_{};
  std::size_t used_ = 4;
};

/// 64-bit FNV-1a hash of `text`: names a cell by what it draws. Not cryptographic, and need not be:
/// it only has to tell cells apart before it becomes a generator's key.
std::uint64_t hash_text(std::string_view text);

}  // namespace attnscale
