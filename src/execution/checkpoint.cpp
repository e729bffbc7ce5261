#include "execution/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "execution/ledger_text.h"
#include "experiment/histogram.h"
#include "io/atomic_file.h"
#include "io/sha256.h"
#include "io/whole_file.h"

namespace attnscale {
namespace {

constexpr std::string_view kFirstWord = "attnscale-checkpoint";
constexpr std::int64_t kFormat = 2;
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
  reader.start_line("cells");
  const std::int64_t cells = reader.take_integer();
  if (cells < 0) throw TextError("it has a negative number of cells");
  for (std::int64_t i = 0; i < cells; ++i) checkpoint.cells.push_back(take_cell(reader));
  if (!reader.at_end()) throw TextError("it has more cells than it says");
  return checkpoint;
}

// Whether the tree holds the moments of the ledger's blocks, each once, of all their queries.
bool holds_blocks(const CellLedger& ledger, const Cell& cell) {
  BlockSet held;
  std::int64_t number = 0;
  for (const auto& [node, moments] : ledger.tree.pending()) {
    const std::int64_t width = std::int64_t{1} << node.level;
    const BlockRange blocks{node.index * width, (node.index + 1) * width};
    const std::int64_t queries = queries_in(cell, BlockSet(blocks));
    const auto has_another_count = [&](const Moments& group) { return group.count != queries; };
    if (std::ranges::any_of(moments, has_another_count)) return false;
    held.add(blocks);
    number += width;
  }
  return held == ledger.done && number == ledger.done.size();
}

// Whether no more values are counted than the ledger's queries have.
bool counts_are_possible(const CellLedger& ledger, const Cell& cell) {
  const std::int64_t queries = queries_in(cell, ledger.done);
  const auto fits = [queries](const MetricCounts& counts) {
    return counts.sketch.count() <= queries;
  };
  const auto fits_bins = [&](const std::vector<std::int64_t>& bins) {
    const std::int64_t counted = std::accumulate(bins.begin(), bins.end(), std::int64_t{0});
    return bins.size() <= kHistogramBins + 2 && counted <= queries * cell.draw.keys;
  };
  return std::ranges::all_of(ledger.counts.metrics, fits) &&
         std::ranges::all_of(ledger.counts.histograms, fits_bins);
}

// How many variables each group of CellMoments has together: a contrast doubles them.
std::vector<std::size_t> dimensions_of(const Experiment& experiment) {
  const auto powers = static_cast<std::size_t>(logit_powers(experiment));
  std::vector<std::size_t> dimensions;
  for (std::size_t scaling = 0; scaling < experiment.scalings.size(); ++scaling) {
    const std::size_t factor = scaling == 0 ? 1 : 2;
    if (powers > 0) dimensions.push_back(factor * powers);
    dimensions.insert(dimensions.end(), per_query_metrics(experiment).size(), factor);
  }
  return dimensions;
}

// Whether a cell has the moments and counts that its experiment asks for.
bool has_groups_of(const Experiment& experiment, const CellLedger& cell) {
  if (cell.done.empty()) return true;
  const std::vector<std::size_t> dimensions = dimensions_of(experiment);
  const auto fits = [&](const auto& node) {
    return std::ranges::equal(node.second, dimensions, {}, &Moments::dimension);
  };
  const std::size_t scalings = experiment.scalings.size();
  return std::ranges::all_of(cell.tree.pending(), fits) &&
         cell.counts.metrics.size() == scalings * per_query_metrics(experiment).size() &&
         cell.counts.histograms.size() == scalings * experiment.histogram.size();
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
    if (!text.starts_with(std::string(kFirstWord) + " ")) {
      throw TextError("it is not a checkpoint of attnscale");
    }
    TextReader reader(checked_body(text));
    return take_checkpoint(reader);
  } catch (const TextError& error) {
    throw DamagedCheckpoint("cannot go on from " + name + ": " + error.what() +
                            ". It was left as it is; move it away, or choose another folder");
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
                         const RunIdentity& identity, Shard shard, const Plan& plan) {
  if (const auto found = first_difference(identity, checkpoint.identity)) {
    return fmt::format("{} holds another run: {} is {} there and {} here", folder.string(),
                       found->key, found->theirs, found->ours);
  }
  if (checkpoint.shard != shard) {
    return fmt::format("{} holds {}, not {}", folder.string(), to_string(checkpoint.shard),
                       to_string(shard));
  }
  if (fits_plan(checkpoint.cells, plan)) return "";
  throw DamagedCheckpoint((folder / kCheckpointName).string() +
                          " does not hold the cells of its own config: it was left as it is");
}

bool fits_plan(const std::vector<CellLedger>& cells, const Plan& plan) {
  if (cells.size() != plan.cells.size()) return false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const BlockSet all(BlockRange{0, plan.cells[i].blocks});
    if (all.common_with(cells[i].done) != cells[i].done) return false;
    if (!holds_blocks(cells[i], plan.cells[i])) return false;
    if (!counts_are_possible(cells[i], plan.cells[i])) return false;
    if (!has_groups_of(plan.experiment_of(plan.cells[i]), cells[i])) return false;
  }
  return true;
}

}  // namespace attnscale
