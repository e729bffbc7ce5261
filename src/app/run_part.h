// What a folder holds of a run: all of it, one of its shards, or a pool of runs of several seeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "execution/shard.h"

namespace attnscale {

struct RunPart {
  std::optional<Shard> shard = {};        ///< empty for the whole run
  std::vector<std::uint64_t> seeds = {};  ///< of the runs of a pool; empty for one run

  bool is_pool() const { return !seeds.empty(); }
  std::int64_t runs() const { return is_pool() ? static_cast<std::int64_t>(seeds.size()) : 1; }

  friend bool operator==(const RunPart&, const RunPart&) = default;
};

/// "the whole run", "shard 2 of 3", "pool of 3 runs".
std::string short_name(const RunPart& part);

/// The same with the seeds of a pool: "pool of 3 runs: seeds 1 2 3". As manifest.json has it.
std::string to_string(const RunPart& part);

/// The shard of a text such as "2/7", with what is between its numbers; empty if it is none.
std::optional<Shard> parse_shard(std::string_view text, std::string_view between);

/// The part of that name; empty if there is none.
std::optional<RunPart> parse_run_part(std::string_view name);

}  // namespace attnscale
