#include "fuzz/targets.h"
#include "io/npy_file.h"
#include "io/npz_file.h"

namespace attnscale {

void fuzz_npz(std::string_view bytes) {
  const MappedFile file = in_memory(bytes);
  may_refuse([&] {
    for (const std::string& name : names_in_zip(file, "file")) {
      may_refuse([&] { read_numbers(read_npy(read_zip_member(file, "file", name), "file")); });
    }
  });
}

}  // namespace attnscale
