// A run's name for machines: equal exactly where the numbers would be.
#pragma once

#include <string>

#include "execution/run_identity.h"
#include "experiment/experiment.h"

namespace attnscale {

/// SHA-256, in hexadecimal, of everything in a config that changes a number or a line of the
/// results, and of the program's version; not of its description, nor of where given
/// files lie, but of what they hold.
std::string fingerprint(const Config& config);

/// What a checkpoint says of the run it belongs to.
RunIdentity identity_of(const Config& config);

}  // namespace attnscale
