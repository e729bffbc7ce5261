#include "execution/group_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace attnscale {
namespace {

std::vector<GroupRunner> runners() {
  return {run_one_by_one, on_threads(1), on_threads(2), on_threads(7)};
}

TEST(GroupThreads, GatherInOrderWhoeverWasFirst) {
  constexpr std::int64_t kGroups = 200;
  std::vector<std::int64_t> in_order(kGroups);
  std::iota(in_order.begin(), in_order.end(), 0);
  for (const GroupRunner& run : runners()) {
    std::vector<std::int64_t> gathered;
    EXPECT_TRUE(run(kGroups, [&]() -> GroupWork {
      return [&](std::int64_t group) -> Gather {
        if (group % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return [&gathered, group] { gathered.push_back(group); };
      };
    }));
    EXPECT_EQ(gathered, in_order);
  }
}

TEST(GroupThreads, HaveNothingToDoWithoutGroups) {
  for (const GroupRunner& run : runners()) {
    EXPECT_TRUE(run(0, []() -> GroupWork {
      return [](std::int64_t) -> Gather { throw std::logic_error("called"); };
    }));
  }
}

TEST(GroupThreads, StopAndGatherNothingBehind) {
  for (const GroupRunner& run : runners()) {
    std::vector<std::int64_t> gathered;
    EXPECT_FALSE(run(100, [&]() -> GroupWork {
      return [&](std::int64_t group) -> Gather {
        if (group >= 20) return nullptr;
        return [&gathered, group] { gathered.push_back(group); };
      };
    }));
    EXPECT_LE(gathered.size(), 20U);
  }
}

TEST(GroupThreads, ThrowAgainWhatAWorkerThrew) {
  constexpr int kGroups = 10'000'000;  // seconds: a worker may wait between its throw and its end
  for (const GroupRunner& run : runners()) {
    std::atomic<int> calls = 0;
    const auto failing = [&]() -> GroupWork {
      return [&](std::int64_t group) -> Gather {
        ++calls;
        if (group == 3) throw std::runtime_error("the file was cut off");
        return [] {};
      };
    };
    EXPECT_THROW(run(kGroups, failing), std::runtime_error);
    EXPECT_LT(calls, kGroups);
  }
}

}  // namespace
}  // namespace attnscale
