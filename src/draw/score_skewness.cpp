#include "draw/score_skewness.h"

#include <array>
#include <cmath>
#include <limits>

#include "draw/entry_moments.h"

namespace attnscale {
namespace {

constexpr int kOrder = 12;  // third moments of fourth powers

// Moments of order 0 to kOrder, about the same place and in the same unit.
using Series = std::array<double, kOrder + 1>;

double binomial(int n, int k) {
  double product = 1;
  for (int i = 1; i <= k; ++i) product = product * (n - k + i) / i;
  return product;
}

// One product of entries less its mean, in standardised x of the query and y of the key:
// x_1 x + y_1 y + x_2 (x^2 - 1) + x_y x y.
struct Product {
  double x_1, y_1, x_2, x_y;
};

Product product_of(const EntriesBlock& block, double rho) {
  const EntryMoments q = entry_moments(block.queries, 0);
  const EntryMoments k = entry_moments(block.keys, 0);
  const double kept = k.sd * kept_share(rho);
  return {q.sd * k.mean + q.mean * k.sd * rho, q.mean * kept, q.sd * k.sd * rho, q.sd * kept};
}

Series product_moments(const Product& product, const EntriesBlock& block) {
  constexpr std::size_t kX = 2 * kOrder + 1;
  constexpr std::size_t kY = kOrder + 1;
  using Polynomial = std::array<std::array<double, kY>, kX>;
  const std::vector<double> of_query = entry_moments(block.queries, 2 * kOrder).standardised;
  const std::vector<double> of_key = entry_moments(block.keys, kOrder).standardised;
  Polynomial product_power{};
  product_power[0][0] = 1;
  Series moments{};
  for (std::size_t order = 0;; ++order) {
    Polynomial next{};
    for (std::size_t x = 0; x <= 2 * order; ++x) {
      for (std::size_t y = 0; y <= order; ++y) {
        const double here = product_power[x][y];
        if (here == 0) continue;  // times a moment that may be infinite
        moments[order] += here * of_query[x] * of_key[y];
        if (order == kOrder) continue;
        next[x + 1][y] += here * product.x_1;
        next[x][y + 1] += here * product.y_1;
        next[x + 2][y] += here * product.x_2;
        next[x][y] -= here * product.x_2;
        next[x + 1][y + 1] += here * product.x_y;
      }
    }
    if (order == kOrder) return moments;
    product_power = next;
  }
}

// Cumulants from moments, by the recursion that has moments from cumulants turned round.
Series cumulants_of(const Series& moments) {
  Series cumulants{};
  for (int n = 1; n <= kOrder; ++n) {
    double sum = moments[static_cast<std::size_t>(n)];
    for (int j = 1; j < n; ++j) {
      sum -= binomial(n - 1, j - 1) * cumulants[static_cast<std::size_t>(j)] *
             moments[static_cast<std::size_t>(n - j)];
    }
    cumulants[static_cast<std::size_t>(n)] = sum;
  }
  return cumulants;
}

Series moments_of_cumulants(const Series& cumulants) {
  Series moments{};
  moments[0] = 1;
  for (int n = 1; n <= kOrder; ++n) {
    for (int j = 1; j <= n; ++j) {
      moments[static_cast<std::size_t>(n)] += binomial(n - 1, j - 1) *
                                              cumulants[static_cast<std::size_t>(j)] *
                                              moments[static_cast<std::size_t>(n - j)];
    }
  }
  return moments;
}

// Of the sum of a head's products, about a place `offset` below its mean, in the unit `unit`.
template <typename ProductOf>
Series sum_moments(const std::vector<EntriesBlock>& blocks, const ProductOf& product_of_block,
                   double offset, double unit) {
  Series sums{};
  for (const EntriesBlock& block : blocks) {
    const Product product = product_of_block(block);
    const Product scaled{product.x_1 / unit, product.y_1 / unit, product.x_2 / unit,
                         product.x_y / unit};
    const Series cumulants = cumulants_of(product_moments(scaled, block));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += static_cast<double>(block.d) * cumulants[i];
    }
  }
  sums[1] = offset / unit;
  return moments_of_cumulants(sums);
}

// Of the scores of all keys, about their mean and in their spread.
Series score_series(const Entries& entries, std::int64_t d, std::int64_t keys) {
  const auto size = static_cast<double>(d);
  const double unit = score_moments(entries, d, keys).sd;
  const double share = static_cast<double>(aligned_of(entries, keys)) / static_cast<double>(keys);
  const double apart = size * entries.alignment * entries.queries.sd * entries.keys.sd;
  Series series{};
  for (const bool is_aligned : {false, true}) {
    const double part = is_aligned ? share : 1 - share;
    if (part == 0) continue;
    const double offset = is_aligned ? (1 - share) * apart : -share * apart;
    const double rho = is_aligned ? entries.alignment : 0;
    const Series moments = sum_moments(
        blocks_of(entries, d), [&](const EntriesBlock& block) { return product_of(block, rho); },
        offset, unit);
    for (std::size_t i = 0; i < series.size(); ++i) series[i] += part * moments[i];
  }
  return series;
}

// G^2 of the polynomial c[0] + c[1] s + ... + c[4] s^4, whose mean is 0.
double squared_skewness(const std::array<double, 5>& c, const Series& moments) {
  double square = 0;
  double cube = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    for (std::size_t j = 0; j < c.size(); ++j) {
      const double product = c[i] * c[j];
      if (product == 0) continue;
      square += product * moments[i + j];
      for (std::size_t k = 0; k < c.size(); ++k) {
        if (c[k] != 0) cube += product * c[k] * moments[i + j + k];  // 0 times infinity is NaN
      }
    }
  }
  constexpr double kRounding = 1e-9;
  return square <= kRounding ? 0 : (cube / square) * (cube / square) / square;
}

