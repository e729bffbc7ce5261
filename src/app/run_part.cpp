#include "app/run_part.h"

#include <fmt/core.h>

#include <algorithm>

#include "numerics/shortest.h"

namespace attnscale {
namespace {

constexpr std::string_view kShard = "shard ", kOf = " of ", kPool = "pool of ", kSeeds = ": seeds ";

// What follows `mark` in `text`; empty if `text` has no such mark.
std::string_view after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? "" : text.substr(at + mark.size());
}

std::optional<RunPart> parse_pool(std::string_view name) {
  RunPart part;
  for (std::string_view rest = after(name, kSeeds); !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const auto seed = parse_number<std::uint64_t>(rest.substr(0, end));
    if (!seed) return std::nullopt;
    part.seeds.push_back(*seed);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return to_string(part) == name ? std::optional(part) : std::nullopt;
}

}  // namespace

std::string short_name(const RunPart& part) {
  if (part.is_pool()) return fmt::format("{}{} runs", kPool, part.runs());
  if (!part.shard) return std::string(kWholeRun);
  return fmt::format("{}{}{}{}", kShard, part.shard->index, kOf, part.shard->count);
}

std::string to_string(const RunPart& part) {
  std::string name = short_name(part);
  for (std::size_t i = 0; i < part.seeds.size(); ++i) {
    name += fmt::format("{}{}", i == 0 ? kSeeds : " ", part.seeds[i]);
  }
  return name;
}

std::optional<Shard> parse_shard(std::string_view text, std::string_view between) {
  const auto index = parse_number<std::int64_t>(text.substr(0, text.find(between)));
  const auto count = parse_number<std::int64_t>(after(text, between));
  if (!index || !count || *index < 1 || *index > *count) return std::nullopt;
  return Shard{*index, *count};
}

std::optional<RunPart> parse_run_part(std::string_view name) {
  if (name == kWholeRun) return RunPart{};
  if (name.starts_with(kShard)) {
    const auto shard = parse_shard(name.substr(kShard.size()), kOf);
    return shard ? std::optional(RunPart{.shard = shard}) : std::nullopt;
  }
  return name.starts_with(kPool) ? parse_pool(name) : std::nullopt;
}

}  // namespace attnscale
