#include "io/json_text.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace attnscale {

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string list_text(const std::vector<std::string>& items) {
  return fmt::format("[{}]", join(items));
}

std::string member_text(std::string_view key, std::string_view value) {
  return fmt::format("{}: {}", quote(key), value);
}

std::string object_text(const std::vector<std::string>& members) {
  return fmt::format("{{{}}}", join(members));
}

std::string object_in_lines(const std::vector<std::string>& members, const std::string& indent) {
  return fmt::format("{{\n{0}  {1}\n{0}}}", indent, join(members, ",\n" + indent + "  "));
}

nlohmann::json parse_json(std::string_view text) {
  using Json = nlohmann::json;
  constexpr int kMaxDepth = 100;  // a config has at most 64 levels, and a manifest holds one
  const auto refuse_depth = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxDepth) throw std::runtime_error("JSON nested too deep");
    return true;
  };
  try {
    return Json::parse(text, refuse_depth);
  } catch (const Json::exception&) {
    throw std::runtime_error("not JSON");
  }
}

std::string shortened(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xC0U) == 0x80U) --longest;
  return std::string(text.substr(0, longest)) + "...";
}

std::string quote_shortened(std::string_view text) {
  const std::string shown = shortened(text);
  return shown == text ? quote(text) : quote(shown.substr(0, shown.size() - 3)) + "...";
}

}  // namespace attnscale
