// The file that an interrupted run goes on from, and that a shard hands to `merge`: what run it is,
// and its ledger. Written whole or not at all, exact to the bit, and refused where anything in it
// is not as it was written.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "execution/ledger.h"
#include "execution/run_identity.h"
#include "experiment/plan.h"

namespace attnscale {

/// Name of the file in a run's folder.
inline constexpr std::string_view kCheckpointName = "checkpoint.txt";

/// The file is cut off, changed, of another program, or of a format this version cannot read. It is
/// never deleted: the message says what it is. Exit code 1.
class DamagedCheckpoint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A checkpoint, whole and unchanged since it was written. What its cells must be follows from the
/// plan of its config: read_cells.
struct Checkpoint {
  std::string name;  ///< for messages
  RunIdentity identity;
  Shard shard;
  std::string cells;  ///< as text
};

/// The text of the file. Workers may go on adding to the ledger: each cell is consistent in itself,
/// which is all that resuming needs.
std::string checkpoint_text(const RunIdentity& identity, const Ledger& ledger);

/// Reads such a text; messages use `name`. Throws DamagedCheckpoint.
Checkpoint parse_checkpoint(std::string_view text, const std::string& name);

/// Writes folder/checkpoint.txt; throws std::system_error that names the file.
void save_checkpoint(const std::filesystem::path& folder, const RunIdentity& identity,
                     const Ledger& ledger);

/// The checkpoint in `folder`; empty if there is no such file. Throws DamagedCheckpoint, or
/// std::system_error if the file cannot be read.
std::optional<Checkpoint> load_checkpoint(const std::filesystem::path& folder);

/// How the checkpoint differs from this run and shard, as the sentence "FOLDER holds ..."; empty if
/// it does not.
std::string other_run_in(const std::filesystem::path& folder, const Checkpoint& checkpoint,
                         const RunIdentity& identity, Shard shard);

/// The cells of a checkpoint of that plan, in its order. Throws DamagedCheckpoint if there are
/// others, or if they hold what no run of the plan can have measured.
std::vector<CellLedger> read_cells(const Checkpoint& checkpoint, const Plan& plan);

}  // namespace attnscale
