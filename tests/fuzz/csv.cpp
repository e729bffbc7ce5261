#include "fuzz/targets.h"
#include "io/csv_reader.h"

namespace attnscale {

void fuzz_csv(std::string_view bytes) {
  may_refuse([&] { read_numbers(read_csv_matrix(bytes, "file")); });
}

}  // namespace attnscale
