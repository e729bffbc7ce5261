#include <benchmark/benchmark.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <numeric>
#include <vector>

#include "../support/forced_target.h"
#include "benchmarks.h"
#include "draw/sampler.h"
#include "numerics/normal_kernel.h"

namespace attnscale {
namespace {

std::string target_name(std::int64_t target) {
  return hwy::TargetName(target);
}

void draw_words_on(benchmark::State& state, std::int64_t target) {
  const ForcedTarget forced(target);
  const StreamKey key = stream_key({1, 2, 3}, StreamPurpose::kEntries);
  std::vector<std::uint64_t> words(4096);
  std::uint64_t call = 0;
  for (auto _ : state) {
    draw_words(key, {call, 0, 0, 0}, words);
    call += words.size() / 32;
    benchmark::DoNotOptimize(words.data());
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(words));
}

Entries entries_of(const LawRow& row) {
  Law law{&row, {}, 0, 1};
  for (const LawParameter& parameter : row.parameters) {
    law.parameters.push_back(
        std::min(parameter.above + 5, (parameter.above + parameter.at_most) / 2));
  }
  return {std::string(row.name), {}, law, law};
}

// Draws the scores of `queries` queries again and again, a new block each time.
void draw_blocks(benchmark::State& state, const SamplerRow& sampler, const Draw& draw,
                 std::int64_t queries) {
  BlockAddress address{1, 2, 0};
  for (auto _ : state) {
    sampler.draw_block(draw, address, queries, [](const ScoreTile& tile) {
      benchmark::DoNotOptimize(tile.scores.data());
      return true;
    });
    ++address.block;
  }
}

// Entries of queries and keys a second at d = 1024 and one key, their dot products included.
void draw_entries_on(benchmark::State& state, const LawRow& row, std::int64_t target) {
  constexpr std::int64_t kQueries = 64;
  const ForcedTarget forced(target);
  const Draw draw{entries_of(row), 1024, 1};
  draw_blocks(state, *find_sampler("vectors"), draw, kQueries);
  state.SetItemsProcessed(state.iterations() * kQueries * 2 * draw.d);
}

// The same as one writes it with Boost.Random.
void draw_entries_plainly(benchmark::State& state) {
  constexpr std::int64_t kSize = 1024;
  boost::random::mt19937_64 engine(0);
  boost::random::normal_distribution<double> normal;
  std::vector<double> query(kSize);
  std::vector<double> key(kSize);
  for (auto _ : state) {
    for (double& entry : query) entry = normal(engine);
    for (double& entry : key) entry = normal(engine);
    benchmark::DoNotOptimize(std::inner_product(query.begin(), query.end(), key.begin(), 0.0));
  }
  state.SetItemsProcessed(state.iterations() * 2 * kSize);
}

// Queries a second of a block of 1,024 queries, or of as many as take some 10 ms.
void draw_queries(benchmark::State& state, const SamplerRow& sampler, std::int64_t d,
                  std::int64_t keys) {
  constexpr std::int64_t kWork = std::int64_t{1} << 21;
  const Draw draw{entries_of(*find_law("normal")), d, keys};
  const std::int64_t work = keys * (sampler.draws_entries ? d : 1);
  const std::int64_t queries = std::clamp<std::int64_t>(kWork / work, 8, 1024);
  draw_blocks(state, sampler, draw, queries);
  state.SetItemsProcessed(state.iterations() * queries);
}

}  // namespace

void register_draw_benchmarks() {
  for (const std::int64_t target : targets_with_same_bytes()) {
    benchmark::RegisterBenchmark(("words/" + target_name(target)).c_str(), draw_words_on, target);
    for (const LawRow& row : law_table()) {
      const std::string name = "entries/" + std::string(row.name) + "/" + target_name(target);
      benchmark::RegisterBenchmark(
          name.c_str(), [&row, target](benchmark::State& s) { draw_entries_on(s, row, target); });
    }
  }
  benchmark::RegisterBenchmark("entries/normal/boost_mt19937_64", draw_entries_plainly);
  for (const SamplerRow& sampler : sampler_table()) {
    for (const std::int64_t d : {4, 64, 1024}) {
      for (const std::int64_t keys : {1, 8, 128}) {
        const std::string name = "sampler/" + std::string(sampler.name) +
                                 "/d=" + std::to_string(d) + "/keys=" + std::to_string(keys);
        benchmark::RegisterBenchmark(name.c_str(), [&sampler, d, keys](benchmark::State& s) {
          draw_queries(s, sampler, d, keys);
        });
      }
    }
  }
}

}  // namespace attnscale
