#include "app/exact_command.h"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace attnscale {

ExactCommand exact_command(const Arguments& arguments) {
  arguments.no_words();
  ExactCommand exact;
  for (const char* key : {"d", "keys"}) {
    const auto text = arguments.text(key);
    if (!text) continue;
    const std::string json = axis_json(*text);
    const std::string place = fmt::format("--{} {}", key, *text);
    if (json.find("..") != std::string::npos) {
      arguments.refuse(
          fmt::format("{}: a range ends with its step, as 4..1024x4 or 2..10+2", place));
    }
    exact.asked.push_back({key, json, place});
  }
  for (const auto& [option, key] : {std::pair("scaling", "scalings"), {"metric", "metrics"}}) {
    const std::vector<std::string> texts = arguments.texts(option);
    if (texts.empty()) continue;
    exact.asked.push_back(
        {key, names_json(texts), fmt::format("--{} {}", option, join(texts, " "))});
  }
  if (const auto levels = arguments.text("reach")) {
    exact.levels = parse_numbers(arguments, "levels to reach", *levels);
  }
  return exact;
}

}  // namespace attnscale
