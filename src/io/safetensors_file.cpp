#include "io/safetensors_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "io/json_text.h"

namespace attnscale {
namespace {

using Json = nlohmann::json;

// The types of the format, and which of them are numbers that are read.
struct TypeRow {
  std::string_view name;
  std::int64_t bytes;
  std::optional<NumberFormat> format = {};
  bool holds_bits = false;
};

// clang-format off
constexpr std::array kTypes{
    TypeRow{"F64", 8, NumberFormat::kFloat64}, TypeRow{"F32", 4, NumberFormat::kFloat32},
    TypeRow{"F16", 2, NumberFormat::kFloat16}, TypeRow{"BF16", 2, NumberFormat::kBfloat16},
    TypeRow{"F8_E4M3", 1, NumberFormat::kFloat8E4m3},
    TypeRow{"F8_E5M2", 1, NumberFormat::kFloat8E5m2},
    TypeRow{"U16", 2, {}, true}, TypeRow{"U8", 1, {}, true},
    TypeRow{"BOOL", 1, NumberFormat::kBool}, TypeRow{"I8", 1}, TypeRow{"I16", 2}, TypeRow{"I32", 4}, TypeRow{"U32", 4},
    TypeRow{"I64", 8}, TypeRow{"U64", 8}, TypeRow{"C64", 8}, TypeRow{"F8_E8M0", 1},
};
// clang-format on

// The header as JSON, whose names differ within each object and which is two objects deep.
Json parse_header(std::string_view text, const std::string& name) {
  constexpr int kDeepest = 4;
  std::vector<std::set<std::string>> seen(kDeepest + 1);
  const auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepest)
      refuse_file(name, "the header is nested too deeply for a .safetensors file");
    const auto level = static_cast<std::size_t>(depth);
    if (event == Json::parse_event_t::object_start)
      seen[std::min<std::size_t>(level + 1, kDeepest)].clear();
    if (event != Json::parse_event_t::key) return true;
    if (!seen[level].insert(parsed.get<std::string>()).second) {
      refuse_file(name, fmt::format("found {} a second time in the header",
                                    in_quotes(parsed.get<std::string>())));
    }
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::parse_error& error) {
    refuse_file(
        name, fmt::format("byte {}: the header is not JSON; save the file again", 8 + error.byte));
  } catch (const Json::out_of_range&) {
    refuse_file(name, "a number of the header is beyond any size; save the file again");
  }
}

std::vector<std::int64_t> read_sizes(const Json& list, const std::string& name,
                                     std::string_view what) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48;
  std::vector<std::int64_t> sizes;
  if (list.is_array()) {
    for (const Json& item : list) {
      if (!item.is_number_unsigned() || item.get<std::uint64_t>() > kMost) break;
      sizes.push_back(static_cast<std::int64_t>(item.get<std::uint64_t>()));
    }
  }
  if (!list.is_array() || sizes.size() != list.size()) {
    refuse_file(name, fmt::format("found the {} {}; expected a list of sizes", what,
                                  in_quotes(list.dump(-1, ' ', true))));
  }
  return sizes;
}

const Json& member(const Json& object, const char* key, const std::string& name) {
  const auto found = object.find(key);
  if (found == object.end()) refuse_file(name, fmt::format("has no \"{}\" in the header", key));
  return *found;
}

// A tensor of the header and where its bytes are, from the end of the header.
struct Placed {
  Tensor tensor;
  std::int64_t begin;
  std::int64_t end;
};

