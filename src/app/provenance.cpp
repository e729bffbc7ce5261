#include "app/provenance.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/fingerprint.h"
#include "app/report_run.h"
#include "build_info.h"
#include "config/config.h"
#include "io/sha256.h"
#include "numerics/vector_target.h"

namespace attnscale {
namespace {

using Json = nlohmann::ordered_json;

Json libraries() {
  return {{"boost", build::kBoostVersion},
          {"nlohmann_json", build::kNlohmannJsonVersion},
          {"random123", build::kRandom123Version},
          {"highway", build::kHighwayVersion}};
}

std::string commit_text() {
  return std::string(build::kGitCommit) + (build::kGitDirty ? " with changes" : "");
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string system_name() {
  utsname system{};
  if (uname(&system) != 0) return "unknown";
  return std::string(system.sysname) + " " + system.release + " " + system.machine;
}

Json file_entry(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path path = folder / name;
  std::ifstream file(path, std::ios::binary);
  const auto lines = std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  return {{"name", name},
          {"sha256", sha256_hex_of_file(path)},
          {"bytes", std::filesystem::file_size(path)},
          {"lines", lines}};
}

}  // namespace

std::string program_version() {
  return build::kVersion;
}

std::string version_text() {
  std::string text = "attnscale " + program_version() + "\ncommit " + commit_text() +
                     "\ncompiler " + build::kCompiler + ", " + build::kBuildType + "\n";
  const Json versions = libraries();
  for (const auto& [name, version] : versions.items()) {
    text += name + " " + version.get<std::string>() + "\n";
  }
  return text + "vector instructions " + vector_target() + "\n";
}

std::string timestamp(std::chrono::system_clock::time_point time) {
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = milliseconds / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 40> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::string fraction = std::to_string(1000 + milliseconds % 1000);
  fraction.front() = '.';
  return std::string(text.data(), length) + fraction + "Z";
}

std::string manifest_text(const Config& config, const RunRecord& record,
                          const std::filesystem::path& folder,
                          const std::vector<std::string>& files) {
  const std::chrono::duration<double> seconds = record.ended - record.started;
  Json manifest{{"program", "attnscale"},
                {"version", program_version()},
                {"commit", build::kGitCommit},
                {"commit_has_changes", build::kGitDirty},
                {"compiler", build::kCompiler},
                {"build_type", build::kBuildType},
                {"libraries", libraries()},
                {"vector_target", vector_target()},
                {"bytes_promised", vector_target_keeps_bytes()},
                {"host", host_name()},
                {"system", system_name()},
                {"arguments", record.arguments},
                {"threads", record.threads},
                {"run", config.name},
                {"seed", config.seed},
                {"fingerprint", fingerprint(config)},
                {"shard", record.shard},
                {"started", timestamp(record.started)},
                {"ended", timestamp(record.ended)},
                {"seconds", seconds.count()},
                {"status", record.status},
                {"exit_code", record.exit_code},
                {"warnings", record.warnings},
                {"logits", formula_lines(config)},
                {"config", Json::parse(to_json_text(config))},
                {"files", Json::array()}};
  for (const std::string& name : files) manifest["files"].push_back(file_entry(folder, name));
  // Arguments and host names may hold any bytes: those that are no UTF-8 become U+FFFD.
  return manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attnscale
