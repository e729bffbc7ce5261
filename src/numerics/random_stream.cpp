#include "numerics/random_stream.h"

#include <Random123/threefry.h>

namespace attnscale {

StreamKey stream_key(const BlockAddress& address, StreamPurpose purpose) {
  return {address.seed, address.cell, address.block, static_cast<std::uint64_t>(purpose)};
}

RandomStream::RandomStream(const BlockAddress& address, StreamPurpose purpose)
    : key_(stream_key(address, purpose)) {}

void RandomStream::refill() {
  r123::Threefry4x64 generator;
  const auto words = generator({{counter_[0], counter_[1], counter_[2], counter_[3]}},
                               {{key_[0], key_[1], key_[2], key_[3]}});
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = words[i];
  ++counter_[0];  // 2^66 words a stream: no run draws that many
  used_ = 0;
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // offset basis and prime of 64-bit FNV-1a
  for (const char character : text) {
    hash ^= static_cast<unsigned char>(character);
    hash *= 0x100000001b3U;
  }
  return hash;
}

}  // namespace attnscale
