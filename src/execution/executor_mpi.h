// The executor of many processes: the root hands out spans of blocks, folds what comes back, and
// is the only one to touch a file. MPI is not visible outside.
#pragma once

#include "execution/executor.h"
#include "execution/run_identity.h"

namespace attnscale {

/// MPI, from construction to destruction; one in a process. Only the thread that made it may speak
/// through it (MPI_THREAD_FUNNELED).
class MpiWorld {
 public:
  /// Throws std::runtime_error if the MPI library allows no threads.
  MpiWorld(int* argc, char*** argv);
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

 private:
  int rank_ = 0;
  int ranks_ = 1;
};

/// The root's side, rank 0, which measures as well.
class MpiExecutor : public Executor {
 public:
  MpiExecutor(const MpiWorld& world, ConfigWriter write_config);

  /// As Executor says, with `options.threads` threads in every rank. A signal that any rank caught
  /// ends the run as `options.stop` does. An exception in another rank is thrown here as
  /// std::runtime_error naming the rank.
  bool measure(const Plan& plan, Ledger& ledger, const ExecutorOptions& options) override;

  /// Ends the other ranks with the program's exit code.
  void dismiss(int exit_code);

 private:
  const MpiWorld& world_;
  ConfigWriter write_config_;
};

/// What every other rank does: measures what the root hands out until it is dismissed. Returns the
/// root's exit code.
int serve(const MpiWorld& world, const ConfigReader& read_config);

}  // namespace attnscale
