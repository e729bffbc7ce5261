#include "fuzz/targets.h"
#include "io/matrix_file.h"
#include "io/npy_file.h"

namespace attnscale {

void fuzz_npy(std::string_view bytes) {
  if (const auto what = foreign_file(bytes, "file")) expect_sentence(*what);
  may_refuse([&] { read_numbers(read_npy(in_memory(bytes), "file")); });
}

}  // namespace attnscale
