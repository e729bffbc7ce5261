#include "app/fingerprint.h"

#include "app/config.h"
#include "app/provenance.h"
#include "io/sha256.h"

namespace attnscale {

std::string fingerprint(const Config& config) {
  Config numbers = config;
  numbers.description.clear();
  return sha256_hex(program_version() + "\n" + to_json_text(numbers));
}

RunIdentity identity_of(const Config& config) {
  return {program_version(), to_json_text(config)};
}

}  // namespace attnscale
