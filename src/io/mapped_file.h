// A file's bytes, mapped into memory for reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

namespace attnscale {

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
