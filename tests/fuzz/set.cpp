#include "fuzz/targets.h"

namespace attnscale {

// Each line is what somebody types after --set.
void fuzz_set(std::string_view bytes) {
  constexpr std::string_view kConfig = R"json(
    {"name": "a", "presets": {"ours": {"logit": "s q.k / sqrt(d)", "s": 0.43}},
     "experiments": [
       {"name": "x.y", "d": [4, 16], "keys": 8, "queries": 100, "sampler": "boost",
        "entries": ["normal", {"law": "student_t", "nu": 5, "mean": 1}], "samples": 1,
        "scalings": ["none", "ours",
                     {"name": "half", "preset": "gemma2_27b", "precision": "float16"}],
        "stop": {"metric": "top_weight", "absolute_error": 0.1}, "histogram": ["logit"]},
       {"name": "z", "given": {"scores": [[1, 2], [3, 4]], "d": 4}}]})json";
  may_refuse([&] {
    std::vector<Override> overrides;
    while (!bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      overrides.push_back(parse_override(bytes.substr(0, end)));
      bytes.remove_prefix(std::min(end + 1, bytes.size()));
    }
    check_config(config_of(kConfig, overrides));
  });
}

}  // namespace attnscale
