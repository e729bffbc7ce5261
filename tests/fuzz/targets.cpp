#include "fuzz/targets.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "experiment/given.h"
#include "experiment/plan.h"

namespace attnscale {

std::span<const FuzzTarget> fuzz_targets() {
  static constexpr std::array kTargets{
      FuzzTarget{"checkpoint", fuzz_checkpoint},
      FuzzTarget{"config", fuzz_config},
      FuzzTarget{"csv", fuzz_csv},
      FuzzTarget{"folder", fuzz_folder},
      FuzzTarget{"formula", fuzz_formula},
      FuzzTarget{"manifest", fuzz_manifest},
      FuzzTarget{"npy", fuzz_npy},
      FuzzTarget{"npz", fuzz_npz},
      FuzzTarget{"safetensors", fuzz_safetensors},
      FuzzTarget{"set", fuzz_set},
      FuzzTarget{"softmax", fuzz_softmax},
      FuzzTarget{"summary", fuzz_summary},
  };
  return kTargets;
}

void expect(bool is_kept, const char* promise) {
  if (is_kept) return;
  std::fprintf(stderr, "not kept: %s\n", promise);
  std::abort();
}

void expect_sentence(std::string_view message) {
  constexpr std::size_t kLongest = 2500;
  if (!message.empty() && message.size() <= kLongest &&
      message.find("exception") == std::string_view::npos) {
    return;
  }
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
  expect(false, "an error is a sentence of this program, and not too long");
}

MappedFile in_memory(std::string_view bytes) {
  // Of its own, so that a sanitizer sees a byte read beyond it.
  const std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return {std::shared_ptr<const std::byte>(copy, copy.get()), bytes.size()};
}

void read_numbers(const Tensor& tensor) {
  for (const MatrixLayout layout : {MatrixLayout::kHeadsFirst, MatrixLayout::kRowsFirst}) {
    for (const bool is_mask : {false, true}) {
      TensorReading reading{layout, std::nullopt, is_mask, is_mask};
      if (tensor.holds_bits) {
        reading.dtype =
            tensor.item_bytes == 1 ? NumberFormat::kFloat8E4m3 : NumberFormat::kBfloat16;
      }
      may_refuse([&] { matrix_of(tensor, reading); });
    }
  }
}

bool is_small(const Config& config) {
  constexpr std::size_t kMostCells = 300;
  std::size_t cells = 0;
  for (const Experiment& one : config.experiments) {
    cells += std::max<std::size_t>(one.entries.size() * one.d.size() * one.keys.size(), 1) *
             std::max<std::size_t>(one.scalings.size(), 1);
  }
  return cells <= kMostCells;
}

void check_config(const Config& config) {
  if (!is_small(config)) return;
  const std::string text = to_json_text(config);
  const Config again = config_of(text);
  expect(again == config, "a config reads back as it was");
  expect(to_json_text(again) == text, "a config's text is its own");
  const Plan plan = make_plan(config);
  expect(expected_seconds(plan).size() == plan.cells.size(), "each cell has its seconds");
  for (const Experiment& one : config.experiments) {
    if (one.given) may_refuse([&] { measure_given(config, one); });
  }
}

Config config_of(std::string_view text, const std::vector<Override>& overrides) {
  return parse_config(text, "config", overrides, "/nowhere").config;
}

}  // namespace attnscale
