#include "report/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace attnscale {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A clock and a screen that a test holds in its hands.
struct FakeSurroundings {
  double now = 1000;
  std::size_t columns = 61;
  std::vector<std::string> written;

  Progress::Surroundings surroundings() {
    return {[this] { return now; }, [this](std::string_view text) { written.emplace_back(text); },
            [this] { return columns; }};
  }
};

TEST(RenderBar, ShowsPercentageSpeedAndTimeLeft) {
  const ProgressMoment moment{0.456, 1.2e6, 32, 26};
  EXPECT_EQ(render_bar(moment, 100, Colour::kNone),
            "[##################......................]  45 %  1.20M queries/s  0:32 left");
}

TEST(RenderBar, NeverExceedsTheWidthAndDropsTheRightFirst) {
  const ProgressMoment moment{0.5, 1234, 3725, 26};
  for (std::size_t width = 1; width < 100; ++width) {
    EXPECT_LE(render_bar(moment, width, Colour::kNone).size(), width);
  }
  EXPECT_EQ(render_bar(moment, 36, Colour::kNone), "[#####......]  50 %  1.23k queries/s");
  EXPECT_EQ(render_bar(moment, 20, Colour::kNone), "[######......]  50 %");
  EXPECT_EQ(render_bar(moment, 8, Colour::kNone), " 50 %");
}

TEST(RenderBar, SaysOneHundredPercentOnlyWhenDone) {
  EXPECT_EQ(render_bar({0.9999, {}, {}, 1}, 20, Colour::kNone), "[###########.]  99 %");
  EXPECT_EQ(render_bar({1, {}, {}, 1}, 20, Colour::kNone), "[############] 100 %");
}

TEST(RenderBar, HasEscapeSequencesOnlyInColour) {
  const ProgressMoment moment{0.5, {}, {}, 1};
  EXPECT_EQ(render_bar(moment, 20, Colour::kNone).find('\x1b'), std::string::npos);
  EXPECT_EQ(render_bar(moment, 20, Colour::kGreen), "[\x1b[32m######\x1b[0m......]  50 %");
}

TEST(RenderPlain, IsOneSentence) {
  EXPECT_EQ(render_plain({0.25, 950, 3 * 3600 + 7 * 60 + 9, 3723}),
            "25 % done after 1:02:03, 950 queries/s, 3:07:09 left");
  EXPECT_EQ(render_plain({0, {}, {}, 30}), "0 % done after 0:30");
}

TEST(Progress, RedrawsTheBarAtMostTenTimesASecond) {
  FakeSurroundings fake;
  Progress progress(ProgressForm::kBar, Colour::kNone, fake.surroundings());
  for (int i = 0; i <= 1000; ++i) {  // one second
    fake.now = 1000 + i / 1000.0;
    progress.update({i / 1000.0, 1, i});
  }
  EXPECT_GE(fake.written.size(), 10u);
  EXPECT_LE(fake.written.size(), 11u);
  EXPECT_EQ(fake.written.front(), "\r[........................................]   0 %\x1b[K");
  progress.finish();
  EXPECT_EQ(fake.written.back(), "\r\x1b[K");
}

TEST(Progress, WritesPlainLinesEveryThirtySecondsFromTheThirtieth) {
  FakeSurroundings fake;
  Progress progress(ProgressForm::kPlain, Colour::kNone, fake.surroundings());
  for (int second = 0; second <= 90; ++second) {
    fake.now = 1000 + second;
    progress.update({second / 100.0, 1, second * 100});
  }
  progress.finish();
  EXPECT_THAT(fake.written, ElementsAre("30 % done after 0:30, 100 queries/s, 1:10 left\n",
                                        "60 % done after 1:00, 100 queries/s, 0:40 left\n",
                                        "90 % done after 1:30, 100 queries/s, 0:10 left\n"));
}

TEST(Progress, SaysNothingOfAShortRunInALog) {
  FakeSurroundings fake;
  Progress progress(ProgressForm::kPlain, Colour::kNone, fake.surroundings());
  fake.now += 29.9;
  progress.update({1, 1, 10000});
  progress.finish();
  EXPECT_THAT(fake.written, IsEmpty());
}

TEST(Progress, NeverSaysNothing) {
  FakeSurroundings fake;
  Progress progress(ProgressForm::kNever, Colour::kNone, fake.surroundings());
  fake.now += 100;
  progress.update({0.5, 1, 10000});
  progress.finish();
  EXPECT_THAT(fake.written, IsEmpty());
}

TEST(Progress, CountsSpeedFromWhereAnInterruptedRunWasTakenUp) {
  FakeSurroundings fake;
  Progress progress(ProgressForm::kPlain, Colour::kNone, fake.surroundings());
  progress.update({0.5, 1, 50000});
  fake.now += 30;
  progress.update({0.75, 1, 53000});  // a quarter of the work in 30 s, a quarter left
  EXPECT_THAT(fake.written, ElementsAre("75 % done after 0:30, 100 queries/s, 0:30 left\n"));
}

TEST(Progress, KeepsLinesWholeWhenWorkersReportAtOnce) {
  FakeSurroundings fake;  // its screen is not protected: only the lock of Progress is
  Progress progress(ProgressForm::kBar, Colour::kNone,
                    {[clock = 0.0]() mutable { return clock += 1; },
                     [&fake](std::string_view text) { fake.written.emplace_back(text); },
                     [] { return std::size_t{40}; }});
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&progress] {
      for (int i = 0; i < 500; ++i) progress.update({0.5, 1, i});
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(fake.written.size(), 2000u);
}

/// Sets a variable of the environment, or removes it where `value` is nullptr, while it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Variable() { set(old_ ? old_->c_str() : nullptr); }

 private:
  void set(const char* value) { value != nullptr ? ::setenv(name_, value, 1) : ::unsetenv(name_); }
  const char* name_;
  std::optional<std::string> old_;
};

TEST(Colour, IsForTerminalsWithoutNoColor) {
  int terminal = -1;
  int other_end = -1;
  ASSERT_EQ(::openpty(&other_end, &terminal, nullptr, nullptr, nullptr), 0);
  const int log = ::open("/dev/null", O_WRONLY);
  const Variable term("TERM", "xterm");
  {
    const Variable no_color("NO_COLOR", nullptr);
    EXPECT_TRUE(colour_is_welcome(terminal));
    EXPECT_FALSE(colour_is_welcome(log));
    const Variable dumb("TERM", "dumb");
    EXPECT_FALSE(colour_is_welcome(terminal));
  }
  const Variable no_color("NO_COLOR", "1");
  EXPECT_FALSE(colour_is_welcome(terminal));
  for (const int file : {terminal, other_end, log}) ::close(file);
}

TEST(ProgressForm, AutoIsABarOnATerminalAndLinesElsewhere) {
  int terminal = -1;
  int other_end = -1;
  ASSERT_EQ(::openpty(&other_end, &terminal, nullptr, nullptr, nullptr), 0);
  const int log = ::open("/dev/null", O_WRONLY);
  EXPECT_EQ(resolve_progress_form(ProgressForm::kAuto, terminal), ProgressForm::kBar);
  EXPECT_EQ(resolve_progress_form(ProgressForm::kAuto, log), ProgressForm::kPlain);
  EXPECT_EQ(resolve_progress_form(ProgressForm::kNever, terminal), ProgressForm::kNever);
  for (const int file : {terminal, other_end, log}) ::close(file);
}

}  // namespace
}  // namespace attnscale
