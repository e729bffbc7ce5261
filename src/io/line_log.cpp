#include "io/line_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

namespace attnscale {
namespace {

// Bytes of the file up to and including its last line end, found from the back.
off_t length_of_whole_lines(int file, off_t length, const std::filesystem::path& path) {
  std::array<char, 4096> piece;
  while (length > 0) {
    const auto count = std::min<off_t>(length, static_cast<off_t>(piece.size()));
    const ssize_t got =
        ::pread(file, piece.data(), static_cast<std::size_t>(count), length - count);
    if (got != count) throw_file_error("read", path, got < 0 ? errno : EIO);
    const std::string_view text(piece.data(), static_cast<std::size_t>(count));
    const std::size_t last_end = text.rfind('\n');
    if (last_end != std::string_view::npos) {
      return length - count + static_cast<off_t>(last_end) + 1;
    }
    length -= count;
  }
  return 0;
}

}  // namespace

LineLog::LineLog(std::filesystem::path path)
    : path_(std::move(path)), file_(path_, O_RDWR | O_CREAT | O_APPEND) {
  const off_t length = ::lseek(file_.get(), 0, SEEK_END);
  if (length < 0) throw_file_error("read", path_, errno);
  const off_t whole = length_of_whole_lines(file_.get(), length, path_);
  if (whole < length && ::ftruncate(file_.get(), whole) != 0) {
    throw_file_error("shorten", path_, errno);
  }
}

void LineLog::append(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  ssize_t written = 0;
  do {
    written = ::write(file_.get(), bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) throw_file_error("append to", path_, errno);
  if (static_cast<std::size_t>(written) < bytes.size()) {
    throw_file_error("append to", path_, ENOSPC);
  }
}

}  // namespace attnscale
