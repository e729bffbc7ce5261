// A run's folder: where it is, and what is already there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/user_error.h"
#include "execution/checkpoint.h"
#include "experiment/plan.h"

namespace attnscale {

/// The run that a folder is wanted for.
struct WantedRun {
  const Plan& plan;
  RunIdentity identity;
  std::optional<Shard> shard;  ///< nothing for the whole run
};

/// What makes a run of `config` by this program the same as another.
RunIdentity identity_of(const Config& config);

/// kWholeRun, or "shard I of N", of one shard too.
std::string part_name(std::optional<Shard> shard);

/// Where results go by default when `overrides` resolved a config to `config`: results/NAME, with
/// overrides results/NAME-FINGERPRINT, and .shard-I-of-N after it for a shard.
std::filesystem::path results_folder(const Config& config, const std::vector<Override>& overrides,
                                     std::optional<Shard> shard = std::nullopt);

/// What a folder holds, as far as `run` cares.
enum class FolderState {
  kFree,        ///< no run: absent, or without any file that a run writes
  kFinished,    ///< this run, finished
  kUnfinished,  ///< this run, interrupted: `checkpoint` is there, if it got that far
  kOther,       ///< another run, another version's, this one with files gone or changed, or files
                ///< that nothing there says the run of
};

struct FolderContents {
  FolderState state = FolderState::kFree;
  std::optional<Checkpoint> checkpoint;
  std::string difference;  ///< for kOther, the sentence "FOLDER holds ..." that says so
  std::string warning;     ///< what was lost of an interrupted run; mostly empty
  ExitCode exit_code = ExitCode::kDone;  ///< for kFinished, what the run ended with
};

/// Compares what is in `folder` with the wanted run. Of the files of a finished run it looks at the
/// lengths only; `attnscale verify` reads them. Throws DamagedCheckpoint.
FolderContents inspect_folder(const std::filesystem::path& folder, const WantedRun& wanted);

/// Makes `folder` and those above it where they are absent. Throws std::runtime_error with the
/// reason and a way out where it cannot.
void make_folder(const std::filesystem::path& folder);

/// Removes the files of a run and the pictures drawn of it, and nothing else, from `folder`.
void clear_folder(const std::filesystem::path& folder);

}  // namespace attnscale
