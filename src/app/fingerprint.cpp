#include "app/fingerprint.h"

#include "app/provenance.h"
#include "config/config.h"
#include "io/sha256.h"

namespace attnscale {
namespace {

// Where given files lie changes no number.
void forget_places(Given& given) {
  for (const auto matrix : kGivenMatrices) {
    if ((given.*matrix).file) (given.*matrix).file->path.clear();
  }
}

}  // namespace

std::string fingerprint(const Config& config) {
  Config numbers = config;
  numbers.description.clear();
  for (Experiment& experiment : numbers.experiments) {
    if (experiment.given) forget_places(*experiment.given);
  }
  return sha256_hex(program_version() + "\n" + to_json_text(numbers));
}

RunIdentity identity_of(const Config& config) {
  return {program_version(), to_json_text(config)};
}

}  // namespace attnscale
