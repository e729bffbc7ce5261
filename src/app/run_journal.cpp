#include "app/run_journal.h"

#include <nlohmann/json.hpp>

#include "app/fingerprint.h"
#include "io/atomic_file.h"

namespace attnscale {
namespace {

using Json = nlohmann::ordered_json;

// An event with its time; `facts` are its own. Arguments may hold any bytes: those that are no
// UTF-8 become U+FFFD.
std::string line(const char* event, const Json& facts) {
  Json object{{"time", timestamp(std::chrono::system_clock::now())}, {"event", event}};
  object.update(facts);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const char* name_of(RunStatus status) {
  switch (status) {
    case RunStatus::kFinished:
      return "finished";
    case RunStatus::kInterrupted:
      return "interrupted";
    case RunStatus::kFailed:
      break;
  }
  return "failed";
}

}  // namespace

RunJournal::RunJournal(std::filesystem::path folder, const LoadedConfig& loaded,
                       const RunCommand& command, const std::string& part)
    : folder_(std::move(folder)),
      config_(loaded.config),
      record_{.shard = part,
              .arguments = command.arguments,
              .threads = command.threads,
              .started = std::chrono::system_clock::now(),
              .warnings = {}},
      events_(folder_ / "events.jsonl") {
  events_.append(line("start", {{"run", config_.name},
                                {"seed", config_.seed},
                                {"shard", record_.shard},
                                {"fingerprint", fingerprint(config_)},
                                {"version", program_version()},
                                {"threads", record_.threads},
                                {"arguments", record_.arguments}}));
  for (const std::string& message : loaded.warnings) warning(message);
}

void RunJournal::warning(const std::string& message) {
  record_.warnings.push_back(message);
  events_.append(line("warning", {{"message", message}}));
}

void RunJournal::checkpoint(std::int64_t queries) {
  events_.append(line("checkpoint", {{"queries", queries}}));
}

void RunJournal::cell_done(const Plan& plan, std::size_t cell) {
  const Cell& done = plan.cells[cell];
  events_.append(line("cell_done", {{"experiment", plan.config.experiments[done.experiment].name},
                                    {"entries", done.draw.entries.name},
                                    {"d", done.draw.d},
                                    {"keys", done.draw.keys}}));
}

void RunJournal::end(RunStatus status, ExitCode code, const std::vector<std::string>& files) {
  record_.status = name_of(status);
  record_.exit_code = static_cast<int>(code);
  record_.ended = std::chrono::system_clock::now();
  events_.append(line("finish", {{"status", record_.status}, {"exit_code", record_.exit_code}}));
  write_atomically(folder_ / "manifest.json", manifest_text(config_, record_, folder_, files));
  ended_ = true;
}

void RunJournal::fail() noexcept {
  if (ended_) return;
  try {
    end(RunStatus::kFailed, ExitCode::kFailed, {});
  } catch (...) {
    // The failure itself is on its way to the reader.
  }
}

}  // namespace attnscale
