// The schema is the committed one, and the tool gives the verdicts that tests/schema_test.py checks
// the schema for.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/user_error.h"
#include "support/scratch_folder.h"

namespace attnscale {
namespace {

const std::string kSource = ATTNSCALE_SOURCE_DIR;

std::vector<std::string> corpus(const std::string& name) {
  std::ifstream file(kSource + "/tests/config_corpus/" + name + ".jsonl");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  EXPECT_GE(lines.size(), 20U) << name;
  return lines;
}

TEST(ConfigSchema, IsTheCommittedOne) {
  EXPECT_EQ(config_schema(), contents_of(kSource + "/configs/schema.json"))
      << "write the output of `attnscale schema` to configs/schema.json";
}

TEST(ConfigSchema, ToolAcceptsTheValidCorpus) {
  for (const std::string& line : corpus("valid"))
    EXPECT_NO_THROW(parse_config(line, "corpus")) << line;
}

TEST(ConfigSchema, ToolRefusesTheInvalidCorpus) {
  for (const std::string& line : corpus("invalid")) {
    EXPECT_THROW(parse_config(line, "corpus"), UserError) << line;
  }
}

TEST(ConfigSchema, ToolRefusesWhatDraft07CannotExpress) {
  for (const std::string& line : corpus("beyond_schema")) {
    EXPECT_THROW(parse_config(line, "corpus"), UserError) << line;
  }
}

}  // namespace
}  // namespace attnscale