PowerSkewness skewness_of(const Series& moments) {
  const double kurtosis = moments[4];
  return {squared_skewness({-1, 0, 1, 0, 0}, moments),
          squared_skewness({kurtosis, -4 * moments[3], -2 * kurtosis, 0, 1}, moments)};
}

PowerSkewness if_moments_exist(const Entries& entries, PowerSkewness skewness) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (!has_moments(entries, 6)) skewness.of_spread = kNone;
  if (!has_moments(entries, kOrder)) skewness.of_kurtosis = kNone;
  return skewness;
}

}  // namespace

PowerSkewness normal_score_skewness() {
  Series cumulants{};
  cumulants[2] = 1;
  return skewness_of(moments_of_cumulants(cumulants));
}

PowerSkewness score_skewness(const Entries& entries, std::int64_t d, std::int64_t keys) {
  return if_moments_exist(entries, skewness_of(score_series(entries, d, keys)));
}

PowerSkewness query_skewness(const Entries& entries, std::int64_t d, std::int64_t keys) {
  const std::vector<EntriesBlock> blocks = blocks_of(entries, d);
  // The variance that x^2 of a block's query gives a score, in the first block's.
  const auto variance_of = [&](const EntriesBlock& block) {
    const auto spread = [](const EntriesBlock& one) {
      return entry_moments(one.queries, 0).sd * entry_moments(one.keys, 0).sd;
    };
    const double ratio = spread(block) / spread(blocks.front());
    return ratio * ratio;
  };
  // The sum of x^2 - 1 over a query's entries, so weighed, in its spread.
  double variance = 0;
  double mean = 0;  // of that of x^2
  for (const EntriesBlock& block : blocks) {
    const double each = variance_of(block);
    const auto size = static_cast<double>(block.d);
    variance += size * each * each * (entry_moments(block.queries, 4).standardised[4] - 1);
    mean += size * each;
  }
  if (variance == 0) return {0, 0};
  const double spread = std::sqrt(variance);
  const Series sum = sum_moments(
      blocks,
      [&](const EntriesBlock& block) {
        return Product{0, 0, variance_of(block), 0};
      },
      0, spread);
  const double v = spread / mean;
  const double kurtosis = score_series(entries, d, keys)[4];
  return if_moments_exist(
      entries, {squared_skewness({0, 1, 0, 0, 0}, sum),
                squared_skewness({-3 * v * v, (6 - 2 * kurtosis) * v, 3 * v * v, 0, 0}, sum)});
}

}  // namespace attnscale
