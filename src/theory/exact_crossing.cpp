#include "theory/exact_crossing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "numerics/portable_math.h"
#include "theory/false_position.h"

namespace attnscale {
namespace {

constexpr double kFirstD = 1;
constexpr double kLastD = 1e12;

}  // namespace

double most_spread(const WeighingCase& weighing) {
  constexpr double kSaturatedCaps = 64;
  constexpr double kMostBentSpread = 128;
  if (is_linear(weighing)) return std::numeric_limits<double>::infinity();
  return weighing.softcap == kNoSoftcap ? kMostBentSpread : kSaturatedCaps * weighing.softcap;
}

double last_log_d(const CrossingRequest& request) {
  const double last = plain::log(kLastD);
  const double growth = request.d_power + 0.5;
  const double per_norm = std::abs(request.multiplier) * request.entry_sd;
  if (is_linear(request.weighing) || growth <= 0 || per_norm == 0) return last;
  return std::min(last, plain::log(most_spread(request.weighing) / per_norm) / growth);
}

ExactRequest at_log_d(const CrossingRequest& request, double log_d) {
  return {plain::exp(log_d), request.weighing,
          request.multiplier * plain::exp(request.d_power * log_d), request.entry_sd};
}

double pending_work(const ExactMeansTable& table, const CrossingRequest& request) {
  const double first = plain::log(kFirstD);
  const double last = last_log_d(request);
  if (last <= first) return 0;  // under so small a cap no d is looked at
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const double log_d : {first, last}) {
    const QuadratureRule norms = chi_rule(plain::exp(log_d));
    const double per_norm = spread_per_norm(at_log_d(request, log_d));
    least = std::min(least, per_norm * norms.node.front());
    most = std::max(most, per_norm * norms.node.back());
  }
  return table.pending_work(request.weighing, least, most);
}

bool is_cut_short(const CrossingRequest& request) {
  return request.weighing.softcap == kNoSoftcap && last_log_d(request) < plain::log(kLastD);
}

std::optional<double> first_crossing(const std::function<double(double)>& value, double level,
                                     Walk& walk) {
  const auto place_of = [&](std::size_t step) {
    return walk.first +
           (walk.last - walk.first) * static_cast<double>(step) / static_cast<double>(walk.steps);
  };
  std::vector<double>& values = walk.values;
  std::size_t step = 0;
  for (;; ++step) {
    if (step > walk.steps) return std::nullopt;
    if (step == values.size()) values.push_back(value(place_of(step)));
    if ((values[step] > level) != (values[0] > level)) break;
  }
  Bracket bracket{place_of(step - 1), values[step - 1] - level, place_of(step),
                  values[step] - level};
  constexpr double kClose = 1e-11;
  for (int turn = 0; turn < 100 && bracket.high - bracket.low > kClose; ++turn) {
    const double middle = bracket.crossing();
    const double found = value(middle) - level;
    if (std::abs(found) < 1e-15) return middle;
    bracket.narrow(middle, found, (found > 0) == (bracket.at_low > 0));
  }
  return 0.5 * (bracket.low + bracket.high);
}

std::optional<double> exact_crossing(ExactMeansTable& table, const CrossingRequest& request,
                                     double level) {
  Walk& walk = table.walk(request);
  walk.last = last_log_d(request);
  if (walk.last <= walk.first) return std::nullopt;
  const auto value = [&](double log_d) {
    return exact_top_weight(table, at_log_d(request, log_d));
  };
  const std::optional<double> log_d = first_crossing(value, level, walk);
  return log_d ? std::optional(plain::exp(*log_d)) : std::nullopt;
}

}  // namespace attnscale
