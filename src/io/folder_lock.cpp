#include "io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

namespace attnscale {
namespace {

// "process 1234 on node7", as the owner wrote it; empty if it has not yet.
std::string owner_in(int file) {
  std::array<char, 512> text;
  const ssize_t count = ::pread(file, text.data(), text.size(), 0);
  return count > 0 ? std::string(text.data(), static_cast<std::size_t>(count)) : std::string();
}

std::string this_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(::getpid()) + " on " + host.data();
}

// False if `path` has been removed, or replaced, since `file` was opened by that name.
bool still_has_the_name(int file, const std::filesystem::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

FileDescriptor lock_file(const std::filesystem::path& folder, const std::filesystem::path& path) {
  for (;;) {
    FileDescriptor file(path, O_RDWR | O_CREAT);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) throw_file_error("lock", path, errno);
      const std::string owner = owner_in(file.get());
      throw FolderInUse(folder.string() + " is in use by another run" +
                        (owner.empty() ? "" : " (" + owner + ")") +
                        ": wait for it to end, or choose another folder");
    }
    // The owner before us may have removed the file between our open and our lock.
    if (still_has_the_name(file.get(), path)) return file;
  }
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder)
    : path_(folder / ".lock"), file_(lock_file(folder, path_)) {
  // The name is only for the message to others, so a full disk does not matter here.
  const std::string owner = this_process();
  if (::ftruncate(file_.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t written = ::pwrite(file_.get(), owner.data(), owner.size(), 0);
  }
}

FolderLock::~FolderLock() {
  ::unlink(path_.c_str());
}

}  // namespace attnscale
