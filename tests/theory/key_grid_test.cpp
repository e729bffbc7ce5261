#include "theory/key_grid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace attnscale {
namespace {

// Through n values goes one polynomial of degree n - 1: of x^m its integral is x^(m+1) / (m + 1).
TEST(PanelRule, IntegratesPolynomialsUpToEachNode) {
  const PanelRule rule(10);
  for (int power = 0; power < 10; ++power) {
    for (std::size_t i = 0; i < rule.size(); ++i) {
      double integral = 0;
      for (std::size_t j = 0; j < rule.size(); ++j) {
        integral += rule.below(i, j) * std::pow(rule.node(j), power);
      }
      const double from_minus_one = std::pow(-1.0, power + 1) / (power + 1);
      EXPECT_NEAR(integral, std::pow(rule.node(i), power + 1) / (power + 1) - from_minus_one,
                  1e-14);
    }
  }
}

// P_9 leads with 12155 / 128 x^9.
TEST(PanelRule, TellsTheLastCoefficients) {
  const PanelRule rule(10);
  std::vector<double> ninth;
  std::vector<double> seventh;
  for (std::size_t i = 0; i < rule.size(); ++i) {
    ninth.push_back(std::pow(rule.node(i), 9));
    seventh.push_back(std::pow(rule.node(i), 7));
  }
  EXPECT_NEAR(rule.last_coefficients(ninth), 128.0 / 12155, 1e-14);
  EXPECT_NEAR(rule.last_coefficients(seventh), 0, 1e-14);
}

// The density of a key, of the top key and of the next to the top hold 1 each; the mean of
// P(a key lies below the top) is n / (n + 1).
TEST(KeyGrid, DensitiesHoldOne) {
  for (const double keys : {2.0, 8.0, 4096.0, 1048576.0}) {
    for (const LogitLaw& law :
         {normal_law(3, kNoSoftcap), normal_law(40, 5), cosine_law(2, 10, kNoSoftcap),
          cosine_law(3, 1, kNoSoftcap), cosine_law(4096, 100, 20)}) {
      double key = 0;
      double top = 0;
      double next = 0;
      double below = 0;
      const KeyGrid grid = make_key_grid(law, keys, GridKeys::kAll);
      for (const KeyPanel& panel : grid.panels) {
        for (std::size_t i = 0; i < panel.nodes.size(); ++i) {
          const KeyNode& node = panel.nodes[i];
          key += grid.rule.weight(i) * node.mass;
          top += node.top_weight;
          next += node.next_weight;
          below += node.top_weight * node.below;
        }
      }
      EXPECT_NEAR(key, 1, 1e-12) << keys;
      EXPECT_NEAR(top, 1, 1e-8) << keys;
      EXPECT_NEAR(next, 1, 1e-8) << keys;
      EXPECT_NEAR(below, keys / (keys + 1), 1e-8) << keys;
    }
  }
}

}  // namespace
}  // namespace attnscale
