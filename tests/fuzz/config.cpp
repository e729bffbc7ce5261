#include "fuzz/targets.h"

namespace attnscale {

void fuzz_config(std::string_view bytes) {
  may_refuse([&] { check_config(config_of(bytes)); });
}

}  // namespace attnscale
