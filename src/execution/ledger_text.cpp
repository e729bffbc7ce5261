#include "execution/ledger_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <iterator>

#include "execution/ledger_check.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr const char* kOtherCell = "it does not hold the cells of its own config";

void append_integer(std::integral auto number, std::string& text) {
  fmt::format_to(std::back_inserter(text), " {}", number);
}

void append_double(double number, std::string& text) {
  fmt::format_to(std::back_inserter(text), " {:x}", std::bit_cast<std::uint64_t>(number));
}

void append_moments(const Moments& moments, std::string& text) {
  append_integer(moments.dimension(), text);
  append_integer(moments.count, text);
  append_integer(moments.left_out, text);
  for (const double mean : moments.mean) append_double(mean, text);
  for (const double unit : moments.unit) append_double(unit, text);
  for (const double sum : moments.central) append_double(sum, text);
}

void append_counts(const MetricCounts& counts, std::string& text) {
  text += "counts";
  append_double(counts.min, text);
  append_double(counts.max, text);
  for (const auto& [bin, times] : counts.sketch.bins()) {
    append_integer(bin, text);
    append_integer(times, text);
  }
  text += '\n';
}

std::int64_t take_up_to(std::int64_t most, const char* name, TextReader& reader) {
  const std::int64_t number = reader.take_integer();
  if (number < 0 || number > most) throw TextError(fmt::format("{} cannot be right", name));
  return number;
}

// A number of things that follow; each takes at least two characters, so that a wrong number is
// found before memory is asked for.
std::size_t take_size(TextReader& reader) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  return static_cast<std::size_t>(take_up_to(kMost, "a number of things", reader));
}

// How often something happened; sums of them stay far from overflow.
std::int64_t take_count(TextReader& reader) {
  return take_up_to(std::int64_t{1} << 56, "a count", reader);
}

// A node's blocks are numbers below 2^62, so that their ends do not overflow.
FoldNode take_node(TextReader& reader) {
  constexpr std::int64_t kLevels = 62;
  constexpr const char* kName = "a node of blocks";
  const std::int64_t level = take_up_to(kLevels - 1, kName, reader);
  const std::int64_t most = (std::int64_t{1} << (kLevels - level)) - 1;
  return {static_cast<int>(level), take_up_to(most, kName, reader)};
}

Moments take_moments(std::size_t dimension, TextReader& reader) {
  Moments moments;
  if (take_size(reader) != dimension) throw TextError(kOtherCell);
  moments.count = take_count(reader);
  moments.left_out = take_count(reader);
  for (std::size_t i = 0; i < dimension; ++i) moments.mean.push_back(reader.take_double());
  for (std::size_t i = 0; i < dimension; ++i) moments.unit.push_back(reader.take_double());
  for (std::size_t i = 0; i < dimension * (dimension + 1) / 2; ++i) {
    moments.central.push_back(reader.take_double());
  }
  return moments;
}

template <typename Integer>
Integer parse(std::string_view word, int base, const char* what) {
  const std::optional<Integer> number = parse_number<Integer>(word, base);
  if (!number) throw TextError(fmt::format("not {}: {}", what, word));
  return *number;
}

MetricCounts take_counts(TextReader& reader) {
  reader.start_line("counts");
  MetricCounts counts;
  counts.min = reader.take_double();
  counts.max = reader.take_double();
  std::vector<std::pair<std::int32_t, std::int64_t>> bins;
  while (!reader.at_line_end()) {
    const std::int64_t bin = reader.take_integer();
    if (bin < QuantileSketch::kLowestBin || bin > QuantileSketch::kHighestBin) {
      throw TextError("a bin is out of range");
    }
    bins.emplace_back(static_cast<std::int32_t>(bin), take_count(reader));
  }
  counts.sketch = QuantileSketch::from_bins(bins);
  return counts;
}

}  // namespace

