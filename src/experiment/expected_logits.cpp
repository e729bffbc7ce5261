#include "experiment/expected_logits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "draw/entry_moments.h"
#include "numerics/unit.h"

namespace attnscale {
namespace {

constexpr double kDeviations = 5;  // to either side of the centre, that logits are expected within

// Of a vector of so many entries.
double expected_squared_norm(const Entries& entries, Law EntriesBlock::*side, double width) {
  double norm = 0;
  for (const EntriesBlock& block : blocks_of(entries, static_cast<std::int64_t>(width))) {
    const EntryMoments entry = entry_moments(block.*side, 0);
    norm += static_cast<double>(block.d) * (entry.mean * entry.mean + entry.sd * entry.sd);
  }
  return norm;
}

// Spread of the product after the norm, and the most that it can be.
struct Reach {
  double sd;
  double most;
};

Reach reach_of(const FormulaProgram& program, const Draw& draw) {
  const double root = std::sqrt(static_cast<double>(draw.d));
  switch (program.norm()) {
    case VectorNorm::kNone:
      return {score_moments(draw.entries, draw.d, draw.keys).sd,
              std::numeric_limits<double>::infinity()};
    case VectorNorm::kUnit:
      return {1 / root, 1};
    default:
      return {root, std::sqrt(program.query_width() * program.key_width())};
  }
}

}  // namespace

FormulaSize size_of(const Draw& draw) {
  const auto keys = static_cast<double>(draw.keys);
  return {static_cast<double>(draw.d), keys, keys - 1};
}

double logit_centre(const FormulaProgram& program, const Draw& draw) {
  const double score = score_moments(draw.entries, draw.d, draw.keys).mean;
  const double query_norm =
      expected_squared_norm(draw.entries, &EntriesBlock::queries, program.query_width());
  const double key_norm =
      expected_squared_norm(draw.entries, &EntriesBlock::keys, program.key_width());
  const double no_sum = 0;
  double logit = 0;
  program.evaluate({{&score, 1},
                    1,
                    std::floor(static_cast<double>(draw.keys) / 2),
                    {&query_norm, 1},
                    {&key_norm, 1},
                    {&no_sum, 1},
                    {&no_sum, 1}},
                   Precision::kFloat64, {&logit, 1});
  return logit;
}

LogitRange expected_logits(const Formula& logit, const Draw& draw) {
  const FormulaProgram program(logit, size_of(draw));
  const Reach scores = reach_of(program, draw);
  const double centre = logit_centre(program, draw);
  if (const auto capped = capped_logit(logit, size_of(draw))) {
    const double factor = std::abs(capped->slope.at(static_cast<double>(draw.d)));
    double sd = scores.sd * factor;
    double most = scores.most * factor;
    if (capped->cap) {
      most = capped->cap->at(static_cast<double>(draw.d));
      sd = std::min(sd, most);
    }
    const double reach = kDeviations * sd;
    return {std::max(centre - reach, -most), std::min(centre + reach, most)};
  }
  const double reach = std::min(kDeviations * scores.sd, scores.most);
  const double middle =
      program.norm() == VectorNorm::kNone ? score_moments(draw.entries, draw.d, draw.keys).mean : 0;
  LogitRange range{centre, centre};
  constexpr int kSteps = 64;
  for (const double j : {0.0, static_cast<double>(draw.keys - 1)}) {
    for (int step = -kSteps; step <= kSteps; ++step) {
      const double end = program.at(middle + reach * step / kSteps, j);
      if (!std::isfinite(end)) continue;
      range = {std::min(range.low, end), std::max(range.high, end)};
    }
  }
  return range;
}

PowerScale power_scale(const Formula& logit, const Draw& draw) {
  Draw of_two_keys = draw;
  of_two_keys.keys = 2;
  const double sd = expected_logit_sd(logit, of_two_keys);
  const double centre = logit_centre(FormulaProgram(logit, size_of(draw)), draw);
  return {centre, sd > 0 ? unit_of(sd) : 1};
}

double expected_logit_sd(const Formula& logit, const Draw& draw) {
  if (const auto capped = capped_logit(logit, size_of(draw))) {
    const auto d = static_cast<double>(draw.d);
    const Reach scores = reach_of(FormulaProgram(logit, size_of(draw)), draw);
    const double sd = scores.sd * std::abs(capped->slope.at(d));
    return capped->cap ? std::min(sd, capped->cap->at(d)) : sd;
  }
  const LogitRange range = expected_logits(logit, draw);
  return (range.high - range.low) / (2 * kDeviations);
}

}  // namespace attnscale
