#include "theory/top_key_terms.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numerics/portable_math.h"
#include "numerics/vector_clones.h"

namespace attnscale {
namespace {

using enum ExactMean;

constexpr double kEulerGamma = 0.57721566490153286061;

// A sink beside a top logit: its share of top + sink, and log(1 + e^(sink - top)).
struct SinkShare {
  double sink;
  double top;
  double log_total;
  double log_ratio;  // sink - top; 0 without a sink
};

SinkShare share_with_sink(double top_logit, double sink) {
  if (sink == kNoSink) return {0, 1, 0, 0};
  const double ratio = sink - top_logit;
  const double small = plain::exp_of_negative(-std::abs(ratio));
  const double log_total = std::max(ratio, 0.0) + plain::log1p(small);
  const double larger = 1 / (1 + small);
  const double smaller = small / (1 + small);
  return ratio > 0 ? SinkShare{larger, smaller, log_total, ratio}
                   : SinkShare{smaller, larger, log_total, ratio};
}

// What the integrands are made of. t is counted in units of 1 / (top + sink).
struct Integrands {
  double others;    // keys beside the top one
  double scale;     // 1 / P(an other key lies below the top)
  double log_unit;  // log of t's unit
  double top;       // the top key's share of top + sink
};

constexpr std::size_t kIntegrals = 8;
constexpr std::size_t kSteps = 64;  // steps of log t

// In eight interleaved partial sums, an order that vectors of any width can keep.
inline double sum_of(const double* numbers, std::size_t count) {
  constexpr std::size_t kParts = 8;
  double part[kParts] = {};
  std::size_t k = 0;
  for (; k + kParts <= count; k += kParts) {
    for (std::size_t i = 0; i < kParts; ++i) part[i] += numbers[k + i];
  }
  for (; k < count; ++k) part[k % kParts] += numbers[k];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

// Adds what at most kSteps steps of log t hold to the integrals of TopKeyTerms::add.
ATTNSCALE_VECTOR_CLONES
void add_integrals(const double* log_t, const double* step, std::size_t points, const Integrands of,
                   OtherSums sums, double* integral) {
  const double* const lost_sum = sums.first;
  const double* const first_sum = sums.first + sums.stride;
  const double* const second_sum = sums.first + 2 * sums.stride;
  const double* const logit_sum = sums.first + 3 * sums.stride;
  double row[kIntegrals][kSteps];
  for (std::size_t k = 0; k < points; ++k) {
    const double log_tau = log_t[k] + of.log_unit;
    const double tau = plain::exp(log_tau);
    const double decay = step[k] * plain::exp(-tau);
    // 1 - M is at most its value when the other key ties with the top one.
    const double most = -plain::expm1(-tau * of.top);
    const double sum = lost_sum[k] * of.scale;
    const double lost = sum < most ? sum : most;
    const double log_kept = of.others * plain::log1p(-lost);
    const double vanish = -plain::expm1(log_kept);  // 1 - E[e^-tR]
    const double kept = 1 - vanish;
    const double survive = decay * of.others * of.scale * kept / (1 - lost);  // (n-1) M^(n-2)
    row[0][k] = decay * tau * kept;
    row[1][k] = decay * tau * tau * kept;
    row[2][k] = decay * vanish;
    row[3][k] = decay * tau * (kEulerGamma + log_tau) * vanish;
    row[4][k] = survive * first_sum[k];
    row[5][k] = survive * tau * first_sum[k];
    row[6][k] = survive * second_sum[k];
    row[7][k] = survive * logit_sum[k];
  }
  for (std::size_t i = 0; i < kIntegrals; ++i) integral[i] += sum_of(row[i], points);
}

ATTNSCALE_VECTOR_CLONES
void fill_functions(const double* __restrict log_t, std::size_t points, double logit,
                    double* __restrict rows, std::size_t stride) {
  for (std::size_t k = 0; k < points; ++k) {
    const double q = plain::exp(log_t[k] + logit);
    const double less = plain::expm1(-q);
    const double first = q * (1 + less);
    rows[k] = -less;
    rows[stride + k] = first;
    rows[2 * stride + k] = q * first;
    rows[3 * stride + k] = logit * first;
  }
}

// Four rows at a time: a sum is loaded and stored once for all of them.
ATTNSCALE_VECTOR_CLONES
void add_weighted_numbers(const double* __restrict rows, std::size_t stride,
                          const double* __restrict weight, std::size_t count, std::size_t points,
                          double* __restrict sums) {
  std::size_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const double* const row = rows + j * stride;
    for (std::size_t k = 0; k < points; ++k) {
      double sum = sums[k] + weight[j] * row[k];
      sum += weight[j + 1] * row[stride + k];
      sum += weight[j + 2] * row[2 * stride + k];
      sums[k] = sum + weight[j + 3] * row[3 * stride + k];
    }
  }
  for (; j < count; ++j) {
    for (std::size_t k = 0; k < points; ++k) sums[k] += weight[j] * rows[j * stride + k];
  }
}

}  // namespace

void fill_other_key(std::span<const double> log_t, double logit, double* rows, std::size_t stride) {
  fill_functions(log_t.data(), log_t.size(), logit, rows, stride);
}

void add_weighted(const double* rows, std::size_t stride, std::span<const double> weights,
                  std::span<double> sums) {
  add_weighted_numbers(rows, stride, weights.data(), weights.size(), sums.size(), sums.data());
}

void TopKeyTerms::add(const TopKey& key, std::span<const double> log_t,
                      std::span<const double> step, OtherSums sums, double below,
                      ExactMeans& means) const {
  const SinkShare share = share_with_sink(key.logit, sink_);
  const std::size_t points = log_t.size();
  const Integrands of{others_, 1 / below, key.logit + share.log_total, share.top};
  std::array<double, kIntegrals> integral{};
  for (std::size_t k = 0; k < points; k += kSteps) {
    add_integrals(log_t.data() + k, step.data() + k, std::min(kSteps, points - k), of,
                  {sums.first + k, sums.stride}, integral.data());
  }
  // With R the other keys' sum of e^logit over that of top and sink:
  const double inverse = integral[0];         // E 1 / (1 + R)
  const double inverse2 = integral[1];        // E 1 / (1 + R)^2
  const double log_total = integral[2];       // E log(1 + R)
  const double log_over_total = integral[3];  // E log(1 + R) / (1 + R)
  const double others = integral[4];          // E R / (1 + R)
  const double others2 = integral[5];         // E R / (1 + R)^2
  const double squares = integral[6];         // E sum of the others' p^2
  const double logits = integral[7];          // E sum of the others' p logit

  const double sink_weight = share.sink * inverse;
  const double slope = share.top * (others2 + share.sink * inverse2);
  const double key_weight = share.top * inverse + others;
  const double gap = key.logit * others - logits;  // E sum of the others' p (top logit - logit)
  means[kTopWeight] += key.weight * share.top * inverse;
  means[kSlope] += key.weight * slope;
  means[kScoreSlope] += key.weight * slope * key.derivative;
  means[kSumP2] += key.weight * (share.top * share.top * inverse2 + squares);
  means[kEntropy] +=
      key.weight * (gap + key_weight * share.log_total + log_total - share.sink * log_over_total);
  means[kMeanLogit] += key.weight * (key.logit * key_weight - gap);
  means[kTotalWeight] += key.weight * key_weight;
  means[kSinkWeight] += key.weight * sink_weight;
  means[kSquaredSinkWeight] += key.weight * share.sink * share.sink * inverse2;
  means[kSinkEntropy] += key.weight * (share.sink * log_over_total +
                                       sink_weight * (share.log_total - share.log_ratio));
}

}  // namespace attnscale
