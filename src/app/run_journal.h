// The records that a run keeps in its folder: events as they happen, and a manifest at its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/manifest.h"
#include "app/run_folder.h"
#include "config/user_error.h"
#include "io/line_log.h"

namespace attnscale {

/// Appends to FOLDER/events.jsonl, one JSON object a line, and writes FOLDER/manifest.json.
/// Everything may throw std::system_error that names the file.
class RunJournal {
 public:
  /// Notes the start. `arguments` are the command line's.
  RunJournal(std::filesystem::path folder, const WantedRun& wanted,
             std::vector<std::string> arguments, int threads);

  void checkpoint(std::int64_t queries);
  void warning(const std::string& message);
  void cell_done(const Plan& plan, std::size_t cell);

  /// What the tables do not show, as the manifest has it.
  const ReportWords& words() const { return manifest_.words; }

  /// Notes the end and writes the manifest.
  void end(ExitCode code, std::vector<ManifestFile> files);

  /// After a failure: notes a failed end if it can, unless the run had ended before, as when only
  /// its tables could not be printed. Throws nothing.
  void fail() noexcept;

 private:
  using Clock = std::chrono::system_clock;

  void append(const std::string& event, const std::vector<std::pair<std::string, Fact>>& facts);

  std::filesystem::path folder_;
  Clock::time_point started_ = Clock::now();
  Manifest manifest_;
  LineLog events_;
  bool ended_ = false;
};

}  // namespace attnscale
