#include "app/new_config.h"

#include <fmt/core.h>

#include "app/process.h"
#include "config/config.h"
#include "config/user_error.h"
#include "config/values.h"
#include "io/atomic_file.h"
#include "io/json_text.h"
#include "io/printable.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchemaName = "attnscale.schema.json";

// The path of the schema that came with the program as seen from `folder`, the shorter way to say
// it; empty if there is none or it is another version's.
std::string shipped_schema(const fs::path& folder) {
  const fs::path schema = shipped_file("configs/schema.json");
  std::error_code unreadable;
  if (fs::file_size(schema, unreadable) != config_schema().size()) return "";
  const std::string near = fs::relative(schema, folder, unreadable).string();
  return near.empty() || near.size() > schema.string().size() ? schema.string() : near;
}

}  // namespace

std::string write_new_config(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (fs::exists(file)) throw UserError(file.string() + ": is there already; choose another name");
  if (!fs::is_directory(folder)) throw UserError(folder.string() + ": no such folder");
  std::string schema = shipped_schema(folder);
  if (schema.empty()) {
    schema = kSchemaName;
    write_atomically(folder / kSchemaName, config_schema());
  }
  const std::string name = is_name(file.stem().string()) ? file.stem().string() : "my_question";
  write_atomically(file, fmt::format(R"({{
  "$schema": {},
  "name": {},
  "description": "What is asked, in a sentence.",
  "experiments": [
    {{
      "d": [4, 16, 64, 256],
      "keys": 8,
      "queries": 10000,
      "entries": "normal",
      "scalings": ["none", "div_sqrt_d", "div_d"],
      "metrics": ["logit_sd", "top_weight", "slope"]
    }}
  ]
}}
)",
                                     quote(schema), quote(name)));
  return fmt::format("wrote {}\nTry: attnscale run {}\n", in_one_line(file.string()),
                     shell_word(file.string()));
}

}  // namespace attnscale
