// The command `verify`.
#pragma once

#include <filesystem>
#include <string>

#include "config/user_error.h"

namespace attnscale {

struct Verification {
  std::string text;  ///< what was checked and what was found, for the screen
  ExitCode code;     ///< kDone or kMismatch
};

/// Re-hashes the files of the run in `folder` against its manifest; compares the lines of
/// summary.csv with those that its config asks for, their queries and exact values; and checks that
/// every estimate is as near to its exact value as reference_check.h allows. Throws UserError if
/// the folder holds no finished run.
Verification verify_folder(const std::filesystem::path& folder);

}  // namespace attnscale
