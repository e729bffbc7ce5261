#include "config/object_writer.h"

#include <fmt/core.h>

#include "config/join.h"
#include "config/json_document.h"

namespace attnscale {

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

}  // namespace attnscale
