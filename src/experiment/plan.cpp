#include "experiment/plan.h"

#include <algorithm>

namespace attnscale {
namespace {

std::uint64_t cell_identity(const Draw& draw, const SamplerRow& sampler) {
  return hash_text(identity_text(draw.entries) + ";d=" + std::to_string(draw.d) +
                   ";keys=" + std::to_string(draw.keys) + ";sampler=" + std::string(sampler.name));
}

Cell make_cell(std::size_t experiment, const Experiment& asked, const Draw& draw) {
  Cell cell;
  cell.experiment = experiment;
  cell.draw = draw;
  const bool needs_them = std::ranges::any_of(
      asked.scalings, [](const Scaling& scaling) { return needs_norms(scaling.rule); });
  if (needs_them) cell.draw.norms = NormRequest::kSquaredNorms;
  cell.queries = asked.queries;
  cell.identity = cell_identity(draw, *asked.sampler);
  cell.block_queries = block_queries(draw.keys, asked.sampler->draws_entries ? draw.d : 1);
  cell.blocks = (cell.queries + cell.block_queries - 1) / cell.block_queries;
  return cell;
}

}  // namespace

std::int64_t Cell::queries_in(std::int64_t block) const {
  return std::min(block_queries, queries - block * block_queries);
}

std::int64_t block_queries(std::int64_t keys, std::int64_t work_per_score) {
  constexpr std::int64_t kMost = 1024;
  constexpr std::int64_t kLeast = 8;
  constexpr std::int64_t kWork = std::int64_t{1} << 26;
  std::int64_t queries = kMost;
  while (queries > kLeast && queries * keys > kWork / work_per_score) queries /= 2;
  return queries;
}

double expected_seconds(const Experiment& experiment, const Cell& cell) {
  constexpr double kPerLogit = 4e-9;
  constexpr double kPerMetric = 20e-9;
  const auto queries = static_cast<double>(cell.queries);
  const double scores = queries * static_cast<double>(cell.draw.keys);
  const double entries = (scores + queries) * static_cast<double>(cell.draw.d);
  const double drawn = experiment.sampler->draws_entries ? entries : scores;
  const auto scalings = static_cast<double>(experiment.scalings.size());
  const auto metrics = static_cast<double>(experiment.metrics.size());
  return drawn * experiment.sampler->nanoseconds * 1e-9 +
         scalings * (scores * kPerLogit + queries * metrics * kPerMetric);
}

ResultKey key_of(const Config& config, const Cell& cell, const Scaling& scaling) {
  return {config.name,
          static_cast<std::int64_t>(config.seed),
          config.experiments[cell.experiment].name,
          cell.draw.entries.name,
          cell.draw.entries.value,
          cell.draw.d,
          cell.draw.keys,
          scaling.name,
          scaling.value};
}

Plan make_plan(const Config& config) {
  Plan plan{config, {}};
  for (std::size_t i = 0; i < config.experiments.size(); ++i) {
    const Experiment& experiment = config.experiments[i];
    if (experiment.given) continue;
    for (const Entries& entries : experiment.entries) {
      for (const std::int64_t d : experiment.d) {
        for (const std::int64_t keys : experiment.keys) {
          plan.cells.push_back(make_cell(i, experiment, {entries, d, keys}));
        }
      }
    }
  }
  return plan;
}

}  // namespace attnscale
