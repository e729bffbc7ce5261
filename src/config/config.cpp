#include "config/config.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "config/json_document.h"
#include "config/user_error.h"

namespace attnscale {
namespace {

// Far beyond any config; a data file given by mistake should not fill the memory.
constexpr std::size_t kLargestFile = std::size_t{256} << 20;
// The same for pipes and terminals (/dev/stdin, <(...)), which have no known size and may never
// end.
constexpr std::size_t kLargestPipe = std::size_t{16} << 20;

std::string read_file(const std::string& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    throw UserError(
        fmt::format("{}: cannot be read: {}; expected a config such as configs/try_this.json", file,
                    error ? error.message() : std::strerror(ENOENT)));
  }
  if (std::filesystem::is_directory(status)) {
    throw UserError(file + ": is a folder; expected a config file");
  }
  const bool is_file = std::filesystem::is_regular_file(status);
  if (!is_file && !std::filesystem::is_fifo(status) &&
      !std::filesystem::is_character_file(status)) {
    throw UserError(file + ": is neither a file nor a pipe; expected a config file");
  }
  const std::size_t largest = is_file ? kLargestFile : kLargestPipe;
  const auto refuse_error = [&] {
    throw UserError(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
  };
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse_error();
  std::string text;
  char buffer[1 << 16];
  while (stream.read(buffer, sizeof buffer) || stream.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > largest) {
      throw UserError(fmt::format("{}: is larger than {} MiB; not a config", file, largest >> 20));
    }
  }
  if (stream.bad()) refuse_error();
  return text;
}

}  // namespace

LoadedConfig load_config(const std::string& file, const std::vector<Override>& overrides) {
  // A pipe is in no folder that a path could be relative to.
  const bool is_file = std::filesystem::is_regular_file(file);
  const std::filesystem::path folder = is_file ? std::filesystem::path(file).parent_path() : "";
  return parse_config(read_file(file), file, overrides, folder);
}

LoadedConfig parse_config(std::string_view text, const std::string& source,
                          const std::vector<Override>& overrides,
                          const std::filesystem::path& folder) {
  JsonValue document = read_json(text, {source, folder});
  for (const Override& one : overrides) apply_override(document, one);
  return read_config(document);
}

}  // namespace attnscale
