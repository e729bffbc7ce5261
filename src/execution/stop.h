// How a run is asked to stop: by SIGINT, SIGTERM, SIGUSR1 or its time limit. Knows nothing of what
// is stopped.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>

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

}  // namespace attnscale
