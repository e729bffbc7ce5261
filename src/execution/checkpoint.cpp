#include "execution/checkpoint.h"

#include <fmt/core.h>

#include "execution/ledger_text.h"
#include "io/atomic_file.h"
#include "io/sha256.h"
#include "io/whole_file.h"

namespace attnscale {
namespace {

constexpr std::string_view kFirstWord = "attnscale-checkpoint";
constexpr std::int64_t kFormat = 3;
constexpr std::string_view kLastWord = "sha256";

// The text without its last line, which must be the hash of the rest.
std::string_view checked_body(std::string_view text) {
  constexpr std::size_t kLastLine = kLastWord.size() + 1 + 64 + 1;
  if (text.size() < kLastLine) throw TextError("it is cut off");
  const std::string_view body = text.substr(0, text.size() - kLastLine);
  const std::string last_line = std::string(kLastWord) + " " + sha256_hex(body) + "\n";
  if (text.substr(body.size()) != last_line) {
    throw TextError("it is cut off or was changed: its SHA-256 does not match");
  }
  return body;
}

Checkpoint take_checkpoint(TextReader& reader) {
  Checkpoint checkpoint;
  reader.start_line(kFirstWord);
  const std::int64_t format = reader.take_integer();
  if (format != kFormat) {
    throw TextError(fmt::format("it has format {}, this program reads format {}", format, kFormat));
  }
  reader.start_line("version");
  checkpoint.identity.version = reader.take_rest_of_line();
  reader.start_line("shard");
  checkpoint.shard.index = reader.take_integer();
  checkpoint.shard.count = reader.take_integer();
  if (checkpoint.shard.index < 1 || checkpoint.shard.index > checkpoint.shard.count) {
    throw TextError("it is " + to_string(checkpoint.shard) + ", which cannot be");
  }
  reader.start_line("config");
  checkpoint.identity.config = reader.take_bytes(reader.take_integer());
  if (!is_comparable(checkpoint.identity)) {
    throw TextError("its config is not JSON, or nested too deep");
  }
  checkpoint.cells = reader.take_rest();
  return checkpoint;
}

[[noreturn]] void refuse(const std::string& name, const TextError& error) {
  throw DamagedCheckpoint("cannot go on from " + name + ": " + error.what() +
                          ". It was left as it is; move it away, or choose another folder");
}

}  // namespace

std::string checkpoint_text(const RunIdentity& identity, const Ledger& ledger) {
  std::string text =
      fmt::format("{} {}\nversion {}\nshard {} {}\nconfig {}\n{}\ncells {}\n", kFirstWord, kFormat,
                  identity.version, ledger.shard().index, ledger.shard().count,
                  identity.config.size(), identity.config, ledger.cells());
  for (std::size_t i = 0; i < ledger.cells(); ++i) append_text(ledger.cell(i), text);
  text += std::string(kLastWord) + " " + sha256_hex(text) + "\n";
  return text;
}

Checkpoint parse_checkpoint(std::string_view text, const std::string& name) {
  try {
    if (!text.starts_with(fmt::format("{} ", kFirstWord))) {
      throw TextError("it is not a checkpoint of attnscale");
    }
    TextReader reader(checked_body(text));
    Checkpoint checkpoint = take_checkpoint(reader);
    checkpoint.name = name;
    return checkpoint;
  } catch (const TextError& error) {
    refuse(name, error);
  }
}

void save_checkpoint(const std::filesystem::path& folder, const RunIdentity& identity,
                     const Ledger& ledger) {
  write_atomically(folder / kCheckpointName, checkpoint_text(identity, ledger));
}

std::optional<Checkpoint> load_checkpoint(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kCheckpointName;
  const std::optional<std::string> text = read_file_if_any(path);
  if (!text) return std::nullopt;
  return parse_checkpoint(*text, path.string());
}

std::string other_run_in(const std::filesystem::path& folder, const Checkpoint& checkpoint,
                         const RunIdentity& identity, Shard shard) {
  if (const auto found = first_difference(identity, checkpoint.identity)) {
    return fmt::format("{} holds another run: {} is {} there and {} here", folder.string(),
                       found->key, found->theirs, found->ours);
  }
  if (checkpoint.shard == shard) return "";
  return fmt::format("{} holds {}, not {}", folder.string(), to_string(checkpoint.shard),
                     to_string(shard));
}

std::vector<CellLedger> read_cells(const Checkpoint& checkpoint, const Plan& plan) {
  try {
    TextReader reader(checkpoint.cells);
    reader.start_line("cells");
    if (reader.take_integer() != std::ssize(plan.cells)) {
      throw TextError("it does not hold the cells of its own config");
    }
    std::vector<CellLedger> cells;
    for (const Cell& cell : plan.cells) {
      cells.push_back(take_cell(reader, plan.experiment_of(cell), cell));
    }
    if (!reader.at_end()) throw TextError("it has more cells than it says");
    return cells;
  } catch (const TextError& error) {
    refuse(checkpoint.name, error);
  }
}

}  // namespace attnscale
