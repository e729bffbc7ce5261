#include "io/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <string>
#include <system_error>
#include <vector>

#include "support/scratch_folder.h"

namespace attnscale {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> names_in(const ScratchFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

std::string error_of_writing(const std::filesystem::path& path, std::string_view bytes) {
  try {
    write_atomically(path, bytes);
  } catch (const std::system_error& error) {
    return error.what();
  }
  return "no error";
}

/// Files of this process cannot grow beyond a number of bytes while it lives. Without the signal
/// that usually goes with it, a write that reaches the limit fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    rlimit limit = old_limit_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    ::signal(SIGXFSZ, old_handler_);
  }

 private:
  sighandler_t old_handler_;
  rlimit old_limit_{};
};

TEST(WriteAtomically, LeavesTheFileAndNothingElse) {
  const ScratchFolder folder;
  const std::string bytes("a,b\n1,\0\n", 8);
  write_atomically(folder / "summary.csv", bytes);
  EXPECT_EQ(contents_of(folder / "summary.csv"), bytes);
  EXPECT_THAT(names_in(folder), testing::ElementsAre("summary.csv"));
}

TEST(WriteAtomically, ReplacesAnOldFileAndALeftOverTemporaryOne) {
  const ScratchFolder folder;
  put(folder / "summary.csv", "old");
  put(folder / "summary.csv.tmp", "of a killed process, longer than what comes now");
  write_atomically(folder / "summary.csv", "new");
  EXPECT_EQ(contents_of(folder / "summary.csv"), "new");
  EXPECT_THAT(names_in(folder), testing::ElementsAre("summary.csv"));
}

TEST(WriteAtomically, WritesAnEmptyFile) {
  const ScratchFolder folder;
  write_atomically(folder / "empty", "");
  EXPECT_THAT(names_in(folder), testing::ElementsAre("empty"));
}

TEST(WriteAtomically, KeepsTheOldFileOnAFullDisk) {
  const ScratchFolder folder;
  put(folder / "summary.csv", "old");
  // A temporary name that leads to the device that is always full.
  std::filesystem::create_symlink("/dev/full", folder / "summary.csv.tmp");
  EXPECT_THAT(error_of_writing(folder / "summary.csv", "new"),
              AllOf(HasSubstr("cannot write " + (folder / "summary.csv").string()),
                    HasSubstr("No space left on device")));
  EXPECT_EQ(contents_of(folder / "summary.csv"), "old");
  EXPECT_THAT(names_in(folder), testing::ElementsAre("summary.csv"));
}

TEST(WriteAtomically, RemovesAHalfWrittenFileWhenSpaceRunsOutOnTheWay) {
  const ScratchFolder folder;
  std::string message;
  {
    const FileSizeLimit limit(4096);
    message = error_of_writing(folder / "samples.csv", std::string(10000, 'x'));
  }
  EXPECT_THAT(message, AllOf(HasSubstr("samples.csv"), HasSubstr("File too large")));
  EXPECT_THAT(names_in(folder), testing::IsEmpty());
}

TEST(WriteAtomically, NamesTheFileWhoseFolderDoesNotExist) {
  const ScratchFolder folder;
  EXPECT_THAT(error_of_writing(folder / "absent" / "summary.csv", "x"),
              AllOf(HasSubstr("absent/summary.csv"), HasSubstr("No such file or directory")));
}

TEST(WriteAtomically, RemovesTheTemporaryFileWhenTheNameIsTakenByAFolder) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "summary.csv");
  EXPECT_THAT(error_of_writing(folder / "summary.csv", "x"), HasSubstr("Is a directory"));
  EXPECT_THAT(names_in(folder), testing::ElementsAre("summary.csv"));
}

}  // namespace
}  // namespace attnscale
