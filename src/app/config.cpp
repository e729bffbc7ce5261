#include "app/config.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/config_overrides.h"
#include "app/config_reader.h"
#include "app/user_error.h"

namespace attnscale {
namespace {

/// Far beyond any config; a data file given by mistake should not fill the memory.
constexpr std::size_t kLargestFile = std::size_t{256} << 20;

std::string read_file(const std::string& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    throw UserError(file +
                    ": cannot be read: " + (error ? error.message() : std::strerror(ENOENT)) +
                    "; expected a config such as configs/try_this.json");
  }
  if (std::filesystem::is_directory(status)) {
    throw UserError(file + ": is a folder; expected a config file");
  }
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UserError(file + ": cannot be read: " + std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  while (stream.read(buffer, sizeof buffer) || stream.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kLargestFile)
      throw UserError(file + ": is larger than 256 MiB; not a config");
  }
  if (stream.bad()) throw UserError(file + ": cannot be read: " + std::strerror(errno));
  return text;
}

}  // namespace

LoadedConfig load_config(const std::string& file, const std::vector<Override>& overrides) {
  return parse_config(read_file(file), file, overrides);
}

LoadedConfig parse_config(std::string_view text, const std::string& source,
                          const std::vector<Override>& overrides) {
  JsonValue document = read_json(text, source);
  for (const Override& one : overrides) apply_override(document, one);
  ConfigDraft draft = read_config(document);
  return {std::move(draft.config), std::move(draft.warnings)};
}

}  // namespace attnscale
