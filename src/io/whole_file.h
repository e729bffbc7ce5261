// The whole of a file at once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace attnscale {

/// The bytes of the file; empty if there is none. Throws std::system_error that names the file and
/// the reason if it is there but cannot be read, such as a folder.
std::optional<std::string> read_file_if_any(const std::filesystem::path& path);

/// The same of a file that must be there, or of a pipe until its end. One of more than `most` bytes
/// is an error too: std::errc::file_too_large.
std::string read_file(const std::filesystem::path& path,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace attnscale
