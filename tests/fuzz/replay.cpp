// usage: fuzz_replay FOLDER [ROUNDS [SEED]]
// Gives every file of FOLDER/TARGET to each target, as libFuzzer would, then ROUNDS inputs that are
// such files changed by chance: what can be done without clang.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "fuzz/targets.h"

namespace attnscale {
namespace {

class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, std::uint64_t seed)
      : seeds_(std::move(seeds)), random_(seed) {}

  std::string input() {
    std::string bytes = seeds_[below(seeds_.size())];
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) edit(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }

  void edit(std::string& bytes) {
    static const std::vector<std::string> kPieces{"-1",         "0",
                                                  "1e308",      "9223372036854775807",
                                                  "4294967296", "nan",
                                                  "\"",         "[",
                                                  "]",          "{",
                                                  "}",          ",",
                                                  "\n",         std::string(1, '\0'),
                                                  "\xff",       " ",
                                                  "(",          ")",
                                                  "1e-320",     "-",
                                                  "\\u0000",    "null",
                                                  "inf"};
    const std::size_t at = below(bytes.size() + 1);
    const std::size_t length = std::min(bytes.size() - at, below(4) == 0 ? below(200) : below(4));
    const std::string& other = seeds_[below(seeds_.size())];
    switch (below(5)) {
      case 0:
        bytes.erase(at, length);
        break;
      case 1:
        bytes.insert(at, bytes.substr(below(bytes.size() + 1), length));
        break;
      case 2:
        bytes.replace(at, length, kPieces[below(kPieces.size())]);
        break;
      case 3:
        bytes.replace(at, length, other.substr(below(other.size() + 1), below(60)));
        break;
      default:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
};

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::directory_iterator(folder)) paths.push_back(file);
  std::ranges::sort(paths);
  std::vector<std::string> files;
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return files;
}

// The input that ends the process is in the file named so.
void take(const FuzzTarget& target, const std::string& bytes, const std::string& note) {
  std::ofstream(note, std::ios::binary | std::ios::trunc) << bytes;
  target.take(bytes);
}

}  // namespace
}  // namespace attnscale

int main(int count, char** words) {
  if (count < 2) return 2;
  const long rounds = count > 2 ? std::strtol(words[2], nullptr, 10) : 0;
  const auto seed = count > 3 ? std::strtoull(words[3], nullptr, 10) : 0;
  for (const attnscale::FuzzTarget& target : attnscale::fuzz_targets()) {
    const auto seeds = attnscale::files_in(std::filesystem::path(words[1]) / target.name);
    attnscale::expect(!seeds.empty(), "every target has inputs");
    const std::string note = "last_input_of_" + std::string(target.name);
    for (const std::string& bytes : seeds) attnscale::take(target, bytes, note);
    attnscale::Mutator mutator(seeds, seed);
    for (long round = 0; round < rounds; ++round) attnscale::take(target, mutator.input(), note);
    std::filesystem::remove(note);
    std::printf("%s: %zu inputs, %ld changed ones\n", target.name.data(), seeds.size(), rounds);
    std::fflush(stdout);
  }
}
