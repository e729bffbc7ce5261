# Writes OUTPUT, a header with the facts of this build that only a build can know. Run by the target
# attnscale_build_info at every build, so that the commit is the one being compiled and not the one
# that was configured; OUTPUT is rewritten only when something changed, so nothing recompiles in vain.
#
#   cmake -DOUTPUT=... -DSOURCE_DIR=... -DVERSION=... -DCOMPILER=... -DBUILD_TYPE=... -DBOOST=... -DNLOHMANN_JSON=...
#         -DHIGHWAY=... -DRANDOM123=... -P write_build_info.cmake
cmake_minimum_required(VERSION 3.25)

# The commit, or "unknown": without git, in an unpacked archive, or inside somebody else's repository.
set(commit unknown)
set(dirty false)
find_program(GIT git)
if(GIT)
  execute_process(
    COMMAND ${GIT} -C ${SOURCE_DIR} rev-parse --show-prefix HEAD
    OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  # The prefix is empty where SOURCE_DIR is the top of its repository; then the answer is "\nCOMMIT".
  if(NOT failed AND answer MATCHES "^\n([0-9a-f]+)$")
    set(commit ${CMAKE_MATCH_1})
    # Without the optional lock a build never gets in the way of a git command beside it.
    execute_process(
      COMMAND ${GIT} --no-optional-locks -C ${SOURCE_DIR} status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      set(dirty true)
    endif()
  endif()
endif()

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// The facts of one build, written by src/app/write_build_info.cmake. Not to be edited.
#pragma once

namespace attnscale::build {

inline constexpr char kVersion[] = "@VERSION@";
inline constexpr char kGitCommit[] = "@commit@";  // "unknown" outside a repository
inline constexpr bool kGitDirty = @dirty@;  // a tracked file differed from that commit
inline constexpr char kCompiler[] = "@COMPILER@";
inline constexpr char kBuildType[] = "@BUILD_TYPE@";
inline constexpr char kBoostVersion[] = "@BOOST@";
inline constexpr char kNlohmannJsonVersion[] = "@NLOHMANN_JSON@";
inline constexpr char kHighwayVersion[] = "@HIGHWAY@";
inline constexpr char kRandom123Version[] = "@RANDOM123@";

}  // namespace attnscale::build
]])
