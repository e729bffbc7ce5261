#include "theory/exact_crossing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "numerics/portable_math.h"

namespace attnscale {
namespace {

constexpr double kFirstD = 1;
constexpr double kLastD = 1e12;

// log d up to which crossings are looked for. Under a soft-cap d ends where the uncapped logits
// have kSaturatedCaps times its spread: nearly all logits are then at the cap or at minus the cap,
// and the mean no longer moves. Beside a sink or in a sigmoid, where a spread costs the more the
// larger it is, d ends at kMostBentSpread.
double last_log_d(const CrossingRequest& request) {
  constexpr double kSaturatedCaps = 64;
  constexpr double kMostBentSpread = 128;
  const double last = plain::log(kLastD);
  const double growth = request.d_power + 0.5;
  const double per_norm = std::abs(request.multiplier) * request.entry_sd;
  if (is_linear(request.weighing) || growth <= 0 || per_norm == 0) return last;
  const double most = request.weighing.softcap == kNoSoftcap
                          ? kMostBentSpread
                          : kSaturatedCaps * request.weighing.softcap;
  return std::min(last, plain::log(most / per_norm) / growth);
}

ExactRequest at_d(const CrossingRequest& request, double log_d) {
  return {plain::exp(log_d), request.weighing,
          request.multiplier * plain::exp(request.d_power * log_d), request.entry_sd};
}

}  // namespace

double pending_work(const ExactMeansTable& table, const CrossingRequest& request) {
  const double first = plain::log(kFirstD);
  const double last = last_log_d(request);
  if (last <= first) return 0;  // under so small a cap no d is looked at
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const double log_d : {first, last}) {
    const QuadratureRule norms = chi_rule(plain::exp(log_d));
    const double per_norm = spread_per_norm(at_d(request, log_d));
    least = std::min(least, per_norm * norms.node.front());
    most = std::max(most, per_norm * norms.node.back());
  }
  return table.pending_work(request.weighing, least, most);
}

bool is_cut_short(const CrossingRequest& request) {
  return request.weighing.softcap == kNoSoftcap && last_log_d(request) < plain::log(kLastD);
}

std::optional<double> exact_crossing(ExactMeansTable& table, const CrossingRequest& request,
                                     double level) {
  const double last = last_log_d(request);
  const double first = plain::log(kFirstD);
  if (last <= first) return std::nullopt;
  const auto above_level = [&](double log_d) {
    return exact_top_weight(table, at_d(request, log_d)) - level;
  };
  // Walk up in d until the sign changes, in steps that all levels share.
  constexpr int kSteps = 24;
  std::vector<double>& walk = table.walk(request);
  const auto log_d_of = [&](std::size_t step) {
    return first + (last - first) * static_cast<double>(step) / kSteps;
  };
  std::size_t step = 0;
  for (;; ++step) {
    if (step > kSteps) return std::nullopt;
    if (step == walk.size()) {
      walk.push_back(exact_top_weight(table, at_d(request, log_d_of(step))));
    }
    if ((walk[step] > level) != (walk[0] > level)) break;
  }
  double low = log_d_of(step - 1);
  double at_low = walk[step - 1] - level;
  double high = log_d_of(step);
  double at_high = walk[step] - level;

  // False position with the Illinois correction: the end that stays loses half its value.
  constexpr double kClose = 1e-11;
  int stayed = 0;
  for (int turn = 0; turn < 100 && high - low > kClose; ++turn) {
    const double middle = (low * at_high - high * at_low) / (at_high - at_low);
    const double value = above_level(middle);
    if (std::abs(value) < 1e-15) return plain::exp(middle);
    if ((value > 0) == (at_low > 0)) {
      low = middle;
      at_low = value;
      if (stayed == 1) at_high *= 0.5;
      stayed = 1;
    } else {
      high = middle;
      at_high = value;
      if (stayed == -1) at_low *= 0.5;
      stayed = -1;
    }
  }
  return plain::exp(0.5 * (low + high));
}

}  // namespace attnscale
