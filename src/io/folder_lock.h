// One process at a time in a run's folder.
#pragma once

#include <filesystem>
#include <stdexcept>

#include "io/file_descriptor.h"

namespace attnscale {

/// Another living process holds the folder; the message names both.
class FolderInUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Holds FOLDER/.lock from construction to destruction. The lock is the system's (flock), so it
/// ends with its owner however that dies; the file is removed at the end, and one left by a
/// killed process does no harm. The lock is on a file, not on the folder itself: network file
/// systems share locks of files between machines, but not locks of folders.
class FolderLock {
 public:
  /// `folder` must exist. Throws FolderInUse if another process (or this one) holds it, and
  /// std::system_error if the file cannot be made.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace attnscale
