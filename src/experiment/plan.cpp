#include "experiment/plan.h"

#include <algorithm>

#include "experiment/expected_logits.h"

namespace attnscale {
namespace {

std::uint64_t cell_identity(const Draw& draw, const SamplerRow& sampler) {
  return hash_text(identity_text(draw.entries) + ";d=" + std::to_string(draw.d) +
                   ";keys=" + std::to_string(draw.keys) + ";sampler=" + std::string(sampler.name));
}

NormRequest norms_for_all(const Experiment& asked) {
  NormRequest norms = NormRequest::kNone;
  for (const Scaling& scaling : asked.scalings) norms = std::max(norms, norms_for(scaling));
  return norms;
}

std::vector<ProductRule> products_for_all(const Experiment& asked, const Draw& draw) {
  std::vector<ProductRule> products;
  for (const Scaling& scaling : asked.scalings) {
    for (const auto& rule : {product_rule(scaling, size_of(draw)), exact_product_rule(scaling)}) {
      if (rule && std::ranges::find(products, *rule) == products.end()) products.push_back(*rule);
    }
  }
  return products;
}

Cell make_cell(std::size_t experiment, const Experiment& asked, const Draw& draw) {
  Cell cell;
  cell.experiment = experiment;
  cell.draw = draw;
  cell.draw.products = products_for_all(asked, draw);
  cell.queries = asked.queries;
  cell.identity = cell_identity(draw, *asked.sampler);
  cell.block_queries = block_queries(draw.keys, asked.sampler->draws_entries ? draw.d : 1);
  cell.blocks = (cell.queries + cell.block_queries - 1) / cell.block_queries;
  return cell;
}

// Rough seconds from a logit to its share in the metrics.
double seconds_per_logit(const Experiment& experiment, const Scaling& scaling) {
  constexpr double kScaleAndSum = 4e-9;
  constexpr double kNormalise = 8e-9;
  constexpr double kStep = 4e-9;
  constexpr double kWeighOneByOne = 15e-9;
  constexpr double kRound = 15e-9;
  const bool narrow = !scaling.weights.precision.is_exact();
  const bool one_by_one = std::ranges::any_of(experiment.metrics, [&](const MetricRow* metric) {
    return needs_all_logits(*metric, scaling.weights);
  });
  double seconds = kScaleAndSum;
  const FormulaProgram program(scaling.logit, {});
  const auto steps = static_cast<double>(program.factor() ? 0 : program.steps_of_score());
  if (program.norm() != VectorNorm::kNone) seconds += kNormalise;
  if (one_by_one) seconds += kWeighOneByOne;
  if (narrow && asks_for_exact_weights(experiment)) seconds += kWeighOneByOne;
  seconds += steps * kStep;
  if (narrow) seconds += kRound * std::max(steps, 1.0);
  return seconds;
}

// The same from a score, under all scalings.
double seconds_per_score(const Experiment& experiment) {
  double seconds = 0;
  for (const Scaling& scaling : experiment.scalings) {
    seconds += seconds_per_logit(experiment, scaling);
  }
  return seconds;
}

double seconds_of(const Experiment& experiment, const Cell& cell, double per_score) {
  constexpr double kPerMetric = 20e-9;
  constexpr double kPerRounding = 8e-9;  // of an entry, and of its product
  constexpr double kPerNorm = 10e-9;     // a chi-squared, where no entry is drawn
  const auto queries = static_cast<double>(cell.queries);
  const double scores = queries * static_cast<double>(cell.draw.keys);
  const auto d = static_cast<double>(cell.draw.d);
  const auto normals_of = [](const Law& law) { return times_normal(entry_shape(law).kind); };
  const double normals = d * (queries * normals_of(cell.draw.entries.queries) +
                              scores * normals_of(cell.draw.entries.keys));
  const bool draws_entries = experiment.sampler->draws_entries;
  const double drawn = draws_entries ? normals : scores;
  const bool draws_norms = !draws_entries && cell.draw.norms != NormRequest::kNone;
  const auto scalings = static_cast<double>(experiment.scalings.size());
  const auto metrics = static_cast<double>(experiment.metrics.size());
  const auto products = static_cast<double>(cell.draw.products.size());
  return drawn * experiment.sampler->nanoseconds * 1e-9 +
         (scores + queries) * d * products * kPerRounding + (draws_norms ? scores * kPerNorm : 0) +
         scores * per_score + scalings * queries * metrics * kPerMetric;
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

std::vector<double> expected_seconds(const Plan& plan) {
  std::vector<double> seconds;
  double per_score = 0;
  for (const Cell& cell : plan.cells) {
    const Experiment& experiment = plan.experiment_of(cell);
    const bool is_first = &cell == &plan.cells.front() || (&cell)[-1].experiment != cell.experiment;
    if (is_first) per_score = seconds_per_score(experiment);
    seconds.push_back(seconds_of(experiment, cell, per_score));
  }
  return seconds;
}

ResultKey key_of(const Plan& plan, const Cell& cell, const Scaling& scaling) {
  return {plan.config.name,
          static_cast<std::int64_t>(plan.config.seed),
          plan.experiment_of(cell).name,
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
    const NormRequest norms = norms_for_all(experiment);
    for (const Entries& entries : experiment.entries) {
      for (const std::int64_t d : experiment.d) {
        for (const std::int64_t keys : experiment.keys) {
          plan.cells.push_back(make_cell(i, experiment, {entries, d, keys, norms}));
        }
      }
    }
  }
  return plan;
}

}  // namespace attnscale
