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

// Nothing where the file is not a manifest of ours.
std::optional<Json> read_manifest(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  Json manifest = Json::parse(file, nullptr, false);
  const auto has = [&](const char* key, Json::value_t type) {
    return manifest.contains(key) && manifest[key].type() == type;
  };
  const bool ours = manifest.is_object() && has("config", Json::value_t::object) &&
                    has("status", Json::value_t::string) && has("version", Json::value_t::string) &&
                    has("shard", Json::value_t::string) && has("files", Json::value_t::array);
  return ours ? std::optional(std::move(manifest)) : std::nullopt;
}

// The first file of a finished run that is gone or has another length, and which; else empty.
std::string first_damage(const fs::path& folder, const Json& manifest) {
  for (const Json& file : manifest["files"]) {
    const std::string name = file.value("name", "");
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(folder / name, error);
    if (error) return name + " is missing";
    if (file.value("bytes", std::uintmax_t{0}) != bytes) return name + " was changed";
  }
  return "";
}

std::string shortened(const std::string& value) {
  constexpr std::size_t kLongest = 60;  // enough to see what it is
  return value.size() <= kLongest ? value : value.substr(0, kLongest) + "...";
}

// How the run a manifest tells of differs from the wanted one; empty where it does not.
std::string difference_from(const Json& manifest, const WantedRun& wanted) {
  const RunIdentity theirs{manifest["version"], manifest["config"].dump()};
  if (const auto found = first_difference(wanted.identity, theirs)) {
    if (found->key == "version") {
      return "it was made by version " + found->theirs + ", this is " + found->ours;
    }
    return found->key + " is " + shortened(found->theirs) + " there and " + shortened(found->ours) +
           " here";
  }
  const std::string shard = manifest["shard"];
  if (shard != to_string(wanted.shard))
    return "it is " + shard + ", this is " + to_string(wanted.shard);
  return "";
}

// What a folder's manifest says of it; nothing where only a checkpoint can tell.
std::optional<FolderContents> contents_by_manifest(const fs::path& folder,
                                                   const WantedRun& wanted) {
  if (!fs::exists(folder / "manifest.json")) return std::nullopt;
  const auto other = [&](const std::string& difference) {
    return FolderContents{FolderState::kOther, {}, folder.string() + " holds " + difference};
  };
  const std::optional<Json> manifest = read_manifest(folder / "manifest.json");
  if (!manifest) return other("a manifest.json that is damaged or not of attnscale");
  const std::string difference = difference_from(*manifest, wanted);
  if (!difference.empty()) return other("another run: " + difference);
  if ((*manifest)["status"] != "finished") return std::nullopt;
  const std::string damage = first_damage(folder, *manifest);
  if (!damage.empty()) return other("this run, but since it finished " + damage);
  const auto missed = static_cast<int>(ExitCode::kTargetNotReached);
  const bool has_missed = manifest->value("exit_code", 0) == missed;
  return FolderContents{
      FolderState::kFinished, {}, "", has_missed ? ExitCode::kTargetNotReached : ExitCode::kDone};
}

}  // namespace

fs::path results_folder(const RunCommand& run, const Config& config) {
  if (run.out) return *run.out;
  std::string name = config.name;
  if (!run.overrides.empty()) name.append("-").append(fingerprint(config), 0, 8);
  if (run.shard) {
    name.append(".shard-").append(std::to_string(run.shard->index));
    name.append("-of-").append(std::to_string(run.shard->count));
  }
  return fs::path("results") / name;
}

FolderContents inspect_folder(const fs::path& folder, const WantedRun& wanted) {
  if (auto contents = contents_by_manifest(folder, wanted)) return std::move(*contents);
  std::optional<Checkpoint> checkpoint = load_checkpoint(folder);
  if (!checkpoint) return {};
  try {
    check_same_run(*checkpoint, wanted.identity, wanted.shard, wanted.plan, folder);
  } catch (const AnotherRun& error) {
    return {FolderState::kOther, {}, error.what()};
  }
  return {FolderState::kUnfinished, std::move(checkpoint), ""};
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  // An existing file is an error to some libraries and none to others, hence the second question.
  if (!error && fs::is_directory(folder)) return;
  throw std::runtime_error("cannot make the folder " + folder.string() + ": " +
                           (error ? error.message() : "a file of that name is there") +
                           "; choose another with --out");
}

void clear_folder(const fs::path& folder) {
  for (const std::string_view name : kRunFiles) {
    fs::remove(folder / name);
    fs::remove(folder / (std::string(name) + ".tmp"));
  }
}

}  // namespace attnscale
