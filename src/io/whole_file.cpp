#include "io/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "io/file_descriptor.h"

namespace attnscale {

std::optional<std::string> read_file_if_any(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::symlink_status(path, error).type() ==
      std::filesystem::file_type::not_found) {
    return std::nullopt;
  }
  return read_file(path);
}

std::string read_file(const std::filesystem::path& path, std::size_t most) {
  const FileDescriptor file(path, O_RDONLY);
  std::string bytes;
  std::array<char, 1 << 16> piece;
  for (;;) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_file_error("read", path, errno);
    if (count == 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(count));
    if (bytes.size() > most) throw_file_error("read", path, EFBIG);
  }
}

}  // namespace attnscale
