// What a run says of itself in its folder: events as they happen, a manifest at its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/provenance.h"
#include "config/user_error.h"
#include "experiment/plan.h"
#include "io/line_log.h"

namespace attnscale {

enum class RunStatus { kFinished, kInterrupted, kFailed };

/// Appends to FOLDER/events.jsonl, one JSON object a line, and writes FOLDER/manifest.json.
/// Everything may throw std::system_error that names the file.
class RunJournal {
 public:
  /// Notes the start, with the config's warnings; `part` says how much of the run it is.
  RunJournal(std::filesystem::path folder, const LoadedConfig& loaded, const RunCommand& command,
             const std::string& part);

  void checkpoint(std::int64_t queries);
  void warning(const std::string& message);
  void cell_done(const Plan& plan, std::size_t cell);

  /// Notes the end and writes the manifest, with the hashes of `files`, which are in the folder.
  void end(RunStatus status, ExitCode code, const std::vector<std::string>& files);

  /// As far as it can, on the way out of a failure: notes a failed end, unless the run ended before
  /// it, as when only its tables could not be printed. Throws nothing.
  void fail() noexcept;

 private:
  std::filesystem::path folder_;
  Config config_;
  RunRecord record_;
  LineLog events_;
  bool ended_ = false;
};

}  // namespace attnscale