Placed read_entry(const Json& entry, const std::string& name, std::int64_t bytes) {
  if (!entry.is_object()) refuse_file(name, "is no object in the header");
  const Json& type = member(entry, "dtype", name);
  const std::vector<std::int64_t> offsets =
      read_sizes(member(entry, "data_offsets", name), name, "data_offsets");
  Placed placed;
  placed.tensor.name = name;
  placed.tensor.shape = read_sizes(member(entry, "shape", name), name, "shape");
  if (entry.size() != 3)
    refuse_file(name, "expected \"dtype\", \"shape\" and \"data_offsets\" alone");
  placed.tensor.type = type.is_string() ? type.get<std::string>() : type.dump(-1, ' ', true);
  const auto* const row = std::ranges::find(kTypes, placed.tensor.type, &TypeRow::name);
  if (row == kTypes.end()) {
    refuse_file(name, fmt::format("found the type {}; expected one such as F32 or BF16",
                                  in_quotes(placed.tensor.type)));
  }
  placed.tensor.format = row->format;
  placed.tensor.item_bytes = row->bytes;
  placed.tensor.holds_bits = row->holds_bits;
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > bytes) {
    refuse_file(name,
                fmt::format("found the data_offsets {}; expected a begin and an end within the {} "
                            "bytes after the header: it may be cut off; save it again",
                            shape_text(offsets), bytes));
  }
  placed.begin = offsets[0];
  placed.end = offsets[1];
  const bool is_empty = std::ranges::count(placed.tensor.shape, 0) > 0;
  const std::int64_t expected = is_empty ? 0 : numbers_in(placed.tensor.shape, name) * row->bytes;
  if (placed.end - placed.begin != expected) {
    refuse_file(name,
                fmt::format("found {} bytes between its data_offsets; its shape {} needs {}",
                            placed.end - placed.begin, shape_text(placed.tensor.shape), expected));
  }
  return placed;
}

// The tensors cover the bytes after the header once.
void expect_cover(std::vector<const Placed*> tensors, std::int64_t bytes, const std::string& name) {
  std::ranges::sort(tensors, {}, [](const Placed* one) { return std::pair(one->begin, one->end); });
  std::int64_t end = 0;
  for (const Placed* one : tensors) {
    if (one->begin < end) {
      refuse_file(one->tensor.name,
                  fmt::format("begins at byte {} after the header, where another tensor "
                              "still is: their data_offsets overlap",
                              one->begin));
    }
    if (one->begin > end) break;
    end = one->end;
  }
  if (end != bytes) {
    refuse_file(name,
                fmt::format("the bytes from {} after the header on belong to no tensor; save the "
                            "file again",
                            end));
  }
}

}  // namespace

std::map<std::string, Tensor> read_safetensors(const MappedFile& file, const std::string& name) {
  constexpr std::size_t kSizeBytes = 8;
  constexpr std::uint64_t kLargestHeader = 100'000'000;
  if (file.size < kSizeBytes)
    refuse_file(name, "byte 0: the file ends inside the size of its header");
  std::uint64_t header = 0;
  for (std::size_t i = 0; i < kSizeBytes; ++i) {
    header |= std::uint64_t{std::to_integer<std::uint8_t>(file.bytes.get()[i])} << 8 * i;
  }
  if (header > kLargestHeader || header > file.size - kSizeBytes) {
    refuse_file(
        name, fmt::format("byte 0: found a header of {} bytes in a file of {}; it was cut off, or "
                          "is no .safetensors file",
                          header, file.size));
  }
  const std::size_t begin = kSizeBytes + header;
  const Json parsed = parse_header(file.text().substr(kSizeBytes, header), name);
  if (!parsed.is_object()) refuse_file(name, "byte 8: the header is no object");
  const auto bytes = static_cast<std::int64_t>(file.size - begin);
  std::map<std::string, Placed> placed;
  for (const auto& [key, entry] : parsed.items()) {
    if (key == "__metadata__") continue;
    placed.emplace(key, read_entry(entry, name + ":" + shortened(key), bytes));
  }
  std::vector<const Placed*> all;
  for (const auto& [key, one] : placed) all.push_back(&one);
  expect_cover(all, bytes, name);
  std::map<std::string, Tensor> tensors;
  for (auto& [key, one] : placed) {
    const std::size_t first = begin + static_cast<std::size_t>(one.begin);
    one.tensor.first_byte = static_cast<std::int64_t>(first);
    one.tensor.numbers = file.from(first);
    tensors.emplace(key, std::move(one.tensor));
  }
  return tensors;
}

}  // namespace attnscale
