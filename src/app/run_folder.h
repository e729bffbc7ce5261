// A run's folder: where it is, and what is already there.
#pragma once

#include <filesystem>
#include <string>

#include "app/command_line.h"
#include "experiment/experiment.h"

namespace attnscale {

/// Where the results of `run` go when its config resolves to `config` (design 3.1).
std::filesystem::path results_folder(const RunCommand& run, const Config& config);

/// What a folder holds, as far as `run` cares.
enum class FolderState {
  kFree,  ///< no run: absent, or without a manifest and checkpoint
  kSameFinished,
  kSameUnfinished,
  kOther,  ///< another run, or another version's
};

struct FolderContents {
  FolderState state = FolderState::kFree;
  std::string difference;  ///< for kOther, a sentence part that says what differs
};

/// Compares what is in `folder` with a run of `config`. Throws std::runtime_error where a file that
/// decides it is damaged.
FolderContents inspect_folder(const std::filesystem::path& folder, const Config& config);

/// Removes the files of a run, and nothing else, from `folder`.
void clear_folder(const std::filesystem::path& folder);

}  // namespace attnscale
