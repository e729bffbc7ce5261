// The machine log of a run: one JSON object a line, written as it happens.
#pragma once

#include <filesystem>
#include <string>

#include "app/provenance.h"
#include "experiment/experiment.h"
#include "io/line_log.h"

namespace attnscale {

class EventLog {
 public:
  /// Opens FOLDER/events.jsonl for appending, cutting a torn last line. Throws std::system_error.
  explicit EventLog(const std::filesystem::path& folder);

  void started(const Config& config, const RunRecord& record);
  void checkpoint(std::int64_t queries);
  void cell_done(const std::string& experiment, std::int64_t d, std::int64_t keys);
  void warning(const std::string& message);
  void finished(const RunRecord& record);

 private:
  LineLog log_;
};

}  // namespace attnscale
