// A run's folder: where it is, and what is already there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/command_line.h"
#include "execution/checkpoint.h"
#include "experiment/plan.h"

namespace attnscale {

/// The run that a folder is wanted for.
struct WantedRun {
  const Plan& plan;
  RunIdentity identity;
  Shard shard;
};

/// Where the results of `run` go when its config resolves to `config` (design 3.1).
std::filesystem::path results_folder(const RunCommand& run, const Config& config);

/// What a folder holds, as far as `run` cares.
enum class FolderState {
  kFree,        ///< no run: absent, or without manifest and checkpoint
  kFinished,    ///< this run, finished
  kUnfinished,  ///< this run, interrupted: `checkpoint` is there, if it got that far
  kOther,       ///< another run: `difference` says how it differs
};

struct FolderContents {
  FolderState state = FolderState::kFree;
  std::optional<Checkpoint> checkpoint;
  std::string difference;
};

/// Compares what is in `folder` with the wanted run. Throws DamagedCheckpoint, or
/// std::runtime_error where its manifest is damaged: such a folder is left as it is.
FolderContents inspect_folder(const std::filesystem::path& folder, const WantedRun& wanted);

/// Removes the files of a run, and nothing else, from `folder`.
void clear_folder(const std::filesystem::path& folder);

}  // namespace attnscale
