// Which program this is: its version, and what it was built from.
#pragma once

#include <map>
#include <string>

namespace attnscale {

/// The facts of one build.
struct Build {
  std::string version;              ///< of the program, such as "1.0.0"
  std::string commit;               ///< "unknown" outside a repository
  bool commit_has_changes = false;  ///< a tracked file differed from that commit
  std::string compiler, build_type;
  std::map<std::string, std::string> libraries;  ///< name and version

  friend bool operator==(const Build&, const Build&) = default;
};

Build this_build();

/// "attnscale 1.0.0", the commit, compiler, libraries and instruction set, one line each.
std::string version_text();

}  // namespace attnscale
