// Bad configs and the messages they must get, for the tests of the config.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/user_error.h"

namespace attnscale {

/// A config in which @ stands before the place that the message must name.
struct BadConfig {
  std::string marked;
  std::string pointer;             ///< empty for the whole config and for what is not JSON
  std::vector<std::string> parts;  ///< what else the message must say
};

/// One experiment inside a config that is right in itself.
inline std::string experiment(const std::string& members) {
  return "{\n  \"name\": \"a\",\n  \"experiments\": [\n    " + members + "\n  ]\n}\n";
}

inline std::string message_of(const std::string& text) {
  try {
    parse_config(text, "bad.json");
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::kWrongInput);
    return error.what();
  }
  return "accepted";
}

inline void expect_refused(const std::vector<BadConfig>& configs) {
  for (const BadConfig& config : configs) {
    SCOPED_TRACE(config.marked);
    const std::size_t mark = config.marked.find('@');
    ASSERT_NE(mark, std::string::npos);
    const std::string before = config.marked.substr(0, mark);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = mark - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    std::string place = "bad.json:" + std::to_string(line) + ":" + std::to_string(column) + ": ";
    if (!config.pointer.empty()) place.append(config.pointer).append(": ");
    const std::string message = message_of(before + config.marked.substr(mark + 1));
    EXPECT_THAT(message, testing::StartsWith(place));
    for (const std::string& part : config.parts) EXPECT_THAT(message, testing::HasSubstr(part));
  }
}

}  // namespace attnscale
