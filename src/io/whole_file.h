// The whole of a file at once: read, or mapped into memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace attnscale {

/// The bytes of the file; empty if there is none. Throws std::system_error that names the file and
/// the reason if it is there but cannot be read, such as a folder.
std::optional<std::string> read_file_if_any(const std::filesystem::path& path);

/// The same of a file that must be there, or of a pipe until its end. One of more than `most` bytes
/// is an error too: std::errc::file_too_large.
std::string read_file(const std::filesystem::path& path,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

/// The bytes, which must not be changed while they are used.
struct MappedFile {
  std::shared_ptr<const std::byte> bytes;
  std::size_t size = 0;

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.get()), size}; }

  /// The bytes from `begin` on, which keep the map alive.
  std::shared_ptr<const std::byte> from(std::size_t begin) const {
    return {bytes, bytes.get() + begin};
  }
};

/// Throws MatrixFileError for what is not a file of at least one byte, and std::system_error if it
/// cannot be read.
MappedFile map_file(const std::filesystem::path& path);

}  // namespace attnscale
