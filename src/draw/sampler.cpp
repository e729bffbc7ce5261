#include "draw/sampler.h"

#include <algorithm>
#include <array>

#include "draw/draw_block.h"

namespace attnscale {
namespace {

bool any_law(const Entries&) {
  return true;
}

constexpr std::int64_t kMany = std::int64_t{1} << 20;
constexpr std::int64_t kManyEntries = std::int64_t{1} << 16;

// The first row is the default. Each row stays a few lines: its name, its limits, how it draws.
// clang-format off
constexpr auto kSamplers = std::to_array<SamplerRow>({
    {.name = "vectors", .help = "draws every entry, eight queries side by side in vectors",
     .draws_entries = true, .nanoseconds = 2.5, .max_d = kManyEntries, .max_keys = kManyEntries,
     .can_draw = any_law, .draw_block = draw_block_vectors,
     .can_give_norms = can_give_norms_vectors, .gives_products = true},
    {.name = "direct",
     .help = "draws the scores, exact in law: |q|^2 once, then a normal for each key; of random "
             "signs d bits",
     .draws_entries = false, .nanoseconds = 3, .max_d = kMany, .max_keys = kMany,
     .can_draw = can_draw_direct, .draw_block = draw_block_direct,
     .can_give_norms = can_draw_direct},
    {.name = "boost",
     .help = "draws every entry with Boost.Random, one at a time: to be read and trusted",
     .draws_entries = true, .nanoseconds = 7, .max_d = kMany, .max_keys = kMany,
     .can_draw = any_law, .draw_block = draw_block_boost, .can_give_norms = any_law},
});
// clang-format on

}  // namespace

std::span<const SamplerRow> sampler_table() {
  return kSamplers;
}

const SamplerRow* find_sampler(std::string_view name) {
  const auto* row = std::ranges::find(kSamplers, name, &SamplerRow::name);
  return row == kSamplers.end() ? nullptr : row;
}

}  // namespace attnscale
