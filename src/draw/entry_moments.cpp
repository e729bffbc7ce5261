#include "draw/entry_moments.h"

#include <algorithm>
#include <cmath>

#include "numerics/portable_math.h"
#include "numerics/quadrature.h"
#include "numerics/quantiles.h"

namespace attnscale {
namespace {

double normal_tails(double size) {
  return 2 * plain::normal_cdf(-size);
}

// P(|x| > size) of a law's own kind, of mean 0.
double tails(const EntryShape& shape, double size) {
  const double x = size / shape.sd;
  const auto& [first, second, third] = shape.numbers;
  switch (shape.kind) {
    case EntryKind::kNormal:
      return normal_tails(x);
    case EntryKind::kUniform:
      return std::max(0.0, 1 - 2 * x);
    case EntryKind::kExponential:
      return plain::exp_of_negative(-x / 2);
    case EntryKind::kLogistic: {
      const double falls = plain::exp_of_negative(-x / 2);
      return 2 * falls / (1 + falls);
    }
    case EntryKind::kStudentT:
      return student_tails(1 / first, x * std::sqrt(1 / first));
    case EntryKind::kTruncatedNormal:  // at, inside, outside
      return x < first ? (normal_tails(x) - third) / second : 0;
    case EntryKind::kMixedNormal:  // p, a, b
      return first * normal_tails(x / second) +
             (third > 0 ? (1 - first) * normal_tails(x / third) : 0);
    case EntryKind::kSigned:
      return x < 1 ? first : 0;
  }
  return kNan;
}

// Places of standardised entries, and what the slope of a function there adds to its mean.
struct SlopeWeights {
  double from;  // the place at which the function itself is taken
  std::vector<double> at;
  std::vector<double> weight;
};

// Adds the places `side` t, side 1 or -1, with t from `low` to `high`.
void add_side(const EntryShape& shape, double side, double low, double high, SlopeWeights& all) {
  static const QuadratureRule rule = gauss_legendre(16);
  constexpr double kFirstPanel = 0x1p-24;
  if (low >= high || tails(shape, low) == 0) return;
  if (tails(shape, high) == 0) {  // to where the law ends
    double inside = low;
    for (double middle; middle = inside + (high - inside) / 2, inside < middle && middle < high;) {
      (tails(shape, middle) > 0 ? inside : high) = middle;
    }
  }
  double width = kFirstPanel * std::min(1.0, high - low);
  for (double start = low; start < high; start += width, width *= 2) {
    const double half = std::min(width, high - start) / 2;
    for (std::size_t i = 0; i < rule.size(); ++i) {
      const double t = start + half * (1 + rule.node[i]);
      all.at.push_back(side * t);
      all.weight.push_back(side * half * rule.weight[i] * tails(shape, t) / 2);
    }
  }
}

SlopeWeights slope_weights(const Law& law) {
  const EntryShape shape = law.row->shape(law.parameters);
  const double below = (law.clip + law.mean) / law.sd;  // entries -below x and above x are clipped
  const double above = (law.clip - law.mean) / law.sd;
  SlopeWeights all{std::clamp(0.0, -below, above), {}, {}};
  add_side(shape, 1, std::max(0.0, -below), above, all);
  if (law.mean == 0) {  // both sides add the same to the mean of an even power
    for (double& weight : all.weight) weight *= 2;
    return all;
  }
  add_side(shape, -1, std::max(0.0, -above), below, all);
  return all;
}

// E[((x - centre) / unit)^order] of the clipped entry x.
double clipped_moment(const Law& law, const SlopeWeights& slopes, double centre, double unit,
                      int order) {
  const auto place = [&](double x) { return (law.mean + law.sd * x - centre) / unit; };
  const auto power = [](double number, int exponent) {
    double product = 1;
    for (int i = 0; i < exponent; ++i) product *= number;
    return product;
  };
  double sum = power(place(slopes.from), order);
  for (std::size_t i = 0; i < slopes.at.size(); ++i) {
    sum += slopes.weight[i] * order * (law.sd / unit) * power(place(slopes.at[i]), order - 1);
  }
  return sum;
}

}  // namespace

EntryMoments entry_moments(const Law& law, int most) {
  EntryMoments moments{law.mean, law.sd, std::vector<double>(static_cast<std::size_t>(most) + 1)};
  moments.standardised[0] = 1;
  if (!law.is_clipped()) {
    for (int order = 2; order <= most; order += 2) {
      moments.standardised[static_cast<std::size_t>(order)] =
          law.row->even_moment(law.parameters, order / 2);
    }
    return moments;
  }
  const SlopeWeights slopes = slope_weights(law);
  if (law.mean != 0) moments.mean = clipped_moment(law, slopes, 0, 1, 1);
  moments.sd = law.clip * std::sqrt(clipped_moment(law, slopes, moments.mean, law.clip, 2));
  for (int order = 1; order <= most; ++order) {
    const bool is_zero = order == 1 || (order % 2 == 1 && law.mean == 0);
    moments.standardised[static_cast<std::size_t>(order)] =
        is_zero ? 0 : clipped_moment(law, slopes, moments.mean, moments.sd, order);
  }
  return moments;
}

}  // namespace attnscale
