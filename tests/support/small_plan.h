// A plan whose scores cost next to nothing, with many ragged blocks: for tests of who measures
// what.
#pragma once

#include "experiment/plan.h"

namespace attnscale {

/// SamplerRow::draw_block: scores between -2 and 2 from the block's own stream, one query a tile.
inline void draw_block_cheaply(const Draw& draw, const BlockAddress& address, std::int64_t queries,
                               const TileSink& sink) {
  RandomStream words(address, StreamPurpose::kScores);
  const std::int64_t stride = padded(1);
  std::vector<double> scores(static_cast<std::size_t>(draw.keys * stride));
  for (std::int64_t query = 0; query < queries; ++query) {
    for (std::int64_t key = 0; key < draw.keys; ++key) {
      scores[static_cast<std::size_t>(key * stride)] =
          static_cast<double>(words() >> 11) * 0x1p-51 - 2;
    }
    if (!sink({query, 1, 0, draw.keys, scores})) return;
  }
}

inline constexpr SamplerRow kCheapSampler{.name = "cheap",
                                          .help = "for tests",
                                          .draws_entries = true,
                                          .nanoseconds = 1,
                                          .max_d = std::int64_t{1} << 30,
                                          .max_keys = std::int64_t{1} << 20,
                                          .can_draw = [](const Entries&) { return true; },
                                          .draw_block = draw_block_cheaply};

/// One experiment of two cells, d = 2^20 and 2^21 with 8 and 4 queries a block (kept at 8): each of
/// `queries` queries in blocks of 8.
inline Config small_config(std::int64_t queries, const SamplerRow& sampler = kCheapSampler) {
  const Law normal{find_law("normal"), {}, 0, 1};
  Experiment experiment;
  experiment.name = "small";
  experiment.entries = {{"normal", std::nullopt, normal, normal}};
  experiment.d = {std::int64_t{1} << 20, std::int64_t{1} << 21};
  experiment.keys = {8};
  experiment.queries = queries;
  experiment.sampler = &sampler;
  experiment.scalings = {*find_scaling("none"), *find_scaling("div_sqrt_d")};
  experiment.metrics = {find_metric("logit_sd"), find_metric("top_weight"), find_metric("slope")};
  experiment.histogram = {*find_histogram_quantity("logit"),
                          *find_histogram_quantity("top_weight")};
  Config config;
  config.name = "small_run";
  config.seed = 7;
  config.experiments = {experiment};
  return config;
}

inline Plan small_plan(std::int64_t queries, const SamplerRow& sampler = kCheapSampler) {
  return make_plan(small_config(queries, sampler));
}

}  // namespace attnscale
