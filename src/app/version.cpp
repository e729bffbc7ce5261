#include "app/version.h"

#include <fmt/core.h>

#include "build_info.h"
#include "numerics/vector_target.h"

namespace attnscale {

Build this_build() {
  return {build::kVersion,
          build::kGitCommit,
          build::kGitDirty,
          build::kCompiler,
          build::kBuildType,
          {{"boost", build::kBoostVersion},
           {"highway", build::kHighwayVersion},
           {"nlohmann_json", build::kNlohmannJsonVersion},
           {"random123", build::kRandom123Version}}};
}

std::string version_text() {
  const Build build = this_build();
  std::string text = fmt::format("attnscale {}\ncommit {}{}\ncompiler {}, {}\n", build.version,
                                 build.commit, build.commit_has_changes ? " with changes" : "",
                                 build.compiler, build.build_type);
  for (const auto& [name, version] : build.libraries) {
    text += fmt::format("{} {}\n", name, version);
  }
  return text + "vector instructions " + vector_target() + "\n";
}

}  // namespace attnscale
