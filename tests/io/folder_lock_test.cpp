#include "io/folder_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <system_error>

#include "support/scratch_folder.h"

namespace attnscale {
namespace {

std::string refusal(const std::filesystem::path& folder) {
  try {
    const FolderLock lock(folder);
    return "no refusal";
  } catch (const FolderInUse& error) {
    return error.what();
  }
}

TEST(FolderLock, KeepsASecondRunOutAndNamesTheFirst) {
  const ScratchFolder folder;
  const FolderLock lock(folder.path());
  EXPECT_THAT(refusal(folder.path()),
              testing::AllOf(testing::HasSubstr(folder.path().string() + " is in use"),
                             testing::HasSubstr("process " + std::to_string(::getpid()) + " on ")));
}

TEST(FolderLock, EndsWithItsScopeAndLeavesNothing) {
  const ScratchFolder folder;
  { const FolderLock lock(folder.path()); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(refusal(folder.path()), "no refusal");
}

TEST(FolderLock, DiesWithAKilledOwner) {
  const ScratchFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder.path());
    if (::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THAT(refusal(folder.path()), testing::HasSubstr("process " + std::to_string(child)));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(std::filesystem::exists(folder / ".lock"));
  EXPECT_EQ(refusal(folder.path()), "no refusal");
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(FolderLock, NeedsTheFolder) {
  const ScratchFolder folder;
  EXPECT_THROW(FolderLock(folder / "absent"), std::system_error);
}

}  // namespace
}  // namespace attnscale
