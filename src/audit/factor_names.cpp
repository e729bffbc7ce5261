#include "audit/factor_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "numerics/double_double.h"
#include "numerics/portable_math.h"

namespace attnscale {
namespace {

using Size = std::optional<double>;
using Factor = Size (*)(const ModelSizes&);

struct Row {
  std::string_view name;
  std::string_view formula;
  Factor factor;
};

double per_root(const ModelSizes& s) {
  return 1 / std::sqrt(s.d);
}

// The root of a size and the size itself, where it says more than d does.
template <Size ModelSizes::*size>
Size root(const ModelSizes& s) {
  return s.*size && *(s.*size) != s.d ? Size(1 / std::sqrt(*(s.*size))) : std::nullopt;
}
template <Size ModelSizes::*size>
Size whole(const ModelSizes& s) {
  return s.*size && *(s.*size) != s.d ? Size(1 / *(s.*size)) : std::nullopt;
}

Size width_of_heads(const ModelSizes& s) {  // the model's width, if nobody says it
  if (s.d_model || !s.heads) return std::nullopt;
  return *s.heads * s.d;
}
Size width_over_heads(const ModelSizes& s) {
  if (!s.d_model || !s.heads || *s.d_model / *s.heads == s.d) return std::nullopt;
  return *s.d_model / *s.heads;
}
Size keys_width(const ModelSizes& s) {
  return s.key_heads && s.key_heads != s.heads ? Size(*s.key_heads * s.d) : std::nullopt;
}
Size root_of(Size size) {
  return size ? Size(1 / std::sqrt(*size)) : size;
}
Size one_over(Size size) {
  return size ? Size(1 / *size) : size;
}
Size gain_power(const ModelSizes& s, double power) {
  return s.gain ? Size(plain::power(*s.gain, power) * per_root(s)) : s.gain;
}

// Sources: the issue threads of public models and kernels. Rows of one line each.
// clang-format off
constexpr std::array kRows{
    Row{"never scaled", "q.k", [](const ModelSizes&) { return Size(1); }},
    Row{"scaled twice", "q.k / sqrt(d) / sqrt(d)", [](const ModelSizes& s) { return Size(1 / s.d); }},
    Row{"divided by d, as muP does on purpose", "q.k / d", [](const ModelSizes& s) { return Size(1 / s.d); }},
    Row{"scaled three times", "q.k / d^1.5", [](const ModelSizes& s) { return Size(per_root(s) / s.d); }},
    Row{"root taken twice, or d^-1/4 on one side only", "q.k / d^0.25", [](const ModelSizes& s) { return Size(std::sqrt(per_root(s))); }},
    Row{"multiplied instead of divided", "q.k sqrt(d)", [](const ModelSizes& s) { return Size(std::sqrt(s.d)); }},
    Row{"multiplied by d", "q.k d", [](const ModelSizes& s) { return Size(s.d); }},
    Row{"the gain squared", "gain^2 q.k / sqrt(d)", [](const ModelSizes& s) { return gain_power(s, 2); }},
    Row{"the gain once", "gain q.k / sqrt(d)", [](const ModelSizes& s) { return gain_power(s, 1); }},
    Row{"the gain squared, never scaled", "gain^2 q.k", [](const ModelSizes& s) { return s.gain ? Size(*s.gain * *s.gain) : s.gain; }},
    Row{"exp2 without log2 e", "ln 2 q.k / sqrt(d)", [](const ModelSizes& s) { return Size(std::numbers::ln2 * per_root(s)); }},
    Row{"log2 e before exp", "log2(e) q.k / sqrt(d)", [](const ModelSizes& s) { return Size(std::numbers::log2e * per_root(s)); }},
    Row{"root of width over heads, where the head size is set apart", "q.k / sqrt(d_model/heads)", [](const ModelSizes& s) { return root_of(width_over_heads(s)); }},
    Row{"divided by width over heads, where the head size is set apart", "q.k heads / d_model", [](const ModelSizes& s) { return one_over(width_over_heads(s)); }},
    Row{"root of the model's width", "q.k / sqrt(d_model)", root<&ModelSizes::d_model>},
    Row{"root of the model's width", "q.k / sqrt(heads d)", [](const ModelSizes& s) { return root_of(width_of_heads(s)); }},
    Row{"root of the padded head size", "q.k / sqrt(padded_d)", root<&ModelSizes::padded_d>},
    Row{"root of the values' head size", "q.k / sqrt(value_d)", root<&ModelSizes::value_d>},
    Row{"root of the latent size", "q.k / sqrt(latent_d)", root<&ModelSizes::latent_d>},
    Row{"root of the rope part", "q.k / sqrt(rope_d)", root<&ModelSizes::rope_d>},
    Row{"root of the part without rope", "q.k / sqrt(d - rope_d)", [](const ModelSizes& s) { return s.rope_d && *s.rope_d < s.d ? Size(1 / std::sqrt(s.d - *s.rope_d)) : std::nullopt; }},
    Row{"root of the number of heads", "q.k / sqrt(heads)", root<&ModelSizes::heads>},
    Row{"root of the number of key heads", "q.k / sqrt(kv_heads)", root<&ModelSizes::key_heads>},
    Row{"root of the keys' width", "q.k / sqrt(kv_heads d)", [](const ModelSizes& s) { return root_of(keys_width(s)); }},
    Row{"root of the number of tokens", "q.k / sqrt(tokens)", root<&ModelSizes::tokens>},
    Row{"divided by the model's width", "q.k / d_model", whole<&ModelSizes::d_model>},
    Row{"divided by the model's width", "q.k / (heads d)", [](const ModelSizes& s) { return one_over(width_of_heads(s)); }},
    Row{"divided by the padded head size", "q.k / padded_d", whole<&ModelSizes::padded_d>},
    Row{"divided by the values' head size", "q.k / value_d", whole<&ModelSizes::value_d>},
    Row{"divided by the latent size", "q.k / latent_d", whole<&ModelSizes::latent_d>},
    Row{"divided by the rope part", "q.k / rope_d", whole<&ModelSizes::rope_d>},
    Row{"divided by the number of tokens", "q.k / tokens", whole<&ModelSizes::tokens>},
    Row{"divided by the number of heads", "q.k / heads", whole<&ModelSizes::heads>},
    Row{"divided by the layer too, counted from 0", "q.k / sqrt(d) / (layer + 1)", [](const ModelSizes& s) { return s.layer ? Size(per_root(s) / (*s.layer + 1)) : std::nullopt; }},
    Row{"divided by the layer too, counted from 1", "q.k / sqrt(d) / layer", [](const ModelSizes& s) { return s.layer && *s.layer > 1 ? Size(per_root(s) / *s.layer) : std::nullopt; }},
    Row{"divided by the layer too, the last one", "q.k / sqrt(d) / layers", [](const ModelSizes& s) { return s.layers && *s.layers > 1 ? Size(per_root(s) / *s.layers) : std::nullopt; }},
};
// clang-format on

// What may be done with the multiplier that is meant, which is often a square.
struct MultiplierRow {
  std::string_view name;  // where it is none
  std::string_view name_of_square;
  double power;
};
constexpr std::array kMultiplierRows{
    MultiplierRow{"the multiplier of what is meant missing (q.k / sqrt(d))",
                  "m^2 missing (without the multiplier of what is meant)", 0},
    MultiplierRow{"", "m in place of m^2 (root of the multiplier of what is meant)", 0.5},
    MultiplierRow{"the multiplier of what is meant twice",
                  "m^2 twice: m^4 (the multiplier of what is meant, squared)", 2},
    MultiplierRow{"", "m^3 (the multiplier of what is meant, to the power of 1.5)", 1.5},
    MultiplierRow{"the multiplier of what is meant upside down",
                  "divided by m^2 (the multiplier of what is meant, upside down)", -1},
};

struct Candidate {
  std::string name;
  double factor;
  bool is_meant = false;
  bool is_guess = false;  // of a size that nobody gave: only where nothing else fits
};

std::string with_formula(std::string_view name, std::string_view formula) {
  return fmt::format("{} ({})", name, formula);
}

std::vector<Candidate> candidates(const ModelSizes& s) {
  std::vector<Candidate> all;
  all.push_back({s.meant == 1 && s.meant_name == "1/sqrt(d)"
                     ? "as 1/sqrt(d) would give"
                     : fmt::format("as {} would give", s.meant_name),
                 s.meant * per_root(s), true});
  for (const MultiplierRow& row : kMultiplierRows) {
    const std::string_view name = s.is_meant_square ? row.name_of_square : row.name;
    if (s.meant == 1 || s.meant <= 0 || name.empty()) continue;
    all.push_back({std::string(name), plain::power(s.meant, row.power) * per_root(s)});
  }
  for (const Row& row : kRows) {
    const Size factor = row.factor(s);
    if (factor) all.push_back({with_formula(row.name, row.formula), *factor});
  }
  const double named = s.layers.value_or(1);
  for (double layer = 2; layer < named; ++layer) {
    all.push_back({with_formula(fmt::format("divided by the layer too, layer {} of {} counted from "
                                            "0",
                                            layer - 1, named),
                                "q.k / sqrt(d) / (layer + 1)"),
                   per_root(s) / layer, false, true});
  }
  // The same mistakes on top of the multiplier that is meant.
  if (s.meant != 1) {
    const std::size_t plain = all.size();
    for (std::size_t i = 1; i < plain; ++i) {
      all.push_back({"with the multiplier of what is meant, " + all[i].name,
                     all[i].factor * s.meant, false, true});
    }
  }
  for (const double size : {16.,  24.,  32.,  40.,  48.,  56.,  64.,  72.,  80.,  88.,
                            96.,  112., 120., 128., 144., 160., 168., 176., 192., 208.,
                            224., 256., 288., 320., 384., 448., 512., 576., 768., 1024.}) {
    if (size == s.d) continue;
    all.push_back({fmt::format("a factor made for another head size, {0} (q.k / sqrt({0}))", size),
                   1 / std::sqrt(size), false, true});
    all.push_back({fmt::format("a factor made for another head size, {0} (q.k / {0})", size),
                   1 / size, false, true});
  }
  for (const NamedFactor& preset : s.presets) {
    all.push_back(
        {fmt::format("as the preset {} has it", preset.name), preset.factor, false, true});
    if (!preset.is_square || s.meant != 1) continue;
    all.push_back({fmt::format("m in place of m^2, which the preset {} has", preset.name),
                   std::sqrt(preset.factor * per_root(s)), false, true});
  }
  return all;
}

}  // namespace

double factor_distance(double factor, double explanation) {
  const double ratio = factor / explanation;
  return ratio > 0 ? std::abs(plain::log(ratio)) : std::numeric_limits<double>::infinity();
}

std::vector<FactorName> factor_names(const ModelSizes& sizes, double factor, double tolerance) {
  std::vector<Candidate> all = candidates(sizes);
  const std::size_t known = all.size();
  for (std::size_t i = 0; i < known; ++i) {
    if (all[i].is_guess) continue;
    all.push_back({"with the sign turned, " + all[i].name, -all[i].factor});
  }
  std::ranges::stable_sort(all, [&](const Candidate& a, const Candidate& b) {
    // What is within the tolerance keeps the order of the table, guesses last.
    const double near_a = std::max(factor_distance(factor, a.factor), tolerance);
    const double near_b = std::max(factor_distance(factor, b.factor), tolerance);
    return near_a != near_b ? near_a < near_b : !a.is_guess && b.is_guess;
  });
  std::vector<FactorName> names;
  for (const Candidate& one : all) {
    const bool is_twin = !names.empty() && factor_distance(names.back().factor, one.factor) < 1e-9;
    if (!is_twin) {
      names.push_back({one.name, one.factor, one.is_guess, one.is_meant});
    } else if (one.is_guess == names.back().is_guess && !names.back().is_meant) {
      names.back().name += "; or " + one.name;
    }
  }
  return names;
}

std::vector<FactorName> cosine_names(const ModelSizes& sizes, double factor, bool meant) {
  std::vector<FactorName> names;
  if (meant) {
    names.push_back({fmt::format("as {} would give", sizes.meant_name),
                     sizes.meant * per_root(sizes), false, true});
  }
  names.push_back({"as cos(q, k) would give", 1, false, false});
  names.push_back({"as rms(q).rms(k) / sqrt(d) would give", std::sqrt(sizes.d), false, false});
  names.push_back({"as rms(q).rms(k) would give", sizes.d, false, false});
  std::ranges::stable_sort(
      names, {}, [&](const FactorName& one) { return factor_distance(factor, one.factor); });
  return names;
}

}  // namespace attnscale
