#include "execution/run_identity.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "config/config.h"

namespace attnscale {
namespace {

RunIdentity identity(const std::string& config, const std::string& version = "1.0.0") {
  return {version, config};
}

std::vector<std::string> resolved_corpus() {
  std::ifstream file(ATTNSCALE_SOURCE_DIR "/tests/config_corpus/valid.jsonl");
  std::vector<std::string> configs;
  for (std::string line; std::getline(file, line);) {
    configs.push_back(to_json_text(parse_config(line, "corpus").config));
  }
  return configs;
}

/// Expects that equal fingerprints and no difference go together; returns whether both say so.
bool are_the_same(const RunIdentity& a, const RunIdentity& b) {
  const bool same = fingerprint(a) == fingerprint(b);
  EXPECT_EQ(same, !first_difference(a, b).has_value()) << a.config << b.config;
  return same;
}

TEST(RunIdentity, HasEqualFingerprintsExactlyWhereNothingDiffers) {
  const std::vector<std::string> configs = resolved_corpus();
  ASSERT_GT(configs.size(), 40U);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) are_the_same(identity(configs[i]), identity(configs[k]));
    EXPECT_TRUE(are_the_same(identity(configs[i]), identity(configs[i])));
    EXPECT_FALSE(are_the_same(identity(configs[i]), identity(configs[i], "1.0.1")));
  }
}

TEST(RunIdentity, ForgetsWhatChangesNoNumberOfAnyValidConfig) {
  for (const std::string& resolved : resolved_corpus()) {
    Config other = parse_config(resolved, "resolved").config;
    other.description += "more words";
    EXPECT_TRUE(are_the_same(identity(resolved), identity(to_json_text(other))));
    other.seed += 1;
    EXPECT_FALSE(are_the_same(identity(resolved), identity(to_json_text(other))));
  }
}

TEST(RunIdentity, KnowsGivenFilesByWhatTheyHold) {
  const auto config = [](const std::string& file, const std::string& hash) {
    return identity(R"({"experiments": [{"given": {"scores": {"file": ")" + file +
                    R"(", "sha256": ")" + hash + R"("}}}]})");
  };
  EXPECT_TRUE(are_the_same(config("a.csv", "1"), config("b/c.csv", "1")));
  EXPECT_FALSE(are_the_same(config("a.csv", "1"), config("a.csv", "2")));
  EXPECT_EQ(first_difference(config("a.csv", "1"), config("b.csv", "2"))->key,
            "/experiments/0/given/scores/sha256");
}

TEST(RunIdentity, DependsOnNoLayoutAndNoOrderOfKeys) {
  EXPECT_TRUE(are_the_same(identity(R"({"name": "a", "seed": 3, "$schema": "x"})"),
                           identity("{\"seed\":3,\n\"name\":\"a\"}")));
}

}  // namespace
}  // namespace attnscale
