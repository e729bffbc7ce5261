#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "app/commands.h"
#include "app/run_folder.h"
#include "app/verify.h"
#include "fuzz/targets.h"
#include "io/whole_file.h"

namespace attnscale {
namespace {

namespace fs = std::filesystem;

// A folder that goes when the process ends.
class Scratch {
 public:
  Scratch() { expect(::mkdtemp(name_.data()) != nullptr, "there is a folder to write to"); }
  ~Scratch() { fs::remove_all(name_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// The folder, empty.
  fs::path emptied() const {
    for (const auto& file : fs::directory_iterator(name_)) fs::remove_all(file);
    return name_;
  }

 private:
  std::string name_ = fs::temp_directory_path() / "attnscale_fuzz_XXXXXX";
};

// Writes what stands after each line "=== NAME" to the file of that name; names with a slash, of
// other folders, are left out.
void unpack(std::string_view bytes, const fs::path& folder) {
  constexpr std::string_view kMark = "=== ";
  while (bytes.starts_with(kMark)) {
    const std::size_t line = std::min(bytes.find('\n'), bytes.size());
    const std::string name(bytes.substr(kMark.size(), line - kMark.size()));
    bytes.remove_prefix(std::min(line + 1, bytes.size()));
    const std::size_t next = bytes.find("\n=== ");
    const std::size_t size = next == std::string_view::npos ? bytes.size() : next + 1;
    if (name.find_first_of(std::string_view("/\0", 2)) == std::string::npos && name.size() < 100) {
      std::ofstream(folder / name, std::ios::binary) << bytes.substr(0, size);
    }
    bytes.remove_prefix(size);
  }
}

}  // namespace

// The bytes are the files of a run's folder.
void fuzz_folder(std::string_view bytes) {
  static const Scratch scratch;
  const fs::path folder = scratch.emptied();
  unpack(bytes, folder);
  may_refuse([&] {
    const auto text = read_file_if_any(folder / "config.json");
    if (!text) return;
    const Config config = config_of(*text);
    if (!is_small(config)) return;
    const Plan plan = make_plan(config);
    inspect_folder(folder, {plan, identity_of(config)});
    verify_folder(run_place(folder));
  });
  for (const TableFormat format : {TableFormat::kTable, TableFormat::kCsv}) {
    may_refuse([&] { show_text({folder.string()}, format, {}, ScreenSize{.width = 80}); });
  }
}

}  // namespace attnscale
