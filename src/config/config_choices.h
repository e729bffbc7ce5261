// The words that choices of a config are among: names of the tables' rows and of enums.
#pragma once

#include <string_view>
#include <vector>

#include "experiment/experiment.h"

namespace attnscale {

template <typename Row>
std::vector<std::string_view> row_names(std::span<const Row> table) {
  std::vector<std::string_view> names;
  for (const Row& row : table) names.push_back(row.name);
  return names;
}

inline std::vector<std::string_view> law_names() {
  return row_names(law_table());
}
inline std::vector<std::string_view> scaling_names() {
  return row_names(scaling_table());
}
inline std::vector<std::string_view> norm_names() {
  return {kNormNames.begin(), kNormNames.end()};
}
inline std::vector<std::string_view> precision_names() {
  return {kPrecisionNames.begin(), kPrecisionNames.end()};
}
inline std::vector<std::string_view> scale_order_names() {
  return {kScaleOrderNames.begin(), kScaleOrderNames.end()};
}
inline std::vector<std::string_view> metric_names() {
  return row_names(metric_table());
}
inline std::vector<std::string_view> sampler_names() {
  return row_names(sampler_table());
}
inline std::vector<std::string_view> reference_names() {
  return {"auto", "off"};
}

}  // namespace attnscale
