#include "fuzz/targets.h"
#include "io/safetensors_file.h"

namespace attnscale {

void fuzz_safetensors(std::string_view bytes) {
  may_refuse([&] {
    for (const auto& [name, tensor] : read_safetensors(in_memory(bytes), "file")) {
      read_numbers(tensor);
    }
  });
}

}  // namespace attnscale
