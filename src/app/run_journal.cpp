#include "app/run_journal.h"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <array>

#include "app/version.h"
#include "io/atomic_file.h"
#include "io/sha256.h"
#include "numerics/vector_target.h"
#include "report/report.h"

namespace attnscale {
namespace {

// A time as ISO 8601 in UTC with milliseconds.
std::string timestamp(std::chrono::system_clock::time_point time) {
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = milliseconds / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 40> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:03}Z", std::string_view(text.data(), length), milliseconds % 1000);
}

// What is known of a run before it measures anything.
Manifest first_manifest(const WantedRun& wanted) {
  utsname system{};
  uname(&system);  // cannot fail: only a wrong address is an error
  Manifest manifest;
  manifest.build = this_build();
  manifest.vector_target = vector_target();
  manifest.bytes_promised = vector_target_keeps_bytes();
  manifest.host = system.nodename;
  manifest.system = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  manifest.run = wanted.plan.config.name;
  manifest.seed = wanted.plan.config.seed;
  manifest.fingerprint = fingerprint(wanted.identity);
  manifest.part = wanted.part;
  if (!wanted.part.seeds.empty()) {
    manifest.fingerprint = sha256_hex(manifest.fingerprint + to_string(wanted.part));
  }
  manifest.words = {formula_lines(wanted.plan.config), given_lines(wanted.plan.config)};
  manifest.config.text = wanted.identity.config;
  return manifest;
}

std::string_view status_of(ExitCode code) {
  if (code == ExitCode::kDone || code == ExitCode::kTargetNotReached) return kFinishedStatus;
  return code == ExitCode::kInterrupted ? "interrupted" : "failed";
}

}  // namespace

RunJournal::RunJournal(std::filesystem::path folder, const WantedRun& wanted,
                       std::vector<std::string> arguments, int threads)
    : folder_(std::move(folder)), manifest_(first_manifest(wanted)), events_(folder_ / kLogName) {
  manifest_.arguments = std::move(arguments);
  manifest_.threads = threads;
  manifest_.started = timestamp(started_);
  append("start", {{"run", manifest_.run},
                   {"seed", static_cast<std::int64_t>(manifest_.seed)},
                   {"shard", to_string(manifest_.part)},
                   {"fingerprint", manifest_.fingerprint},
                   {"version", manifest_.build.version},
                   {"threads", manifest_.threads},
                   {"arguments", manifest_.arguments}});
}

void RunJournal::append(const std::string& event,
                        const std::vector<std::pair<std::string, Fact>>& facts) {
  events_.append(event_line(timestamp(Clock::now()), event, facts));
}

void RunJournal::warning(const std::string& message) {
  manifest_.warnings.push_back(message);
  append("warning", {{"message", message}});
}

void RunJournal::checkpoint(std::int64_t queries) {
  append("checkpoint", {{"queries", queries}});
}

void RunJournal::cell_done(const Plan& plan, std::size_t cell) {
  const Cell& done = plan.cells[cell];
  append("cell_done", {{"experiment", plan.experiment_of(done).name},
                       {"entries", done.draw.entries.name},
                       {"d", done.draw.d},
                       {"keys", done.draw.keys}});
}

void RunJournal::end(ExitCode code, std::vector<ManifestFile> files) {
  const Clock::time_point now = Clock::now();
  manifest_.status = status_of(code);
  manifest_.exit_code = static_cast<int>(code);
  manifest_.ended = timestamp(now);
  manifest_.seconds = std::chrono::duration<double>(now - started_).count();
  append("finish", {{"status", manifest_.status}, {"exit_code", manifest_.exit_code}});
  manifest_.files = std::move(files);
  write_atomically(folder_ / kManifestName, to_json_text(manifest_));
  ended_ = true;
}

void RunJournal::fail() noexcept {
  if (ended_) return;
  try {
    end(ExitCode::kFailed, {});
  } catch (...) {
    // The reader will see the failure itself.
  }
}

}  // namespace attnscale
