#include "execution/stop.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>

namespace attnscale {
namespace {

struct CaughtSignal {
  int number;
  std::string_view name;
};

constexpr std::array kSignals{CaughtSignal{SIGINT, "SIGINT"}, CaughtSignal{SIGTERM, "SIGTERM"},
                              CaughtSignal{SIGUSR1, "SIGUSR1"}};

// The number of the first signal caught, 0 while there is none: all that a handler can pass on.
std::atomic<int> caught_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void catch_signal(int number) {
  int none = 0;
  caught_signal.compare_exchange_strong(none, number);
}

}  // namespace

StopRequest::StopRequest(std::optional<std::chrono::duration<double>> time_limit) {
  using Clock = std::chrono::steady_clock;
  // More than ten years is no limit, and would overflow the clock.
  constexpr std::chrono::duration<double> kForever{3.2e8};
  if (time_limit && *time_limit < kForever) {
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(*time_limit);
  }
  caught_signal = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = catch_signal;
    action.sa_flags = SA_RESTART;
    // The second SIGINT then finds the default action: it kills.
    if (kSignals[i].number == SIGINT) action.sa_flags |= static_cast<int>(SA_RESETHAND);
    sigaction(kSignals[i].number, &action, &earlier_actions_[i]);
  }
}

StopRequest::~StopRequest() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i].number, &earlier_actions_[i], nullptr);
  }
}

StopSignal StopRequest::signal() const {
  return [this] { return !reason().empty(); };
}

std::string_view StopRequest::reason() const {
  const auto caught = std::ranges::find(kSignals, caught_signal.load(), &CaughtSignal::number);
  if (caught != kSignals.end()) return caught->name;
  if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) return "the time limit";
  return {};
}

StopGuard::StopGuard(const StopRequest& request, std::function<void()> end)
    : request_(request),
      end_(std::move(end)),
      thread_([this](const std::stop_token& over) { watch(over); }) {}

void StopGuard::dismiss() {
  const std::lock_guard lock(busy_);
  dismissed_ = true;
}

void StopGuard::watch(const std::stop_token& over) {
  constexpr std::chrono::milliseconds kTick{50};
  constexpr int kPatience = 10;
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock waiting(mutex);
  int ticks = 0;
  while (!wake.wait_for(waiting, over, kTick, [&] { return over.stop_requested(); })) {
    if (request_.reason().empty() || ++ticks < kPatience) continue;
    const std::unique_lock free(busy_, std::try_to_lock);
    if (free && !dismissed_ && !over.stop_requested()) end_();
  }
}

}  // namespace attnscale
