// Numbers that others printed in public, and how to compare with a printed number.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace attnscale {

inline nlohmann::json public_numbers() {
  std::ifstream file(std::string(ATTNSCALE_SOURCE_DIR) + "/tests/cases/public_numbers.json");
  return nlohmann::json::parse(file);
}

/// Decimals a number shows; a list is taken to be printed with those of its longest.
inline int decimals_of(const nlohmann::json& printed) {
  if (printed.is_array()) {
    int most = 0;
    for (const auto& number : printed) most = std::max(most, decimals_of(number));
    return most;
  }
  const std::string text = printed.dump();
  const std::size_t point = text.find('.');
  return point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

/// Half a unit of the last decimal, and one rounding of the single precision most were computed in.
inline double printed_error(int decimals) {
  return 0.5 * std::pow(10.0, -decimals) + 0x1p-24;
}

}  // namespace attnscale
