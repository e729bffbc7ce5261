// An open file that closes itself, for the few places that call POSIX. Private to io.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

namespace attnscale {

/// Owns one file descriptor.
class FileDescriptor {
 public:
  /// open(2) with `flags` and close-on-exec; the umask rules who may read and write a new file.
  /// Throws std::system_error that reads "cannot open PATH: reason".
  FileDescriptor(const std::filesystem::path& path, int flags);
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

  int get() const { return number_; }

  /// Closes now and returns errno, or 0: some file systems report a failed write only here.
  int close();

 private:
  int number_ = -1;
};

/// Throws std::system_error that reads "cannot ACTION PATH: reason", the reason from `error`.
[[noreturn]] void throw_file_error(std::string_view action, const std::filesystem::path& path,
                                   int error);

}  // namespace attnscale
