#include "io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <deque>
#include <utility>

#include "io/file_descriptor.h"

namespace attnscale {
namespace {

// Writes all of `bytes`; errno, 0 when all is well.
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

// Puts a rename in `folder` on the disk. Some file systems cannot flush a folder and say EINVAL.
void flush_folder(const std::filesystem::path& folder) {
  const FileDescriptor handle(folder, O_RDONLY | O_DIRECTORY);
  const int error = flush(handle.get());
  if (error != 0 && error != EINVAL) throw_file_error("flush", folder, error);
}

// One file on its way: PATH.tmp, removed again unless it found its final name.
class PendingFile {
 public:
  PendingFile(std::filesystem::path path, std::string_view bytes)
      : path_(std::move(path)), file_(temporary_path(), O_WRONLY | O_CREAT | O_TRUNC) {
    check(write_all(file_.get(), bytes));
    // The disk may begin: flushing many files then waits for all of them once. Only a hint.
    ::sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  }
  ~PendingFile() {
    if (!renamed_) ::unlink(temporary_path().c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  // Puts the contents on the disk.
  void flush_contents() {
    const int error = flush(file_.get());
    const int close_error = file_.close();
    check(error != 0 ? error : close_error);
  }

  // Gives the file its final name.
  void publish() {
    check(std::rename(temporary_path().c_str(), path_.c_str()) == 0 ? 0 : errno);
    renamed_ = true;
  }

 private:
  std::filesystem::path temporary_path() const {
    std::filesystem::path temporary = path_;
    return temporary += ".tmp";
  }

  void check(int error) const {
    if (error == 0) return;
    if (!renamed_) ::unlink(temporary_path().c_str());
    throw_file_error("write", path_, error);
  }

  std::filesystem::path path_;
  FileDescriptor file_;
  bool renamed_ = false;
};

}  // namespace

void write_atomically(const std::filesystem::path& folder, std::span<const NamedBytes> files) {
  std::deque<PendingFile> pending;
  for (const NamedBytes& file : files) pending.emplace_back(folder / file.name, file.bytes);
  for (PendingFile& file : pending) file.flush_contents();
  for (PendingFile& file : pending) file.publish();
  flush_folder(folder);
}

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  const NamedBytes file{path.filename(), std::string(bytes)};
  write_atomically(path.has_parent_path() ? path.parent_path() : ".", {&file, 1});
}

}  // namespace attnscale
