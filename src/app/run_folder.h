// The folder of a run: where it is and what it already holds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/manifest.h"
#include "config/config.h"
#include "config/user_error.h"
#include "execution/checkpoint.h"
#include "experiment/plan.h"
#include "experiment/result_row.h"

namespace attnscale {

/// The run that a folder is wanted for.
struct WantedRun {
  const Plan& plan;
  RunIdentity identity;
  RunPart part = {};
};

/// The identity of a run of `config` by this program.
RunIdentity identity_of(const Config& config);

/// Where results go by default if `overrides` led to `config`: results/NAME, with overrides
/// results/NAME-FINGERPRINT, and with .shard-I-of-N after it for a shard.
std::filesystem::path results_folder(const Config& config, const std::vector<Override>& overrides,
                                     std::optional<Shard> shard = std::nullopt);

/// What a folder holds, as far as it matters to `run`.
enum class FolderState {
  kFree,        ///< no run: absent, or without any file that a run writes
  kFinished,    ///< this run, finished
  kUnfinished,  ///< this run, interrupted, with `measured` cells
  kOther,       ///< another run, one of another version, this one with missing or changed files,
                ///< or files of an unknown run
};

struct FolderContents {
  FolderState state = FolderState::kFree;
  std::vector<CellLedger> measured = {};  ///< for kUnfinished, all cells of the plan
  std::string difference = {};            ///< for kOther, the sentence "FOLDER holds ..."
  std::string warning = {};  ///< about an interrupted run that cannot go on; usually empty
  ExitCode exit_code = ExitCode::kDone;  ///< for kFinished, that of the run
};

/// Compares what is in `folder` with the wanted run. Of the files of a finished run it looks at the
/// lengths only; `attnscale verify` reads them. Throws DamagedCheckpoint, and UserError where a
/// file is in the place of a folder or a folder in that of a file.
FolderContents inspect_folder(const std::filesystem::path& folder, const WantedRun& wanted);

/// Where a run that replaces another is written until it is whole, in the folder of the other.
inline constexpr std::string_view kReplacementName = "replacement";

/// Where the files of the run in `folder` are: there, or in its replacement if that is whole and
/// was not put into its place, as after a kill.
std::filesystem::path run_place(const std::filesystem::path& folder);

/// Puts the replacement in the place of the run in `folder`. At every moment one of them is whole,
/// and run_place leads to it.
void put_in_place(const std::filesystem::path& folder);

/// The rows of the finished run in `folder`. Throws UserError if it holds none.
Results read_finished(const std::filesystem::path& folder);

/// Throws UserError if `folder` is no folder; `what` is the one that is wanted, such as "a shard".
void expect_folder(const std::filesystem::path& folder, std::string_view what);

/// Makes `folder` and its parents if they are absent. Throws std::runtime_error, with the reason
/// and a way out, if it cannot.
void make_folder(const std::filesystem::path& folder);

/// What a kill leaves in the folder of a finished run, or of a finished shard: its lock, the
/// checkpoint of a whole run, one half written, a replacement that nothing is in.
bool has_leftovers(const std::filesystem::path& folder, std::optional<Shard> shard);

/// Removes them, but for the lock, which must be held. What cannot be removed stays: it does no
/// harm.
void remove_leftovers(const std::filesystem::path& folder, std::optional<Shard> shard) noexcept;

/// Removes the files of a run, its page and the pictures drawn of it, and nothing else, from
/// `folder`.
void clear_folder(const std::filesystem::path& folder);

}  // namespace attnscale
