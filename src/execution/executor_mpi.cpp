#include "execution/executor_mpi.h"

#include <fmt/core.h>
#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "execution/block_queue.h"
#include "execution/ledger_text.h"
#include "execution/stop.h"
#include "execution/worker_pool.h"

namespace attnscale {
namespace {

constexpr int kRoot = 0;
constexpr std::chrono::milliseconds kTick{1};

// What a message is, as its MPI tag; all are text.
enum class Kind : int {
  // From the root.
  kPlan,     // a line with the number of threads, then the config
  kSpans,    // lines "span CELL FIRST LAST"; none: there are no more
  kStop,     // abandon what is in progress
  kDismiss,  // the exit code: go home
  // To the root.
  kReport,      // "want N": how many spans the rank could use, then finished parts; answered with
                // kSpans unless N is 0, once there are spans or will be none
  kFarewell,    // "want 0", then the last parts: the rank's part of the plan has ended
  kFailure,     // what went wrong: the same, without parts
  kStopWanted,  // the rank was asked to stop
};

struct Message {
  int rank;
  Kind kind;
  std::string text;
};

void send(int rank, Kind kind, const std::string& text) {
  MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, static_cast<int>(kind),
           MPI_COMM_WORLD);
}

void send_to_others(int others, Kind kind, const std::string& text) {
  for (int rank = 1; rank <= others; ++rank) send(rank, kind, text);
}

// The next message that has arrived. Asking costs no processor time, unlike MPI's own waiting.
std::optional<Message> receive() {
  MPI_Status status;
  int arrived = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
  if (!arrived) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  Message message{status.MPI_SOURCE, static_cast<Kind>(status.MPI_TAG), {}};
  message.text.resize(static_cast<std::size_t>(size));
  MPI_Recv(message.text.data(), size, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return message;
}

// The root's side of one plan.
class Root {
 public:
  Root(int ranks, const Plan& plan, Ledger& ledger, const ExecutorOptions& options)
      : others_(ranks - 1),
        plan_(plan),
        options_(options),
        queue_(plan, ledger),
        timer_(options.checkpoint, options.checkpoint_interval) {}

  void run(const std::string& config) {
    send_to_others(others_, Kind::kPlan, std::to_string(options_.threads) + "\n" + config);
    try {
      measure();
    } catch (...) {
      see_off_others();
      throw;
    }
    if (!failure_.empty()) throw std::runtime_error(failure_);
  }

 private:
  void measure() {
    WorkerTasks tasks;
    tasks.take = [this](const StopSignal& stopped) { return queue_.take(stopped); };
    tasks.give = [this](std::size_t cell, const CellLedger& part) { merge(cell, part); };
    tasks.progress = options_.progress;
    tasks.stop = [this] { return stop(); };
    WorkerPool pool(plan_, options_.threads, std::move(tasks));
    bool own_ended = false;
    while (!own_ended || ended_ < others_) {
      if (own_ended) {
        std::this_thread::sleep_for(kTick);
      } else {
        own_ended = pool.wait_for(kTick);
      }
      attend();
      timer_.save_if_due();
    }
  }

  // After a failure here the others still have to end before the ranks can part. What they report
  // is lost, as merging it might fail again.
  void see_off_others() {
    if (!stop_told_) send_to_others(others_, Kind::kStop, "");
    while (ended_ < others_) {
      const auto message = receive();
      if (!message) {
        std::this_thread::sleep_for(kTick);
      } else if (message->kind == Kind::kFarewell || message->kind == Kind::kFailure) {
        ++ended_;
      }
    }
  }

  bool stop() const { return stop_wanted_ || (options_.stop && options_.stop()); }

  void merge(std::size_t cell, const CellLedger& part) {
    if (queue_.merge(cell, part) && options_.cell_done) options_.cell_done(cell);
  }

  // Answers what has arrived, and passes a stop on.
  void attend() {
    while (const auto message = receive()) take_message(*message);
    // A rank that was asked to stop waits for no answer.
    if (!stop_told_) answer();
    if (!stop_told_ && stop()) {
      stop_told_ = true;
      send_to_others(others_, Kind::kStop, "");
    }
  }

  void take_message(const Message& message) {
    switch (message.kind) {
      case Kind::kReport: {
        const std::int64_t wanted = take_report(message.text);
        if (wanted > 0) waiting_[message.rank] = wanted;
        break;
      }
      case Kind::kFarewell:
        ++ended_;  // first, as the rank has ended even where its parts cannot be merged
        take_report(message.text);
        break;
      case Kind::kFailure:
        failure_ = "rank " + std::to_string(message.rank) + ": " + message.text;
        stop_wanted_ = true;
        ++ended_;
        break;
      default:
        stop_wanted_ = true;
        break;
    }
  }

  // Merges the parts in a report; how many spans its rank wants.
  std::int64_t take_report(const std::string& text) {
    TextReader reader(text);
    reader.start_line("want");
    const std::int64_t wanted = reader.take_integer();
    while (!reader.at_end()) {
      reader.start_line("part");
      const auto cell = static_cast<std::size_t>(reader.take_integer());
      const Cell& planned = plan_.cells[cell];
      const CellLedger part = take_cell(reader, plan_.experiment_of(planned), planned);
      if (options_.progress) options_.progress(cell, queries_in(planned, part.done));
      merge(cell, part);
    }
    return wanted;
  }

  // Hands spans to those who wait for some, as far as there are any; an empty answer says that none
  // will follow.
  void answer() {
    std::erase_if(waiting_, [this](const auto& waiting) {
      const std::string spans = take_spans(waiting.second);
      if (spans.empty() && !queue_.is_over()) return false;
      send(waiting.first, Kind::kSpans, spans);
      return true;
    });
  }

  std::string take_spans(std::int64_t wanted) {
    const StopSignal waits_for_none = [] { return true; };
    std::string text;
    for (std::int64_t i = 0; i < wanted && !stop(); ++i) {
      const auto span = queue_.take(waits_for_none);
      if (!span) break;
      text += fmt::format("span {} {} {}\n", span->cell, span->blocks.first, span->blocks.last);
    }
    return text;
  }

  const int others_;
  const Plan& plan_;
  const ExecutorOptions& options_;
  BlockQueue queue_;
  CheckpointTimer timer_;
  std::atomic<bool> stop_wanted_ = false;
  bool stop_told_ = false;
  int ended_ = 0;
  std::map<int, std::int64_t> waiting_;  // rank and how many spans it wants
  std::string failure_;
};

// Another rank's side of one plan: its threads take spans from an inbox that is filled before it
// is empty, and leave parts in an outbox.
class Rank {
 public:
  Rank(const Plan& plan, int threads, const StopRequest& request)
      : plan_(plan), threads_(threads), request_(request) {}

  void run() {
    WorkerTasks tasks;
    tasks.take = [this](const StopSignal& stopped) { return take(stopped); };
    tasks.give = [this](std::size_t cell, const CellLedger& part) { give(cell, part); };
    tasks.stop = [this] { return stopped_.load(); };
    {
      WorkerPool pool(plan_, threads_, std::move(tasks));
      do attend();
      while (!pool.wait_for(kTick));
    }
    send(kRoot, Kind::kFarewell, report(0));
  }

 private:
  std::optional<Span> take(const StopSignal& stopped) {
    std::unique_lock lock(mutex_);
    while (inbox_.empty() && !no_more_ && !stopped()) filled_.wait_for(lock, kTick);
    if (inbox_.empty()) return std::nullopt;
    const Span span = inbox_.front();
    inbox_.pop_front();
    return span;
  }

  void give(std::size_t cell, const CellLedger& part) {
    std::string text = "part " + std::to_string(cell) + "\n";
    append_text(part, text);
    const std::lock_guard lock(mutex_);
    outbox_ += text;
  }

  std::string report(std::int64_t wanted) {
    const std::lock_guard lock(mutex_);
    return "want " + std::to_string(wanted) + "\n" + std::exchange(outbox_, {});
  }

  void attend() {
    while (const auto message = receive()) {
      if (message->kind == Kind::kStop) stopped_ = true;
      if (message->kind == Kind::kSpans) take_spans(message->text);
    }
    if (!request_told_ && request_.signal()()) {
      request_told_ = true;
      send(kRoot, Kind::kStopWanted, "");
    }
    const std::int64_t wanted = wanted_spans();
    if (wanted > 0) asked_ = true;
    // Parts are not held back while an answer is out: it may depend on them.
    if (wanted > 0 || has_parts()) send(kRoot, Kind::kReport, report(wanted));
  }

  bool has_parts() {
    const std::lock_guard lock(mutex_);
    return asked_ && !outbox_.empty();
  }

  // Enough to work on while the next answer is on its way; 0 while that is so, or none will come.
  std::int64_t wanted_spans() {
    const std::lock_guard lock(mutex_);
    const auto waiting = static_cast<std::int64_t>(inbox_.size());
    return asked_ || no_more_ || stopped_ || waiting >= threads_
               ? 0
               : std::int64_t{2} * threads_ - waiting;
  }

  void take_spans(const std::string& text) {
    const std::lock_guard lock(mutex_);
    asked_ = false;
    no_more_ = text.empty();
    TextReader reader(text);
    while (!reader.at_end()) {
      reader.start_line("span");
      Span span;
      span.cell = static_cast<std::size_t>(reader.take_integer());
      span.blocks.first = reader.take_integer();
      span.blocks.last = reader.take_integer();
      inbox_.push_back(span);
    }
    filled_.notify_all();
  }

  const Plan& plan_;
  const int threads_;
  const StopRequest& request_;
  std::atomic<bool> stopped_ = false;
  bool request_told_ = false;
  bool asked_ = false;
  std::mutex mutex_;
  std::condition_variable filled_;
  bool no_more_ = false;
  std::deque<Span> inbox_;
  std::string outbox_;
};

void serve_plan(const std::string& text, const ConfigReader& read_config,
                const StopRequest& request) {
  try {
    const int threads = std::stoi(text);  // which ends at the end of the line
    const Plan plan = make_plan(read_config(text.substr(text.find('\n') + 1)));
    Rank(plan, threads, request).run();
  } catch (const std::exception& error) {
    send(kRoot, Kind::kFailure, error.what());
  }
}

}  // namespace

MpiWorld::MpiWorld(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  if (provided < MPI_THREAD_FUNNELED) {
    MPI_Finalize();
    throw std::runtime_error(
        "this MPI library was built without threads (it has no MPI_THREAD_FUNNELED); use another, "
        "or attnscale without MPI");
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}

MpiWorld::~MpiWorld() {
  MPI_Finalize();
}

MpiExecutor::MpiExecutor(const MpiWorld& world, ConfigWriter write_config)
    : world_(world), write_config_(std::move(write_config)) {}

bool MpiExecutor::measure(const Plan& plan, Ledger& ledger, const ExecutorOptions& options) {
  Root(world_.ranks(), plan, ledger, options).run(write_config_(plan.config));
  return ledger.is_complete();
}

void MpiExecutor::dismiss(int exit_code) {
  send_to_others(world_.ranks() - 1, Kind::kDismiss, std::to_string(exit_code));
}

int serve(const MpiWorld&, const ConfigReader& read_config) {
  const StopRequest request;
  for (;;) {
    const auto message = receive();
    if (!message) {
      std::this_thread::sleep_for(kTick);
    } else if (message->kind == Kind::kPlan) {
      serve_plan(message->text, read_config, request);
    } else if (message->kind == Kind::kDismiss) {
      return std::stoi(message->text);
    }
    // What is left are answers and stops that came too late to matter.
  }
}

}  // namespace attnscale
