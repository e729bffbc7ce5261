// Files that are always whole: absent, the old one or the new one, whenever the program is killed.
// Knows nothing of what is in them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace attnscale {

/// Writes `bytes` to PATH.tmp in the same folder, flushes and checks it, and renames it to `path`,
/// replacing what was there; returns when name and contents are on the disk. Two writers of one
/// path must not meet: hold a FolderLock. On failure PATH.tmp is removed, an old `path` is left as
/// it was, and a std::system_error names the file and the reason ("cannot write run/summary.csv: No
/// space left on device").
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

/// A file of a folder.
struct NamedBytes {
  std::string name;
  std::string bytes;
};

/// The same for several files of `folder` at about the cost of one: none gets its name before the
/// contents of all are on the disk.
void write_atomically(const std::filesystem::path& folder, std::span<const NamedBytes> files);

}  // namespace attnscale
