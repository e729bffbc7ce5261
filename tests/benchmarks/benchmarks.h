// The benchmarks, by theme; scripts/bench.sh runs them and writes what they take. Each counts its
// numbers, scores or queries as items, so that items_per_second is its rate on one core.
#pragma once

namespace attnscale {

/// Random words, entries of each law, and whole samplers.
void register_draw_benchmarks();

/// Softmax, and whole blocks with their tallies.
void register_measure_benchmarks();

}  // namespace attnscale
