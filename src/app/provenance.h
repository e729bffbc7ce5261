// Where numbers came from: what goes into manifest.json and what --version says.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace attnscale {

/// "attnscale 1.0.0", the commit, compiler, libraries and instruction set, one line each.
std::string version_text();

/// The program's version, such as "1.0.0".
std::string program_version();

/// How a run went, as its manifest tells it.
struct RunRecord {
  std::string status = "failed";  ///< finished, interrupted or failed
  std::string shard;              ///< "the whole run", or "shard I of N"
  int exit_code = 0;
  std::vector<std::string> arguments;
  int threads = 1;
  std::chrono::system_clock::time_point started = {};
  std::chrono::system_clock::time_point ended = {};
  std::vector<std::string> warnings;
};

/// The text of manifest.json: provenance, formulas, the resolved config, times, and the SHA-256,
/// bytes and lines of each of `files`, which are in `folder`.
std::string manifest_text(const Config& config, const RunRecord& record,
                          const std::filesystem::path& folder,
                          const std::vector<std::string>& files);

/// A time as ISO 8601 in UTC with milliseconds.
std::string timestamp(std::chrono::system_clock::time_point time);

}  // namespace attnscale
