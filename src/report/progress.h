// How far a run is, on stderr: a bar on a terminal, a line now and then in a log. Never on stdout.
// Knows nothing of what is being worked on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace attnscale {

enum class ProgressForm { kAuto, kBar, kPlain, kNever };

/// kAuto becomes kBar if `file` is a terminal, else kPlain; other forms stay.
ProgressForm resolve_progress_form(ProgressForm form, int file);

/// True if colours may be used: `file` is a terminal, NO_COLOR is unset or empty, and TERM is not
/// "dumb".
bool colour_is_welcome(int file);

/// What has been done of a run. `work` is in any unit proportional to time, such as expected
/// seconds; percentage and time left come from it. Queries are what a reader counts.
struct WorkDone {
  double work = 0;
  double total_work = 0;
  std::int64_t queries = 0;
};

/// A moment of a run, as a reader sees it.
struct ProgressMoment {
  double fraction = 0;  ///< 0...1
  std::optional<double> queries_per_second;
  std::optional<double> seconds_left;
  double seconds = 0;  ///< since the start
};

enum class Colour { kNone, kGreen };

/// "[#########..........]  45 %  1.2M queries/s  0:32 left", in at most `width` characters: the bar
/// shrinks, then the parts on the right go. Without escape sequences unless `colour` says so.
std::string render_bar(const ProgressMoment& moment, std::size_t width, Colour colour);

/// "45 % done after 0:26, 1.2M queries/s, 0:32 left"
std::string render_plain(const ProgressMoment& moment);

/// Shows how far a run is while workers report. Any thread may call any function.
class Progress {
 public:
  /// Clock and screen; tests have their own.
  struct Surroundings {
    std::function<double()> seconds;              ///< a clock that never goes back
    std::function<void(std::string_view)> write;  ///< to the screen or log
    std::function<std::size_t()> width;           ///< of the screen
  };

  /// `form` must not be kAuto.
  Progress(ProgressForm form, Colour colour, Surroundings surroundings);

  /// Reports the work done so far. A bar is redrawn at most 10 times a second; a plain line is
  /// written at most every 30 s, the first after 30 s. The speed counts from the first call, whose
  /// work was done before: by an interrupted run, or none.
  void update(const WorkDone& done);

  /// Removes the bar, so that what follows begins on a clean line.
  void finish();

 private:
  ProgressMoment moment_of(const WorkDone& done, double now) const;

  const ProgressForm form_;
  const Colour colour_;
  const Surroundings surroundings_;
  std::mutex mutex_;
  const double start_;
  double last_shown_;
  std::optional<WorkDone> before_;
  bool bar_is_drawn_ = false;
};

/// Progress on stderr, with the steady clock and the width of its terminal.
Progress::Surroundings stderr_surroundings();

}  // namespace attnscale
