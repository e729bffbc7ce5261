// usage: fuzz_replay FOLDER
// Gives every file of FOLDER/TARGET to each target once, as libFuzzer would, without a fuzzer.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "fuzz/targets.h"

int main(int count, char** words) {
  namespace fs = std::filesystem;
  if (count != 2) return 2;
  for (const auto& [name, take] : attnscale::fuzz_targets()) {
    int inputs = 0;
    for (const auto& file : fs::directory_iterator(fs::path(words[1]) / name)) {
      std::ifstream stream(file.path(), std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(stream), {});
      std::fprintf(stderr, "%s\n", file.path().c_str());  // the last one is to blame for an end
      take(bytes);
      ++inputs;
    }
    std::printf("%.*s: %d inputs\n", static_cast<int>(name.size()), name.data(), inputs);
    attnscale::expect(inputs > 0, "every target has inputs");
  }
}
