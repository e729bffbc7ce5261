// Experiments as a config's text says them, for the tests of the config.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "support/refused_configs.h"

namespace attnscale {

/// The experiment of a config that has one, with these members.
inline Experiment read_one(const std::string& members) {
  return parse_config(experiment(members), "test.json").config.experiments.at(0);
}

inline std::vector<std::string> metric_names(const Experiment& experiment) {
  std::vector<std::string> names;
  for (const MetricRow* row : experiment.metrics) names.emplace_back(row->name);
  return names;
}

/// Members of an experiment whose numbers are in files of the repository.
inline std::string given_files() {
  const std::string folder = std::string(ATTNSCALE_SOURCE_DIR) + "/configs/example_matrices/";
  return R"({"given": {"queries": ")" + folder + R"(queries.npy", "keys": ")" + folder +
         R"(keys.npy", "causal": true}, "metrics": ["entropy"]})";
}

}  // namespace attnscale
