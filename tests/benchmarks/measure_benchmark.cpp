#include <benchmark/benchmark.h>

#include <vector>

#include "../support/drawn_cell.h"
#include "../support/forced_target.h"
#include "../support/plain_softmax.h"
#include "benchmarks.h"
#include "execution/ledger.h"

namespace attnscale {
namespace {

// Logits a second of 512 queries with 8 keys each, a tile that the samplers make.
void sum_softmax(benchmark::State& state, SoftmaxLevel level, std::int64_t target) {
  constexpr std::int64_t kQueries = 512;
  constexpr std::int64_t kKeys = 8;
  const ForcedTarget forced(target);
  const std::vector<double> logits = random_rows(1, kQueries * kKeys, 20).front();
  SoftmaxSums sums;
  for (auto _ : state) {
    sums.start(kQueries, level);
    sums.add_keys(logits, kKeys);
    sums.finish();
    benchmark::DoNotOptimize(sums);
  }
  state.SetItemsProcessed(state.iterations() * kQueries * kKeys);
}

// Queries a second from the draw to the tally: 8 keys, three scalings, top weight and slope.
void measure_queries(benchmark::State& state, std::int64_t d) {
  Experiment experiment = drawn_experiment("direct", d, 8, std::int64_t{1} << 40);
  experiment.metrics = metric_rows({"top_weight", "slope"});
  const Cell cell = make_plan(config_of(experiment)).cells.front();
  BlockMeasurer measurer(experiment, cell, 1);
  CellLedger ledger;
  std::int64_t block = 0;
  for (auto _ : state) {
    ledger.add(block, *measurer.measure(block));
    ++block;
  }
  state.SetItemsProcessed(state.iterations() * cell.block_queries);
}

}  // namespace

void register_measure_benchmarks() {
  constexpr std::array kLevels{std::pair{"weights", SoftmaxLevel::kWeights},
                               std::pair{"entropy", SoftmaxLevel::kEntropy},
                               std::pair{"powers", SoftmaxLevel::kPowers}};
  for (const std::int64_t target : targets_with_same_bytes()) {
    for (const auto& [name, level] : kLevels) {
      benchmark::RegisterBenchmark(
          ("softmax/" + std::string(name) + "/" + hwy::TargetName(target)).c_str(), sum_softmax,
          level, target);
    }
  }
  for (const std::int64_t d : {4, 64, 4096}) {
    benchmark::RegisterBenchmark(("measure/direct/keys=8/d=" + std::to_string(d)).c_str(),
                                 measure_queries, d);
  }
}

}  // namespace attnscale
