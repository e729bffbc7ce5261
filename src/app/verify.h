// The command `verify`.
#pragma once

#include <filesystem>

#include "app/process.h"

namespace attnscale {

/// Re-hashes the files of the run in `folder` against its manifest; compares the lines of
/// summary.csv with those that its config asks for, their queries and exact values; and checks that
/// every estimate is as near to its exact value as reference_check.h allows: kMismatch if one of
/// these fails. Throws UserError if the folder holds no finished run.
Answer verify_folder(const std::filesystem::path& folder);

}  // namespace attnscale
