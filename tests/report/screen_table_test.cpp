#include "report/screen_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

namespace attnscale {
namespace {

ScreenTable small_table() {
  ScreenTable table;
  table.caption = "spread";
  table.header = {"d", "none", "status"};
  table.rows = {{"4", "2.00 +- 0.01", "ok"}, {"1024", "31.9 +- 0.2", "degenerate"}};
  table.notes = {"10,000 queries"};
  return table;
}

TEST(ToText, AlignsNumbersToTheRightAndWordsToTheLeft) {
  EXPECT_EQ(to_text(small_table(), 100),
            "spread\n"
            "     d          none  status\n"
            "     4  2.00 +- 0.01  ok\n"
            "  1024   31.9 +- 0.2  degenerate\n"
            "  10,000 queries\n");
}

TEST(ToText, CutsBetweenColumnsAndRepeatsTheLabels) {
  EXPECT_EQ(to_text(small_table(), 20),
            "spread\n"
            "     d          none\n"
            "     4  2.00 +- 0.01\n"
            "  1024   31.9 +- 0.2\n"
            "\n"
            "     d  status\n"
            "     4  ok\n"
            "  1024  degenerate\n"
            "  10,000 queries\n");
}

TEST(ToText, CutsExactlyWhereItNoLongerFits) {
  ScreenTable table = small_table();
  table.caption.clear();
  table.notes.clear();
  const auto longest_line = [&](std::size_t width) {
    std::istringstream lines(to_text(table, width));
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    return longest;
  };
  const std::size_t whole = text_width(table);
  EXPECT_EQ(whole, 32u);  // 2 + 4 + 2 + 12 + 2 + 10
  EXPECT_EQ(longest_line(whole), whole);
  EXPECT_LT(longest_line(whole - 1), whole);
}

TEST(ToMarkdown, IsAGithubTable) {
  EXPECT_EQ(to_markdown(small_table()),
            "spread\n\n"
            "| d | none | status |\n"
            "| ---: | ---: | --- |\n"
            "| 4 | 2.00 +- 0.01 | ok |\n"
            "| 1024 | 31.9 +- 0.2 | degenerate |\n"
            "\n10,000 queries\n");
}

TEST(ToMarkdown, EscapesBars) {
  ScreenTable table;
  table.header = {"a|b"};
  EXPECT_EQ(to_markdown(table), "| a\\|b |\n| --- |\n");
}

TEST(Wrapped, CutsAtBlanksAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("one two three four", 100), "one two three four");
  EXPECT_EQ(wrapped("one two three four", 9), "one two\n  three\n  four");
  EXPECT_EQ(wrapped("one two three four", 13), "one two three\n  four");
  EXPECT_EQ(wrapped("a incomprehensibilities so", 8), "a incomprehensibilities\n  so");
  EXPECT_EQ(wrapped("", 8), "");
}

/// Sets COLUMNS, or removes it where `value` is nullptr, while it lives.
class ColumnsVariable {
 public:
  explicit ColumnsVariable(const char* value) {
    if (const char* old = std::getenv("COLUMNS")) old_ = old;
    value != nullptr ? ::setenv("COLUMNS", value, 1) : ::unsetenv("COLUMNS");
  }
  ~ColumnsVariable() {
    old_.empty() ? ::unsetenv("COLUMNS") : ::setenv("COLUMNS", old_.c_str(), 1);
  }

 private:
  std::string old_;
};

TEST(TerminalWidth, AsksTheEnvironmentThenTheTerminalThenTakes100) {
  const int nowhere = ::open("/dev/null", O_RDONLY);
  int terminal = -1;
  int other_end = -1;
  winsize size{};
  size.ws_row = 25;
  size.ws_col = 63;
  ASSERT_EQ(::openpty(&other_end, &terminal, nullptr, nullptr, &size), 0);
  {
    const ColumnsVariable columns("72");
    EXPECT_EQ(terminal_width(terminal), 72u);
  }
  {
    const ColumnsVariable columns("wide");
    EXPECT_EQ(terminal_width(terminal), 63u);
  }
  {
    const ColumnsVariable columns(nullptr);
    EXPECT_EQ(terminal_width(terminal), 63u);
    EXPECT_EQ(terminal_width(nowhere), 100u);
  }
  for (const int file : {nowhere, terminal, other_end}) ::close(file);
}

}  // namespace
}  // namespace attnscale
