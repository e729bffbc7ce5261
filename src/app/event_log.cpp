#include "app/event_log.h"

#include <nlohmann/json.hpp>

#include "app/fingerprint.h"

namespace attnscale {
namespace {

using Json = nlohmann::ordered_json;

// An event with its time; `facts` are its own.
std::string line(const char* event, const Json& facts) {
  Json object{{"time", timestamp(std::chrono::system_clock::now())}, {"event", event}};
  object.update(facts);
  return object.dump();
}

}  // namespace

EventLog::EventLog(const std::filesystem::path& folder) : log_(folder / "events.jsonl") {}

void EventLog::started(const Config& config, const RunRecord& record) {
  log_.append(line("start", {{"run", config.name},
                             {"seed", config.seed},
                             {"fingerprint", fingerprint(config)},
                             {"version", program_version()},
                             {"threads", record.threads},
                             {"arguments", record.arguments}}));
  for (const std::string& message : record.warnings) warning(message);
}

void EventLog::checkpoint(std::int64_t queries) {
  log_.append(line("checkpoint", {{"queries", queries}}));
}

void EventLog::cell_done(const std::string& experiment, std::int64_t d, std::int64_t keys) {
  log_.append(line("cell_done", {{"experiment", experiment}, {"d", d}, {"keys", keys}}));
}

void EventLog::warning(const std::string& message) {
  log_.append(line("warning", {{"message", message}}));
}

void EventLog::finished(const RunRecord& record) {
  log_.append(line("finish", {{"status", record.status}, {"exit_code", record.exit_code}}));
}

}  // namespace attnscale
