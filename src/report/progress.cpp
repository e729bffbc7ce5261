#include "report/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "report/number_text.h"
#include "report/screen_table.h"

namespace attnscale {
namespace {

constexpr double kSecondsBetweenBars = 0.1;
constexpr double kSecondsBetweenLines = 30;
constexpr std::size_t kLongestBar = 40;
constexpr std::size_t kShortestBar = 10;
constexpr double kLongestTimeShown = 100 * 24 * 3600.0;

// "0:32", "12:05", "3:07:09".
std::string clock_text(double seconds) {
  const std::int64_t whole = std::llround(std::min(seconds, kLongestTimeShown));
  const std::int64_t minutes = whole / 60;
  if (minutes < 60) return fmt::format("{}:{:02}", minutes, whole % 60);
  return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, whole % 60);
}

// "950", "12.3k", "1.20M".
std::string count_text(double count) {
  constexpr std::array<const char*, 4> kUnits = {"", "k", "M", "G"};
  std::size_t unit = 0;
  while (count >= 999.5 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  return rounded(count, 3) + kUnits[unit];
}

// Rounded down: 100 % means done.
std::string percent_text(double fraction) {
  return std::to_string(static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 100)) + " %";
}

// Speed and time left, as far as they are known.
std::vector<std::string> speed_texts(const ProgressMoment& moment) {
  std::vector<std::string> texts;
  if (moment.queries_per_second) {
    texts.push_back(count_text(*moment.queries_per_second) + " queries/s");
  }
  if (moment.seconds_left) texts.push_back(clock_text(*moment.seconds_left) + " left");
  return texts;
}

}  // namespace

ProgressForm resolve_progress_form(ProgressForm form, int file) {
  if (form != ProgressForm::kAuto) return form;
  return ::isatty(file) == 1 ? ProgressForm::kBar : ProgressForm::kPlain;
}

bool colour_is_welcome(int file) {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const term = std::getenv("TERM");
  return ::isatty(file) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

std::string render_bar(const ProgressMoment& moment, std::size_t width, Colour colour) {
  const std::string percent = fmt::format("{:>5}", percent_text(moment.fraction));  // to 100 %
  std::string right = " " + percent;
  for (const std::string& text : speed_texts(moment)) {
    if (right.size() + 2 + text.size() + kShortestBar + 2 > width) break;
    right.append("  ").append(text);
  }
  if (right.size() + kShortestBar + 2 > width) return percent.substr(0, width);
  const std::size_t length = std::min(kLongestBar, width - right.size() - 2);
  const auto full =
      static_cast<std::size_t>(std::clamp(moment.fraction, 0.0, 1.0) * static_cast<double>(length));
  std::string bar = "[";
  if (colour == Colour::kGreen) bar += "\x1b[32m";
  bar.append(full, '#');
  if (colour == Colour::kGreen) bar += "\x1b[0m";
  bar.append(length - full, '.').append("]");
  return bar + right;
}

std::string render_plain(const ProgressMoment& moment) {
  std::string line = percent_text(moment.fraction) + " done after " + clock_text(moment.seconds);
  for (const std::string& text : speed_texts(moment)) line.append(", ").append(text);
  return line;
}

Progress::Progress(ProgressForm form, Colour colour, Surroundings surroundings)
    : form_(form),
      colour_(colour),
      surroundings_(std::move(surroundings)),
      start_(surroundings_.seconds()),
      last_shown_(form == ProgressForm::kBar ? start_ - kSecondsBetweenBars : start_) {}

void Progress::update(const WorkDone& done) {
  if (form_ == ProgressForm::kNever) return;
  const std::lock_guard lock(mutex_);
  if (!before_) before_ = done;
  const double now = surroundings_.seconds();
  const bool bar = form_ == ProgressForm::kBar;
  if (now - last_shown_ < (bar ? kSecondsBetweenBars : kSecondsBetweenLines)) return;
  last_shown_ = now;
  const ProgressMoment moment = moment_of(done, now);
  if (bar) {
    // One column stays free: a full line would wrap. The sequence clears what a longer bar left.
    const std::size_t width = std::max<std::size_t>(surroundings_.width(), 2) - 1;
    std::string line = "\r";
    surroundings_.write(line.append(render_bar(moment, width, colour_)).append("\x1b[K"));
    bar_is_drawn_ = true;
  } else {
    surroundings_.write(render_plain(moment) + "\n");
  }
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (bar_is_drawn_) surroundings_.write("\r\x1b[K");
  bar_is_drawn_ = false;
}

ProgressMoment Progress::moment_of(const WorkDone& done, double now) const {
  ProgressMoment moment;
  moment.seconds = now - start_;
  moment.fraction = done.total_work > 0 ? done.work / done.total_work : 0;
  const double worked = done.work - before_->work;
  if (moment.seconds > 0 && worked > 0) {
    moment.queries_per_second =
        static_cast<double>(done.queries - before_->queries) / moment.seconds;
    moment.seconds_left = (done.total_work - done.work) * moment.seconds / worked;
  }
  return moment;
}

Progress::Surroundings stderr_surroundings() {
  return {[] {
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            return std::chrono::duration<double>(now).count();
          },
          [](std::string_view text) {
            // Progress that cannot be shown is no reason to stop a run.
            [[maybe_unused]] const ssize_t written =
                ::write(STDERR_FILENO, text.data(), text.size());
          },
          [] { return terminal_width(STDERR_FILENO); }};
}

}  // namespace attnscale
