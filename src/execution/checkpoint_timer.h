// When to save: often enough to lose little, seldom enough to cost little.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

namespace attnscale {

/// Calls a function at most once an interval, and never for more than a twentieth of the time.
class CheckpointTimer {
 public:
  CheckpointTimer(std::function<void()> save, std::chrono::milliseconds interval)
      : save_(std::move(save)), interval_(interval), next_(Clock::now() + interval) {}

  void save_if_due() {
    const auto start = Clock::now();
    if (!save_ || start < next_) return;
    save_();
    const auto end = Clock::now();
    next_ = end + std::max<Clock::duration>(interval_, 19 * (end - start));
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::function<void()> save_;
  std::chrono::milliseconds interval_;
  Clock::time_point next_;
};

}  // namespace attnscale
