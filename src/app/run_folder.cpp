#include "app/run_folder.h"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/fingerprint.h"
#include "app/provenance.h"

namespace attnscale {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// Every file that `run` may leave in its folder.
constexpr std::array kRunFiles{"summary.csv",    "summary.json",  "wide.csv",      "crossings.csv",
                               "contrasts.csv",  "histogram.csv", "samples.csv",   "weights.csv",
                               "outputs.csv",    "config.json",   "manifest.json", "events.jsonl",
                               "checkpoint.json"};

Json read_manifest(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const Json manifest = Json::parse(file, nullptr, false);
  if (!manifest.is_object() || !manifest.contains("config") || !manifest.contains("status") ||
      !manifest.contains("version")) {
    throw std::runtime_error(path.string() +
                             ": damaged or not a manifest of attnscale; choose another folder with "
                             "--out, or remove this one");
  }
  return manifest;
}

// The first key that differs between two resolved configs, and how.
std::string first_difference(const Json& there, const Json& here) {
  const Json changes = Json::diff(there, here);
  const auto change = std::find_if(changes.begin(), changes.end(), [](const Json& candidate) {
    return candidate["path"] != "/description";
  });
  if (change == changes.end()) return "";
  const auto pointer = Json::json_pointer(change->at("path").get<std::string>());
  const auto text = [&](const Json& document) {
    return document.contains(pointer) ? document.at(pointer).dump() : "nothing";
  };
  return pointer.to_string() + " is " + text(there) + " there and " + text(here) + " here";
}

}  // namespace

fs::path results_folder(const RunCommand& run, const Config& config) {
  if (run.out) return *run.out;
  std::string name = config.name;
  if (!run.overrides.empty() || run.seed) name.append("-").append(fingerprint(config), 0, 8);
  if (run.shard) {
    name +=
        ".shard-" + std::to_string(run.shard->index) + "-of-" + std::to_string(run.shard->count);
  }
  return fs::path("results") / name;
}

FolderContents inspect_folder(const fs::path& folder, const Config& config) {
  if (!fs::exists(folder / "manifest.json")) {
    return {
        fs::exists(folder / "checkpoint.json") ? FolderState::kSameUnfinished : FolderState::kFree,
        ""};
  }
  const Json manifest = read_manifest(folder / "manifest.json");
  const std::string version = manifest["version"];
  if (version != program_version()) {
    return {FolderState::kOther,
            "it was made by version " + version + ", this is " + program_version()};
  }
  const std::string difference =
      first_difference(manifest["config"], Json::parse(to_json_text(config)));
  if (!difference.empty()) return {FolderState::kOther, difference};
  return {
      manifest["status"] == "finished" ? FolderState::kSameFinished : FolderState::kSameUnfinished,
      ""};
}

void clear_folder(const fs::path& folder) {
  for (const char* name : kRunFiles) {
    fs::remove(folder / name);
    fs::remove(folder / (std::string(name) + ".tmp"));
  }
}

}  // namespace attnscale
