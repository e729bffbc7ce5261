#include "app/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/scratch_folder.h"

namespace attnscale {
namespace {

using nlohmann::json;

/// A manifest of which no value is the default.
Manifest full_manifest() {
  Manifest manifest;
  manifest.build = {"1.2.3", "abc", true, "GNU 12", "Release", {{"boost", "1.74"}, {"fmt", "9"}}};
  manifest.vector_target = "AVX2";
  manifest.bytes_promised = true;
  manifest.host = "here";
  manifest.system = "Linux";
  manifest.arguments = {"run", "a \"quoted\" word"};
  manifest.threads = 7;
  manifest.run = "tiny";
  manifest.seed = 9007199254740991;
  manifest.fingerprint = "0123";
  manifest.part.shard = Shard{2, 3};
  manifest.started = "2026-01-02T03:04:05.678Z";
  manifest.ended = "2026-01-02T03:04:06.000Z";
  manifest.seconds = 0.322;
  manifest.status = "interrupted";
  manifest.exit_code = 4;
  manifest.warnings = {"one", "two"};
  manifest.words = {{"a: none = q.k"}, {"b: 8 query heads"}};
  manifest.config.text = R"({"name":"tiny","seed":3})";
  manifest.files = {{"summary.csv", "ff", 123, 4}, {"config.json", "ee", 5, 6}};
  return manifest;
}

TEST(Manifest, IsReadAsItWasWritten) {
  const auto read = parse_manifest(to_json_text(full_manifest()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, full_manifest());
}

TEST(Manifest, HasEveryFactUnderAKeyOfItsOwn) {
  const json written = json::parse(to_json_text(full_manifest()));
  const json plain = json::parse(to_json_text(Manifest{}));
  EXPECT_EQ(written.size(), 27U);
  for (const auto& [key, value] : written.items()) {
    EXPECT_TRUE(key == "program" || value != plain.at(key)) << key;
  }
  EXPECT_EQ(written["config"]["seed"], 3);
  EXPECT_EQ(written["files"][1],
            (json{{"name", "config.json"}, {"sha256", "ee"}, {"bytes", 5}, {"lines", 6}}));
}

TEST(Manifest, OfAnotherVersionMayLackWhatNobodyDependsOn) {
  const json whole = json::parse(to_json_text(full_manifest()));
  for (const auto& [key, unused] : whole.items()) {
    json partial = whole;
    partial.erase(key);
    const bool required =
        key == "version" || key == "shard" || key == "status" || key == "config" || key == "files";
    EXPECT_EQ(parse_manifest(partial.dump()).has_value(), !required) << key;
  }
  json more = whole;
  more["of_tomorrow"] = 1;
  EXPECT_TRUE(parse_manifest(more.dump()).has_value());
}

TEST(Manifest, IsNotReadFromWhatIsNone) {
  for (const char* text : {"", "{", "[]", "3", "{}", "null"}) {
    EXPECT_FALSE(parse_manifest(text).has_value()) << text;
  }
  for (const char* key : {"version", "shard", "status", "config", "files", "logits", "exit_code"}) {
    json wrong = json::parse(to_json_text(full_manifest()));
    wrong[key] = json::array({json::array()});
    EXPECT_FALSE(parse_manifest(wrong.dump()).has_value()) << key;
  }
}

TEST(Manifest, NamesItsPartInWords) {
  json manifest = json::parse(to_json_text(full_manifest()));
  EXPECT_EQ(manifest["shard"], "shard 2 of 3");
  const auto read = [&](const char* words) {
    manifest["shard"] = words;
    return parse_manifest(manifest.dump());
  };
  EXPECT_EQ(read("the whole run")->part, RunPart{});
  EXPECT_EQ(read("shard 1 of 1")->part, (RunPart{.shard = Shard{1, 1}}));
  EXPECT_EQ(read("pool of 3 runs: seeds 0 7 18446744073709551615")->part,
            (RunPart{.seeds = {0, 7, 18446744073709551615U}}));
  for (const char* wrong :
       {"", "shard", "shard 4 of 3", "shard 0 of 3", "shard 2 of 3 ", "shard 2 of", "shard of 3",
        " of 3", "whole run", "pool of 2 runs: seeds 1", "pool of 1 runs: seeds x",
        "pool of 0 runs"}) {
    EXPECT_FALSE(read(wrong).has_value()) << wrong;
  }
}

TEST(Manifest, IsReadFromItsFolder) {
  const ScratchFolder folder;
  EXPECT_FALSE(read_manifest(folder.path()).has_value());
  std::ofstream(folder.path() / "manifest.json") << to_json_text(full_manifest());
  EXPECT_EQ(read_manifest(folder.path()), full_manifest());
}

TEST(Manifest, ReplacesBytesThatAreNoText) {
  Manifest manifest = full_manifest();
  manifest.arguments = {"x\xff"};
  EXPECT_EQ(parse_manifest(to_json_text(manifest))->arguments.front(), "x\xEF\xBF\xBD");
}

TEST(EventLine, IsOneObjectInOneLine) {
  const std::string line = event_line(
      "now", "start",
      {{"seed", 3}, {"run", "two\nlines\xff"}, {"words", std::vector<std::string>{"a", "b"}}});
  EXPECT_EQ(line, R"({"time":"now","event":"start","seed":3,"run":"two\nlines)"
                  "\xEF\xBF\xBD"
                  R"(","words":["a","b"]})");
}

}  // namespace
}  // namespace attnscale
