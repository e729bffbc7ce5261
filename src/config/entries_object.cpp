#include "config/entries_object.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "config/law_object.h"
#include "config/schema.h"

namespace attnscale {
namespace {

// Both sides of a head or a block of it in the making; the law is of both, unless each has one of
// its own.
struct SidesDraft : LawDraft {
  std::optional<LawDraft> queries;
  std::optional<LawDraft> keys;

  bool has_one_law() const { return !queries; }
  const LawDraft& of_queries() const { return queries ? *queries : *this; }
  const LawDraft& of_keys() const { return keys ? *keys : *this; }
};

struct BlockDraft : SidesDraft {
  std::int64_t d = 0;
};

// An entries object in the making.
struct EntriesDraft : SidesDraft {
  std::optional<std::string> name;
  NumberAxis alignment;
  NumberAxis aligned_keys;  // empty if it is not given
  std::vector<BlockDraft> blocks;
};

// The law of one side.
template <std::optional<LawDraft> SidesDraft::*side, typename Draft>
void read_side(const JsonValue& value, const Field& field, Draft& draft) {
  draft.*side = read_law(value, field);
}

std::string side_shape(const Field&) {
  return any_of({law_names_schema(), reference_to("law")});
}

// The keys of both sides.
template <typename Draft>
std::vector<Row<Draft>> rows_with_sides() {
  using enum FieldType;
  using enum FieldUse;
  std::vector<Row<Draft>> rows = rows_with_law<Draft>();
  // Each row stays two or three lines.
  // clang-format off
  rows.push_back(
      {{"queries", kOwn, kOptional, "", "Law of the queries' entries, if the keys have another.",
        {}, kLawChoices}, {read_side<&SidesDraft::queries, Draft>, nullptr, side_shape}});
  rows.push_back(
      {{"keys", kOwn, kOptional, "", "Law of the keys' entries, if the queries have another.", {},
        kLawChoices}, {read_side<&SidesDraft::keys, Draft>, nullptr, side_shape}});
  // clang-format on
  return rows;
}

const std::vector<Row<BlockDraft>>& block_rows() {
  static const std::vector<Row<BlockDraft>> table = [] {
    auto rows = rows_with_sides<BlockDraft>();
    rows.insert(rows.begin(),
                {{"d", FieldType::kInteger, FieldUse::kRequired, "",
                  "How many numbers of the head.", limits_of_samplers(&SamplerRow::max_d)},
                 kReadOnly<&BlockDraft::d>});
    return rows;
  }();
  return table;
}

void read_blocks(const JsonValue& value, const Field& field, EntriesDraft& draft);

std::string blocks_shape(const Field&) {
  return R"("type": "array", "minItems": 1, "items": )" + reference_to("block");
}

const std::vector<Row<EntriesDraft>>& entries_rows() {
  using enum FieldType;
  using enum FieldUse;
  static const std::vector<Row<EntriesDraft>> table = [] {
    auto rows = rows_with_sides<EntriesDraft>();
    // Each row stays two or three lines.
    // clang-format off
    const std::vector<Row<EntriesDraft>> own = {
        {{"name", kName, kOptional, "", "Name in the column entries; by default the law's."},
          kReadOnly<&EntriesDraft::name>},
        {{"alignment", kNumberAxis, kOptional, "0",
          "Correlation of each key entry with the query's: the mean score is d times this, times "
          "both spreads.", {-1, 1}}, kReadOnly<&EntriesDraft::alignment>},
        {{"aligned_keys", kIntegerAxis, kOptional, "",
          "How many of the keys are aligned, the first ones; by default all.",
          limits_of_samplers(&SamplerRow::max_keys)}, kReadOnly<&EntriesDraft::aligned_keys>},
        {{"blocks", kOwn, kOptional, "",
          "Parts of the head with laws of their own, in order; d is how many numbers they hold."},
          {read_blocks, nullptr, blocks_shape}},
    };
    // clang-format on
    rows.insert(rows.end(), own.begin(), own.end());
    return rows;
  }();
  return table;
}

// If one side has a law of its own, so has the other, and there is no law for both.
void check_sides(const JsonValue& value, const SidesDraft& read) {
  if (!read.queries && !read.keys) return;
  for (const std::string_view side : {"queries", "keys"}) {
    if (value.find(side) != nullptr) continue;
    refuse(value, fmt::format("the key {} is missing: if one side has a law of its own, write "
                              "both, such as {}",
                              quote(side), R"({"queries": "rademacher", "keys": "normal"})"));
  }
  for (const std::string_view key : names_of(law_rows())) {
    const JsonValue* said = value.find(key);
    if (said == nullptr) continue;
    refuse(*said, fmt::format("{} cannot be used with \"queries\" and \"keys\", which have laws of "
                              "their own; write it inside them",
                              quote(key)));
  }
}

void read_blocks(const JsonValue& value, const Field&, EntriesDraft& draft) {
  expect_list(value, R"(blocks, such as [{"d": 128}, {"d": 64, "sd": 1.26}])");
  for (const JsonValue& item : value.items) {
    draft.blocks.push_back(read_law_object(item, block_rows()));
    check_sides(item, draft.blocks.back());
  }
}

// Blocks are all there is but a name.
void check_blocks_alone(const JsonValue& value) {
  if (value.find("blocks") == nullptr) return;
  for (const std::string_view key : names_of(entries_rows())) {
    const JsonValue* said = value.find(key);
    if (said == nullptr || key == "blocks" || key == "name") continue;
    const bool is_aligned = key.starts_with("align");
    refuse(*said, fmt::format("{} cannot be used with \"blocks\"{}", quote(key),
                              is_aligned ? ", whose keys cannot be aligned; remove it"
                                         : "; write it inside them"));
  }
}

// What a key has in common with its query would be lost.
[[noreturn]] void refuse_clip(const JsonValue& value) {
  refuse(*value.find("alignment"),
         "keys cannot be aligned where entries are clipped; leave out one of \"alignment\" and "
         "\"clip\"");
}

std::string name_of(const Law& law) {
  return fmt::format("{}{}", law.is_clipped() ? "clipped_" : "", law.row->name);
}

std::string default_name(const Entries& entries, bool has_one_law) {
  if (!entries.blocks.empty()) return "blocks";
  return has_one_law ? name_of(entries.queries)
                     : name_of(entries.queries) + "_" + name_of(entries.keys);
}

void read_object_into(const JsonValue& value, std::vector<Entries>& all) {
  const EntriesDraft read = read_law_object(value, entries_rows());
  check_sides(value, read);
  check_blocks_alone(value);
  std::vector<const SidesDraft*> parts;
  for (const BlockDraft& block : read.blocks) parts.push_back(&block);
  if (parts.empty()) parts.push_back(&read);

  // Alignment, aligned keys, then the laws' numbers; one of all may be swept.
  const bool counts_aligned = !read.aligned_keys.values.empty();
  std::vector<NumberAxis> axes = {read.alignment,
                                  counts_aligned ? read.aligned_keys : NumberAxis{{0}}};
  for (const SidesDraft* part : parts) {
    add_axes(part->of_queries(), axes);
    if (!part->has_one_law()) add_axes(part->of_keys(), axes);
  }
  for (const auto& [numbers, swept] : sweep_points(value, axes)) {
    auto next = numbers.begin() + 2;
    Entries entries{{}, swept, {}, {}, numbers[0]};
    for (const SidesDraft* part : parts) {
      EntriesBlock block{0, take_law(part->of_queries(), next), {}};
      block.keys = part->has_one_law() ? block.queries : take_law(part->of_keys(), next);
      for (const Law& law : {block.queries, block.keys}) {
        if (law.is_clipped() && entries.alignment != 0) refuse_clip(value);
        check_clip(value, law);
      }
      entries.blocks.push_back(std::move(block));
    }
    entries.queries = entries.blocks.front().queries;
    entries.keys = entries.blocks.front().keys;
    entries.blocks.resize(read.blocks.size());
    for (std::size_t i = 0; i < read.blocks.size(); ++i) entries.blocks[i].d = read.blocks[i].d;
    entries.name = read.name.value_or(default_name(entries, read.has_one_law()));
    if (counts_aligned) entries.aligned_keys = static_cast<std::int64_t>(numbers[1]);
    all.push_back(std::move(entries));
  }
}

void read_one_into(const JsonValue& value, const Field& field, std::vector<Entries>& all) {
  if (value.kind == JsonKind::kObject) return read_object_into(value, all);
  Law law;
  law.row = read_law(value, field).row;
  all.push_back({std::string(law.row->name), std::nullopt, law, law});
}

using EntriesText = SweptNumbers<Entries>;

using LawOf = std::function<const Law&(const Entries&)>;

// Adds the law of a side, the name in between where there is one, and the law's numbers.
std::vector<std::string> law_members(const LawOf& law_of, EntriesText& text,
                                     const std::string& name = "") {
  const Law& first = law_of(text.first());
  std::vector<std::string> members = {member_text("law", quote(first.row->name))};
  if (!name.empty()) members.push_back(member_text("name", quote(name)));
  const auto add = [&](std::string_view key, const auto& get) {
    members.push_back(
        member_text(key, text.text([&](const Entries& one) { return get(law_of(one)); })));
  };
  add("mean", [](const Law& law) { return law.mean; });
  add("sd", [](const Law& law) { return law.sd; });
  if (first.is_clipped()) add("clip", [](const Law& law) { return law.clip; });
  for (std::size_t i = 0; i < first.row->parameters.size(); ++i) {
    add(first.row->parameters[i].name, [i](const Law& law) { return law.parameters[i]; });
  }
  return members;
}

// The same of both sides.
std::vector<std::string> sides_members(const LawOf& queries, const LawOf& keys, EntriesText& text,
                                       const std::string& name = "") {
  if (std::ranges::all_of(text.group(),
                          [&](const Entries& one) { return queries(one) == keys(one); })) {
    return law_members(queries, text, name);
  }
  std::vector<std::string> members;
  if (!name.empty()) members.push_back(member_text("name", quote(name)));
  members.push_back(member_text("queries", object_text(law_members(queries, text))));
  members.push_back(member_text("keys", object_text(law_members(keys, text))));
  return members;
}

std::string blocks_text(EntriesText& text) {
  std::vector<std::string> blocks;
  for (std::size_t i = 0; i < text.first().blocks.size(); ++i) {
    std::vector<std::string> members =
        sides_members([i](const Entries& one) -> const Law& { return one.blocks[i].queries; },
                      [i](const Entries& one) -> const Law& { return one.blocks[i].keys; }, text);
    members.insert(members.begin(), member_text("d", std::to_string(text.first().blocks[i].d)));
    blocks.push_back(object_text(members));
  }
  return list_text(blocks);
}

std::string one_entries_text(EntriesText& text) {
  const Entries& first = text.first();
  if (!first.blocks.empty()) {
    return object_text(
        {member_text("name", quote(first.name)), member_text("blocks", blocks_text(text))});
  }
  std::vector<std::string> members =
      sides_members(&Entries::queries, &Entries::keys, text, first.name);
  const bool aligned = std::ranges::any_of(
      text.group(), [](const Entries& one) { return one.alignment != 0 || one.aligned_keys; });
  if (aligned) {
    members.push_back(
        member_text("alignment", text.text([](const Entries& one) { return one.alignment; })));
  }
  if (first.aligned_keys) {
    const auto count = [](const Entries& one) {
      return static_cast<double>(one.aligned_keys.value_or(0));
    };
    members.push_back(member_text("aligned_keys", text.text(count)));
  }
  return object_text(members);
}

// An object of `keys` alone, with those that are required.
std::string only_these(const std::vector<std::string_view>& required,
                       const std::vector<std::string_view>& keys) {
  std::vector<std::string> properties;
  for (const std::string_view key : keys) properties.push_back(member_text(key, "true"));
  return schema_of(required_shape(required) + ", " +
                   member_text("properties", object_text(properties)) +
                   R"(, "additionalProperties": false)");
}

// One law for both sides, or one for each.
std::vector<std::string> sides_alternatives(const std::vector<std::string_view>& keys) {
  const std::vector<std::string_view> of_a_law = names_of(law_rows());
  std::vector<std::string_view> beside_one_law;
  std::vector<std::string_view> beside_two;
  for (const std::string_view key : keys) {
    if (key != "queries" && key != "keys") beside_one_law.push_back(key);
    const bool is_of_a_law = std::ranges::find(of_a_law, key) != of_a_law.end();
    if (!is_of_a_law) beside_two.push_back(key);
  }
  std::vector<std::string> alternatives = law_alternatives(beside_one_law);
  alternatives.push_back(only_these({"queries", "keys"}, beside_two));
  return alternatives;
}

}  // namespace

FieldBounds limits_of_samplers(std::int64_t SamplerRow::*limit) {
  std::int64_t largest = 1;
  for (const SamplerRow& row : sampler_table()) largest = std::max(largest, row.*limit);
  return {1, static_cast<double>(largest)};
}

void read_into(const JsonValue& value, const Field& field, std::vector<Entries>& entries) {
  if (value.kind != JsonKind::kArray) return read_one_into(value, field, entries);
  expect_list(value, "laws, such as [\"normal\"]");
  UsedNames names("law");
  for (const JsonValue& item : value.items) {
    read_one_into(item, field, entries);
    names.add(item, entries.back().name);
  }
}

std::string json_text(const Field&, const std::vector<Entries>& entries) {
  return swept_list_text(entries, one_entries_text);
}

std::string entries_shape(const Field&) {
  const std::string one = any_of({law_names_schema(), reference_to("entries")});
  return any_of({schema_of(one), schema_of(distinct_list_shape(one))});
}

std::string block_schema() {
  return object_shape(block_rows(), OtherKeys::kLeftToAlternatives) + ", " +
         any_of(sides_alternatives(names_of(block_rows())));
}

std::string entries_schema() {
  std::vector<std::string_view> keys = names_of(entries_rows());
  std::erase(keys, "blocks");
  std::vector<std::string> alternatives = sides_alternatives(keys);
  alternatives.push_back(only_these({"blocks"}, {"name", "blocks"}));
  return object_shape(entries_rows(), OtherKeys::kLeftToAlternatives) + ", " + any_of(alternatives);
}

}  // namespace attnscale
