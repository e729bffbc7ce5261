// Writes random words to stdout, for a program that tests random numbers:
//
//     build/print_words | dieharder -a -g 200
//
// They are those of the vector kernels, from the streams of 8 neighbouring seeds times 8
// neighbouring cells, a word of each in turn: what neighbouring streams share would show. Ends when
// its reader does.

#include <cstdint>
#include <cstdio>
#include <vector>

#include "numerics/normal_kernel.h"

namespace {

constexpr std::uint64_t kNeighbours = 8;
constexpr std::uint64_t kCell = 0x9e3779b97f4a7c15U;  // any: cells are hashes

std::vector<attnscale::StreamKey> neighbouring_streams() {
  std::vector<attnscale::StreamKey> streams;
  for (std::uint64_t seed = 0; seed < kNeighbours; ++seed) {
    for (std::uint64_t cell = 0; cell < kNeighbours; ++cell) {
      streams.push_back(
          attnscale::stream_key({seed, kCell + cell, 0}, attnscale::StreamPurpose::kEntries));
    }
  }
  return streams;
}

}  // namespace

int main() {
  constexpr std::uint64_t kCalls = 16;
  const auto streams = neighbouring_streams();
  std::vector<std::uint64_t> words(kCalls * 4 * attnscale::kLanes);
  std::vector<std::uint64_t> interleaved(words.size() * streams.size());
  for (std::uint64_t call = 0;; call += kCalls) {
    for (std::size_t s = 0; s < streams.size(); ++s) {
      attnscale::draw_words(streams[s], {call, 0, 0, 0}, words);
      for (std::size_t i = 0; i < words.size(); ++i) interleaved[i * streams.size() + s] = words[i];
    }
    const std::size_t written =
        std::fwrite(interleaved.data(), sizeof interleaved[0], interleaved.size(), stdout);
    if (written != interleaved.size()) return 0;
  }
}
