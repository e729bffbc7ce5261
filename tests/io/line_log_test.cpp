#include "io/line_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/scratch_folder.h"

namespace attnscale {
namespace {

TEST(LineLog, AppendsToWhatIsThere) {
  const ScratchFolder folder;
  LineLog(folder / "events.jsonl").append("{\"event\":\"start\"}");
  LineLog(folder / "events.jsonl").append("{\"event\":\"finish\"}");
  EXPECT_EQ(contents_of(folder / "events.jsonl"),
            "{\"event\":\"start\"}\n{\"event\":\"finish\"}\n");
}

TEST(LineLog, CutsATornTailOnOpening) {
  const ScratchFolder folder;
  const std::string whole = "one\ntwo\n";
  // Tails shorter and longer than a piece of the search from the back, and a file of one tail.
  for (const std::size_t tail : {0u, 1u, 4095u, 4096u, 4097u, 10000u}) {
    put(folder / "log", whole + std::string(tail, 'x'));
    LineLog(folder / "log").append("three");
    EXPECT_EQ(contents_of(folder / "log"), whole + "three\n") << tail;
    put(folder / "log", std::string(tail, 'x'));
    LineLog(folder / "log").append("first");
    EXPECT_EQ(contents_of(folder / "log"), "first\n") << tail;
  }
}

TEST(LineLog, KeepsLinesWholeWhenThreadsAppendAtOnce) {
  const ScratchFolder folder;
  LineLog log(folder / "log");
  std::vector<std::thread> threads;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&log, letter] {
      for (int i = 0; i < 200; ++i) log.append(std::string(100, letter));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = contents_of(folder / "log");
  ASSERT_EQ(text.size(), 4u * 200u * 101u);
  for (std::size_t i = 0; i < text.size(); i += 101) {
    ASSERT_EQ(text.substr(i, 101), std::string(100, text[i]) + '\n');
  }
}

TEST(LineLog, NamesTheFileOnAFullDisk) {
  LineLog log("/dev/full");
  try {
    log.append("x");
    FAIL() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_STREQ(error.what(), "cannot append to /dev/full: No space left on device");
  }
}

}  // namespace
}  // namespace attnscale
