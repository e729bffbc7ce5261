// The whole of a file at once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace attnscale {

/// The bytes of the file; empty if there is none. Throws std::system_error that names the file and
/// the reason if it is there but cannot be read, such as a folder.
std::optional<std::string> read_file_if_any(const std::filesystem::path& path);

/// The same of a file that must be there.
std::string read_file(const std::filesystem::path& path);

}  // namespace attnscale
