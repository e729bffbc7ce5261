// How a run is asked to stop: by SIGINT, SIGTERM, SIGUSR1 or its time limit. Knows nothing of what
// is stopped.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "experiment/measure_block.h"

namespace attnscale {

/// Catches SIGINT, SIGTERM and SIGUSR1 from construction to destruction, and keeps the time. Only
/// one may exist at a time. A second SIGINT kills the process as usual.
class StopRequest {
 public:
  explicit StopRequest(std::optional<std::chrono::duration<double>> time_limit = std::nullopt);
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// Whether the run should stop; cheap enough to be asked between tiles, from any thread. Must not
  /// outlive this object.
  StopSignal signal() const;

  /// "SIGINT", "SIGTERM", "SIGUSR1", "the time limit", or empty if nothing asked for it.
  std::string_view reason() const;

 private:
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::array<struct sigaction, 3> earlier_actions_{};
};

/// Ends the process where a stop finds nobody who asks for it: while a config is read from a pipe
/// that nobody closes, a plan is made, exact values are taken, or files are written.
class StopGuard {
 public:
  /// If the request is half a second old and this still exists, calls `end`, which keeps what can
  /// be kept and must not return, from a thread of its own.
  StopGuard(const StopRequest& request, std::function<void()> end);
  StopGuard(const StopGuard&) = delete;
  StopGuard& operator=(const StopGuard&) = delete;

  /// While this lock is held, `end` is not called.
  std::unique_lock<std::mutex> hold_off() { return std::unique_lock(busy_); }

  /// After this, `end` is never called.
  void dismiss();

 private:
  void watch(const std::stop_token& over);

  const StopRequest& request_;
  std::function<void()> end_;
  std::mutex busy_;
  bool dismissed_ = false;
  std::jthread thread_;
};

}  // namespace attnscale
