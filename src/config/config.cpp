#include "config/config.h"

#include <fmt/core.h>

#include <system_error>
#include <utility>

#include "config/experiment_checks.h"
#include "config/json_document.h"
#include "config/user_error.h"
#include "io/whole_file.h"

namespace attnscale {
namespace {

// Far beyond any config; a data file given by mistake should not fill the memory.
constexpr std::size_t kLargestFile = std::size_t{256} << 20;
// The same for pipes and terminals (/dev/stdin, <(...)), which have no known size and may never
// end.
constexpr std::size_t kLargestPipe = std::size_t{16} << 20;

constexpr const char* kStandardInput = "standard input";

// `file` as messages put it.
std::string config_text(const std::filesystem::path& path, const std::string& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    throw UserError(file + ": is a folder; expected a config file");
  }
  const bool is_file = std::filesystem::is_regular_file(status);
  if (std::filesystem::exists(status) && !is_file && !std::filesystem::is_fifo(status) &&
      !std::filesystem::is_character_file(status)) {
    throw UserError(file + ": is neither a file nor a pipe; expected a config file");
  }
  const std::size_t largest = is_file ? kLargestFile : kLargestPipe;
  try {
    return read_file(path, largest);
  } catch (const std::system_error& failure) {
    if (failure.code() == std::errc::file_too_large) {
      throw UserError(fmt::format("{}: is larger than {} MiB; not a config", file, largest >> 20));
    }
    throw UserError(fmt::format("{}: cannot be read: {}; {}", file, failure.code().message(),
                                std::filesystem::is_regular_file(file + ".json")
                                    ? fmt::format("did you mean {}.json?", file)
                                    : "expected a config such as configs/try_this.json"));
  }
}

LoadedConfig read_config(std::string_view text, const JsonSource& source,
                         const std::vector<Override>& overrides) {
  JsonValue document = read_json(text, source);
  for (const Override& one : overrides) apply_override(document, one);
  LoadedConfig loaded = read_config(document);
  for (std::string& sentence : idle_scalings(loaded.config)) {
    loaded.warnings.push_back(source.name + ": " + std::move(sentence));
  }
  return loaded;
}

}  // namespace

LoadedConfig load_config(const std::string& file, const std::vector<Override>& overrides) {
  const bool is_input = file == "-";
  const std::filesystem::path path = is_input ? "/dev/stdin" : file;
  JsonSource source{is_input ? kStandardInput : file};
  // A pipe is in no folder that a path could be relative to, and its name says nothing.
  if (!is_input && std::filesystem::is_regular_file(path)) {
    source.folder = path.parent_path();
    source.stem = path.stem().string();
  }
  return read_config(config_text(path, source.name), source, overrides);
}

LoadedConfig parse_config(std::string_view text, const std::string& source,
                          const std::vector<Override>& overrides,
                          const std::filesystem::path& folder) {
  return read_config(text, {source, folder}, overrides);
}

}  // namespace attnscale
