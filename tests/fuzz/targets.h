// What is fuzzed. A target does with any bytes what the program does with a file or text of its
// kind: they are taken, or refused with a sentence. Anything else is a fault and ends the process:
// a finding of a sanitizer, another exception, a value that does not read back as it was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "config/config.h"
#include "io/tensor.h"
#include "io/whole_file.h"

namespace attnscale {

struct FuzzTarget {
  std::string_view name;  ///< also of the folder with its seeds
  void (*take)(std::string_view bytes);
};

/// Each target has a page of its own.
std::span<const FuzzTarget> fuzz_targets();

void fuzz_checkpoint(std::string_view bytes);
void fuzz_config(std::string_view bytes);
void fuzz_csv(std::string_view bytes);
void fuzz_folder(std::string_view bytes);
void fuzz_formula(std::string_view bytes);
void fuzz_manifest(std::string_view bytes);
void fuzz_npy(std::string_view bytes);
void fuzz_npz(std::string_view bytes);
void fuzz_safetensors(std::string_view bytes);
void fuzz_set(std::string_view bytes);
void fuzz_softmax(std::string_view bytes);
void fuzz_summary(std::string_view bytes);

/// Ends the process unless the promise is kept.
void expect(bool is_kept, const char* promise);

/// Ends the process unless the message is a sentence that a screen can show.
void expect_sentence(std::string_view message);

/// Does what may refuse its input with an error for a person to read.
template <typename Action>
void may_refuse(const Action& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    expect_sentence(error.what());
  }
}

/// The bytes as a file of exactly that size.
MappedFile in_memory(std::string_view bytes);

/// Reads all numbers of a tensor in every way that a config can ask for.
void read_numbers(const Tensor& tensor);

/// True of a config of so few cells that all of them can be looked at.
bool is_small(const Config& config);

/// Writes a config and reads it again, and does all that comes before anything is drawn.
void check_config(const Config& config);

/// A config's text; files that it names are not found.
Config config_of(std::string_view text, const std::vector<Override>& overrides = {});

}  // namespace attnscale
