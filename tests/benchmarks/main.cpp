#include <benchmark/benchmark.h>

#include "benchmarks.h"

int main(int argc, char** argv) {
  attnscale::register_draw_benchmarks();
  attnscale::register_measure_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
