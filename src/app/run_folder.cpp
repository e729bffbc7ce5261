#include "app/run_folder.h"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/fingerprint.h"

namespace attnscale {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// Every file that `run` may leave in its folder.
constexpr std::array<std::string_view, 13> kRunFiles{
    "summary.csv",  "summary.json",  "wide.csv",     "crossings.csv", "contrasts.csv",
    "samples.csv",  "histogram.csv", "weights.csv",  "outputs.csv",   "config.json",
    "events.jsonl", "manifest.json", kCheckpointName};

// What a manifest says of the run it belongs to.
struct Manifest {
  RunIdentity identity;
  std::string shard;
  std::string status;
};

Manifest read_manifest(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const Json manifest = Json::parse(file, nullptr, false);
  const auto text = [&](const char* key) {
    if (manifest.is_object() && manifest.contains(key) && manifest[key].is_string()) {
      return manifest[key].get<std::string>();
    }
    throw std::runtime_error(path.string() +
                             " is damaged, or no manifest of attnscale; choose another folder with "
                             "--out, or remove this one");
  };
  return {{text("version"), manifest.contains("config") ? manifest["config"].dump() : "{}"},
          text("shard"),
          text("status")};
}

std::string describe(const Difference& difference) {
  if (difference.key == "version") {
    return "it was made by version " + difference.theirs + ", this is " + difference.ours;
  }
  return difference.key + " is " + difference.theirs + " there and " + difference.ours + " here";
}

}  // namespace

fs::path results_folder(const RunCommand& run, const Config& config) {
  if (run.out) return *run.out;
  std::string name = config.name;
  if (!run.overrides.empty() || run.seed) name.append("-").append(fingerprint(config), 0, 8);
  if (run.shard) {
    name.append(".shard-").append(std::to_string(run.shard->index));
    name.append("-of-").append(std::to_string(run.shard->count));
  }
  return fs::path("results") / name;
}

FolderContents inspect_folder(const fs::path& folder, const WantedRun& wanted) {
  FolderContents contents;
  if (fs::exists(folder / "manifest.json")) {
    const Manifest manifest = read_manifest(folder / "manifest.json");
    if (const auto difference = first_difference(wanted.identity, manifest.identity)) {
      contents.difference = describe(*difference);
    } else if (manifest.shard != to_string(wanted.shard)) {
      contents.difference = "it is " + manifest.shard + ", this is " + to_string(wanted.shard);
    }
    if (!contents.difference.empty()) {
      contents.state = FolderState::kOther;
      return contents;
    }
    contents.state =
        manifest.status == "finished" ? FolderState::kFinished : FolderState::kUnfinished;
    if (contents.state == FolderState::kFinished) return contents;
  }
  contents.checkpoint = load_checkpoint(folder);
  if (!contents.checkpoint) return contents;
  contents.state = FolderState::kUnfinished;
  try {
    check_same_run(*contents.checkpoint, wanted.identity, wanted.shard, wanted.plan, folder);
  } catch (const AnotherRun& error) {
    contents = {FolderState::kOther, {}, error.what()};
  }
  return contents;
}

void clear_folder(const fs::path& folder) {
  for (const std::string_view name : kRunFiles) {
    fs::remove(folder / name);
    fs::remove(folder / (std::string(name) + ".tmp"));
  }
}

}  // namespace attnscale
