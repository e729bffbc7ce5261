#include "io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "io/file_descriptor.h"

namespace attnscale {
namespace {

/// Writes all of `bytes`; errno, 0 when all is well.
int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int flush(int file) {
  return ::fsync(file) == 0 ? 0 : errno;
}

/// Puts a rename in `folder` on the disk. Some file systems cannot flush a folder and say EINVAL.
void flush_folder(const std::filesystem::path& folder) {
  const FileDescriptor handle(folder, O_RDONLY | O_DIRECTORY);
  const int error = flush(handle.get());
  if (error != 0 && error != EINVAL) throw_file_error("flush", folder, error);
}

/// A file name that is removed again unless the file found its final name.
class TemporaryName {
 public:
  explicit TemporaryName(std::filesystem::path path) : path_(std::move(path)) {}
  ~TemporaryName() {
    if (!renamed_) ::unlink(path_.c_str());
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const std::filesystem::path& path() const { return path_; }

  int rename_to(const std::filesystem::path& target) {
    if (std::rename(path_.c_str(), target.c_str()) != 0) return errno;
    renamed_ = true;
    return 0;
  }

 private:
  std::filesystem::path path_;
  bool renamed_ = false;
};

}  // namespace

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::path temporary_path = path;
  temporary_path += ".tmp";
  FileDescriptor file(temporary_path, O_WRONLY | O_CREAT | O_TRUNC);
  TemporaryName temporary(std::move(temporary_path));

  int error = write_all(file.get(), bytes);
  if (error == 0) error = flush(file.get());
  const int close_error = file.close();
  if (error == 0) error = close_error;
  if (error == 0) error = temporary.rename_to(path);
  if (error != 0) throw_file_error("write", path, error);

  flush_folder(path.has_parent_path() ? path.parent_path() : ".");
}

}  // namespace attnscale