void TextReader::start_line(std::string_view keyword) {
  if (!line_.empty()) throw TextError("more on a line than there should be: " + std::string(line_));
  const std::size_t length = rest_.find('\n');
  if (length == std::string_view::npos) {
    throw TextError(fmt::format("the text ends where a line \"{}\" should be", keyword));
  }
  line_ = rest_.substr(0, length);
  rest_.remove_prefix(length + 1);
  if (take_word() != keyword) {
    throw TextError(fmt::format("there is no line \"{}\" where one should be", keyword));
  }
}

std::string_view TextReader::take_word() {
  const std::size_t length = std::min(line_.find(' '), line_.size());
  if (length == 0) throw TextError("a line ends too early");
  const std::string_view word = line_.substr(0, length);
  line_.remove_prefix(std::min(length + 1, line_.size()));
  return word;
}

std::int64_t TextReader::take_integer() {
  return parse<std::int64_t>(take_word(), 10, "an integer");
}

double TextReader::take_double() {
  return std::bit_cast<double>(parse<std::uint64_t>(take_word(), 16, "a hexadecimal number"));
}

std::string_view TextReader::take_rest_of_line() {
  return std::exchange(line_, {});
}

std::string_view TextReader::take_bytes(std::int64_t size) {
  const auto length = static_cast<std::size_t>(size);
  if (size < 0 || length >= rest_.size() || rest_[length] != '\n') {
    throw TextError("the text ends too early, or a length in it is wrong");
  }
  const std::string_view bytes = rest_.substr(0, length);
  rest_.remove_prefix(length + 1);
  return bytes;
}

void append_text(const CellLedger& cell, std::string& text) {
  text += "cell";
  append_integer(cell.tree.pending().size(), text);
  append_integer(cell.counts.metrics.size(), text);
  append_integer(cell.counts.histograms.size(), text);
  text += "\ndone";
  for (const BlockRange& range : cell.done.ranges()) {
    append_integer(range.first, text);
    append_integer(range.last, text);
  }
  text += '\n';
  for (const auto& [node, moments] : cell.tree.pending()) {
    text += "node";
    append_integer(node.level, text);
    append_integer(node.index, text);
    append_integer(moments.size(), text);
    for (const Moments& group : moments) append_moments(group, text);
    text += '\n';
  }
  for (const MetricCounts& counts : cell.counts.metrics) append_counts(counts, text);
  for (const auto& histogram : cell.counts.histograms) {
    text += "histogram";
    for (const std::int64_t times : histogram) append_integer(times, text);
    text += '\n';
  }
}

CellLedger take_cell(TextReader& reader, const Experiment& experiment, const Cell& cell) {
  const LedgerShape shape = shape_of(experiment);
  reader.start_line("cell");
  const std::size_t nodes = take_size(reader);
  const std::size_t metrics = take_size(reader);
  const std::size_t histograms = take_size(reader);
  const bool has_shape = nodes == 0 ? metrics == 0 && histograms == 0
                                    : metrics == shape.metrics && histograms == shape.histograms;
  if (!has_shape) throw TextError(kOtherCell);
  CellLedger ledger;
  reader.start_line("done");
  std::int64_t before = -1;
  while (!reader.at_line_end()) {
    const std::int64_t first = reader.take_integer();
    const std::int64_t last = reader.take_integer();
    if (first <= before || last <= first) throw TextError("a range of blocks cannot be right");
    ledger.done.add({first, last});
    before = last;
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    reader.start_line("node");
    const FoldNode node = take_node(reader);
    if (take_size(reader) != shape.dimensions.size()) throw TextError(kOtherCell);
    CellMoments moments;
    for (const std::size_t dimension : shape.dimensions) {
      moments.push_back(take_moments(dimension, reader));
    }
    ledger.tree.add(node, std::move(moments));
  }
  for (std::size_t i = 0; i < metrics; ++i) ledger.counts.metrics.push_back(take_counts(reader));
  for (std::size_t i = 0; i < histograms; ++i) {
    reader.start_line("histogram");
    auto& histogram = ledger.counts.histograms.emplace_back();
    while (!reader.at_line_end()) histogram.push_back(take_count(reader));
  }
  if (!is_possible(ledger, experiment, cell)) throw TextError(kOtherCell);
  return ledger;
}

}  // namespace attnscale
