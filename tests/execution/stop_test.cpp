#include "execution/stop.h"

#include <gtest/gtest.h>

#include <thread>

namespace attnscale {
namespace {

TEST(StopRequest, EachSignalAsksAndIsNamed) {
  for (const auto& [number, name] :
       {std::pair{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGUSR1, "SIGUSR1"}}) {
    const StopRequest request;
    EXPECT_FALSE(request.signal()());
    EXPECT_EQ(request.reason(), "");
    std::raise(number);
    EXPECT_TRUE(request.signal()());
    EXPECT_EQ(request.reason(), name);
  }
}

TEST(StopRequest, TheTimeLimitAsks) {
  using Seconds = std::chrono::duration<double>;
  EXPECT_EQ(StopRequest(std::nullopt).reason(), "");
  EXPECT_EQ(StopRequest(Seconds(600)).reason(), "");
  EXPECT_EQ(StopRequest(Seconds(1e300)).reason(), "");
  EXPECT_EQ(StopRequest(Seconds(0)).reason(), "the time limit");
  const StopRequest soon(Seconds(0.02));
  std::this_thread::sleep_for(Seconds(0.03));
  EXPECT_TRUE(soon.signal()());
}

TEST(StopRequest, SignalsActAsBeforeOnceItIsGone) {
  { const StopRequest request; }
  EXPECT_EXIT(std::raise(SIGTERM), testing::KilledBySignal(SIGTERM), "");
}

TEST(StopRequest, TheSecondInterruptKills) {
  const auto interrupt_twice = [] {
    const StopRequest request;
    std::raise(SIGINT);
    std::raise(SIGINT);
  };
  EXPECT_EXIT(interrupt_twice(), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace attnscale
