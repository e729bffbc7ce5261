#include "execution/group_threads.h"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace attnscale {
namespace {

bool run_groups(int threads, std::int64_t groups, const std::function<GroupWork()>& make_worker) {
  std::mutex mutex;
  std::int64_t next = 0;
  std::int64_t due = 0;  // to be gathered
  std::map<std::int64_t, Gather> done;
  bool stopped = false;
  std::exception_ptr failure;
  const auto work_on = [&](const GroupWork& work) {
    std::unique_lock lock(mutex);
    while (next < groups && !stopped) {
      const std::int64_t group = next++;
      lock.unlock();
      Gather gather = work(group);
      lock.lock();
      stopped = stopped || !gather;
      done.emplace(group, std::move(gather));
      for (; !stopped && !done.empty() && done.begin()->first == due; ++due) {
        done.begin()->second();
        done.erase(done.begin());
      }
    }
  };
  const auto run = [&] {
    try {
      work_on(make_worker());
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      stopped = true;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::int64_t i = 1; i < std::min<std::int64_t>(threads, groups); ++i) {
      helpers.emplace_back(run);
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
  return !stopped;
}

}  // namespace

GroupRunner on_threads(int threads) {
  return [threads](std::int64_t groups, const std::function<GroupWork()>& make_worker) {
    return run_groups(threads, groups, make_worker);
  };
}

}  // namespace attnscale
