#include "app/audit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "audit/row_sums.h"
#include "audit/tensor_audit.h"
#include "io/json_text.h"
#include "numerics/portable_math.h"
#include "report/number_text.h"
#include "report/screen_table.h"

namespace attnscale {
namespace {

// A spread from a few hundred scores is not known better than this.
constexpr double kNearSpread = 0.05;
constexpr double kNearFactor = 5e-4;

std::string short_number(double number) {
  return rounded_short(number, 4);
}

void set_meant(AuditCommand& command, const std::optional<ExpectedLogit>& expected) {
  command.sizes.presets = preset_factors(command.sizes.d, command.sizes.tokens.value_or(1));
  const double root = std::sqrt(command.sizes.d);
  if (expected) {
    command.sizes.meant = expected->factor * root;
    command.sizes.meant_name = *command.like;
    command.sizes.is_meant_square = expected->is_square;
    if (std::abs(command.sizes.meant - 1) < 1e-12) command.sizes.meant = 1;
  } else if (command.multiplier) {
    command.sizes.meant = *command.multiplier;
    command.sizes.meant_name = fmt::format("{:.6g}/sqrt(d)", *command.multiplier);
  }
}

double meant_factor(const ModelSizes& sizes) {
  return sizes.meant / std::sqrt(sizes.d);
}

// "1/128.0", where that is shorter to read than the decimal.
std::string as_fraction(double factor) {
  if (std::abs(factor) < 1e-9 || std::abs(factor) >= 1) return "";
  const std::string_view sign = factor < 0 ? "-" : "";
  return fmt::format(" = {0}1/{1}, {0}1/sqrt({2})", sign, rounded_short(1 / std::abs(factor), 5),
                     rounded_short(1 / factor / factor, 5));
}

// "0.6291 of what is meant, or that / 1.59".
std::string over_meant(double factor, const ModelSizes& sizes) {
  const double ratio = factor / meant_factor(sizes);
  std::string text = fmt::format("{} of {}", short_number(ratio), sizes.meant_name);
  if (ratio > 0.01 && ratio < 0.9999) {
    text += fmt::format(", which is {} times it", rounded_short(1 / ratio, 5));
  }
  return text;
}

std::string which_d(const ModelSizes& sizes) {
  std::string text = fmt::format("Which d? The head size {}", sizes.d);
  const bool is_quotient = sizes.d_model && sizes.heads && *sizes.d_model / *sizes.heads == sizes.d;
  if (is_quotient) text += fmt::format(" ({} over {} heads)", *sizes.d_model, *sizes.heads);
  if (sizes.d_model && *sizes.d_model != sizes.d) {
    text += fmt::format(", not the model's width {}", *sizes.d_model);
  }
  return text +
         fmt::format(": divide q.k by sqrt({}) = {}.\n", sizes.d, short_number(std::sqrt(sizes.d)));
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

std::string numbers_json(const AuditCommand& command, double factor,
                         const std::vector<FactorName>& names, bool is_explained) {
  std::string text = fmt::format(
      "{{\"explained\": {}, \"factor\": {:.9g}, \"over_meant\": {:.6g}, "
      "\"names\": [",
      is_explained, factor, factor / meant_factor(command.sizes));
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 5); ++i) {
    text +=
        fmt::format("{}{{\"name\": {}, \"factor\": {:.9g}, \"ratio\": {:.6g}}}", i == 0 ? "" : ", ",
                    quote(names[i].name), names[i].factor, factor / names[i].factor);
  }
  return text + "]}\n";
}

// What is against the factor that the user says is meant.
bool is_against(const AuditCommand& command, const FactorName& name) {
  return (command.like || command.multiplier) && !name.is_meant;
}

std::optional<ExpectedLogit> expected_of(const AuditCommand& command) {
  if (!command.like) return std::nullopt;
  return expected_logit(*command.like, command.sizes.d, command.sizes.tokens.value_or(1));
}

Answer audit_numbers(AuditCommand& command, std::size_t width) {
  const std::optional<ExpectedLogit> expected = expected_of(command);
  if (expected && expected->has_norm) {
    throw UserError(fmt::format(
        "attnscale audit: --like \"{}\" has a norm, so that no factor of q.k is meant; give the "
        "files of --queries, --keys and --weights",
        *command.like));
  }
  set_meant(command, expected);
  const ModelSizes& sizes = command.sizes;
  const double sd = std::sqrt(sizes.d) * command.query_sd * command.key_sd;
  if (!command.factor && !command.measured_sd) {
    const double factor = meant_factor(sizes);
    return {fmt::format("{}\nA spread of {} is then expected, with entries of spread {} and {}; "
                        "give the measured one with --measured-sd.\n",
                        which_d(sizes), short_number(factor * sd), short_number(command.query_sd),
                        short_number(command.key_sd)),
            ExitCode::kDone};
  }
  const double factor = command.factor.value_or(command.measured_sd.value_or(0) / sd);
  if (!std::isfinite(factor)) {
    throw UserError("attnscale audit: these spreads make a factor that no float64 holds");
  }
  const double near = command.factor ? 2e-3 : plain::log1p(kNearSpread);
  std::vector<FactorName> names = factor_names(sizes, factor, 1e-9);
  // Sizes that nobody gave are so many that only an exact one means something.
  constexpr double kNearGuess = 5e-3;
  std::erase_if(names, [&](const FactorName& one) {
    return one.is_guess && factor_distance(factor, one.factor) > kNearGuess;
  });
  const bool is_zero = factor == 0;
  const bool is_explained = is_zero || factor_distance(factor, names.front().factor) <= near;
  const bool is_good = is_explained && (is_zero || !is_against(command, names.front()));
  const ExitCode code = is_good ? ExitCode::kDone : ExitCode::kMismatch;
  if (command.json) return {numbers_json(command, factor, names, is_explained), code};
  std::string text;
  if (is_zero) {
    text = "A factor of 0: weights do not depend on q.k.\n";
  } else if (is_explained) {
    text = capital(names.front().name) + ".\n";
  } else {
    text = "No usual mistake explains it; the nearest are below.\n";
  }
  text += fmt::format("  factor     {:.6g}{}; {}\n", factor, as_fraction(factor),
                      over_meant(factor, sizes));
  if (!command.factor) {
    text += fmt::format(
        "  spread     {} measured, with entries of spread {} (queries) and {} (keys)"
        "\n",
        short_number(*command.measured_sd), short_number(command.query_sd),
        short_number(command.key_sd));
  }
  const auto near_count = static_cast<std::size_t>(std::ranges::count_if(
      names, [&](const FactorName& one) { return factor_distance(factor, one.factor) <= near; }));
  if (near_count > 1) {
    text += fmt::format("  {} more are within {:.2g} %: one measurement does not tell them apart\n",
                        near_count - 1, 100 * near);
  }
  text += "  " + which_d(sizes) + "\n";
  ScreenTable screen;
  screen.header = {"what was done", command.factor ? "factor" : "spread", "found / this"};
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 5); ++i) {
    screen.rows.push_back({names[i].name,
                           short_number(command.factor ? names[i].factor : names[i].factor * sd),
                           short_number(factor / names[i].factor)});
  }
  return {text + to_text(screen, std::max<std::size_t>(width, 160)), code};
}

// The first line: what is beside the factor, then the factor's name.
std::string headline(const TensorAudit& found, const std::string& name) {
  std::vector<std::string> parts = found.findings;
  if (!name.empty()) parts.push_back(name);
  return capital(join(parts, "; ")) + "\n";
}

std::string tensors_json(const TensorAudit& found, const std::vector<FactorName>& names,
                         const ModelSizes& sizes, bool is_explained) {
  const auto optional = [](const std::optional<double>& number) {
    return number ? fmt::format("{:.9g}", *number) : std::string("null");
  };
  return fmt::format(
      "{{\"explained\": {}, \"factor\": {:.9g}, \"factor_error\": {:.3g}, \"over_meant\": {:.6g}, "
      "\"name\": {}, \"softcap\": {}, \"sink\": {}, \"row_sum\": {}, \"residual\": {:.4g}, "
      "\"residual_is\": {}, \"mask\": {}, \"heads\": {}, \"findings\": {}}}\n",
      is_explained, found.factor, found.factor_error, found.factor / meant_factor(sizes),
      quote(names.front().name), optional(found.soft_cap), optional(found.sink),
      optional(found.sums), found.residual, quote(found.residual_words), quote(found.mask_words),
      list_text(found.head_factors, [](double one) { return fmt::format("{:.9g}", one); }),
      list_text(found.findings, quote));
}

TensorAudit audit_or_refuse(const AuditTensors& tensors) {
  try {
    return audit_tensors(tensors);
  } catch (const std::invalid_argument& error) {
    throw UserError(fmt::format("attnscale audit: {}", error.what()));
  }
}

// Whether what was found beside the factor is what the user says is meant: no more, and no less,
// as far as the weights would show it.
bool is_as_meant(const ExpectedLogit& expected, bool are_weights, TensorAudit& found) {
  std::size_t meant = 0;
  const std::size_t before = found.findings.size();
  const double visible = 3 * std::max(found.residual, 1e-7);
  if (expected.soft_cap) {
    const double cap = *expected.soft_cap;
    const double bent = found.largest * found.largest / (3 * cap * cap) * found.largest;
    if (found.soft_cap) {
      const double allowed = std::max(0.02 * cap, 4 * found.soft_cap_error);
      meant += std::abs(*found.soft_cap - cap) < allowed ? 1 : 0;
    } else if (bent > visible) {
      found.findings.push_back(fmt::format("no soft-cap of {}", short_number(cap)));
    }
  }
  if (expected.sink && are_weights) {
    if (found.rows_summed.empty()) {
      found.findings.emplace_back("the weights are too coarse to tell of a sink");
    } else if (fits_sink(found, *expected.sink)) {
      found.sums = {};
      found.sum_finding.clear();
      found.are_sums_explained = true;
    } else if (!found.sink) {
      found.findings.push_back(
          fmt::format("no sink with the logit {}", short_number(*expected.sink)));
    }
  }
  if (expected.has_norm) {
    if (found.uses_cosines) {
      ++meant;
    } else if (found.cosine_residual <= 1.5 * found.residual) {
      found.uses_cosines = true;  // of vectors that all have one length
      found.factor = found.cosine_factor;
    } else {
      found.findings.emplace_back("queries and keys are not normalised");
    }
  }
  return found.findings.size() == before && before == meant && found.sum_finding.empty();
}

// What is said of the factor.
struct SaidName {
  std::string name;
  bool is_named = false;
  bool is_meant = false;  // it is what the user says is meant
};

// What is before the softmax elsewhere, and here after it.
std::string after_softmax(double sum, const ModelSizes& sizes) {
  constexpr double kNear = 5e-3;
  const FactorName nearest = factor_names(sizes, sum, kNear).front();
  const std::string fraction = "1/" + rounded_short(1 / sum, 4);
  const bool is_named = factor_distance(sum, nearest.factor) <= kNear && std::abs(sum - 1) > 0.05;
  return fmt::format("scaled after the softmax: rows of weights sum to {}{}",
                     as_fraction(sum).empty() ? short_number(sum) : fraction,
                     is_named ? ": " + nearest.name : "");
}

// `names` are those of the factor, the nearest first.
SaidName name_of(TensorAudit& found, const std::vector<FactorName>& names, const ModelSizes& sizes,
                 double tolerance) {
  const FactorName& nearest = names.front();
  const bool is_named = factor_distance(found.factor, nearest.factor) <= tolerance;
  if (!found.is_told) return {};
  if (found.is_zero &&
      found.resolution > 0.5 * found.score_spread * std::abs(meant_factor(sizes))) {
    found.is_told = false;
    found.findings.push_back(fmt::format(
        "nothing can be told: weights are alike as far as they are written, and {} would make "
        "them so too",
        sizes.meant_name));
    return {};
  }
  if (found.is_zero) return {"a factor of 0: weights do not depend on q.k", true};
  if (found.sums) {
    found.findings.push_back(after_softmax(*found.sums, sizes));
    if (found.sink) {
      found.findings.back() += fmt::format(", or a sink with the logit {:.3g}", *found.sink);
    }
    return {is_named ? "before it " + nearest.name : "", is_named};
  }
  if (found.factor_by_head) return {"", true};
  if (is_named) return {nearest.name, true, nearest.is_meant};
  return {fmt::format("a factor of {:.6g}, which no usual mistake explains", found.factor)};
}

Answer audit_tensor_files(AuditCommand& command) {
  AuditTensors tensors = open_audit_tensors(command);
  const std::optional<ExpectedLogit> expected = expected_of(command);
  set_meant(command, expected);
  if (expected) tensors.soft_cap = expected->soft_cap;
  TensorAudit found = audit_or_refuse(tensors);
  const ModelSizes& sizes = command.sizes;
  const bool is_as_said = expected ? is_as_meant(*expected, tensors.are_weights, found)
                                   : found.findings.empty() && found.sum_finding.empty();
  if (!found.sum_finding.empty()) found.findings.push_back(found.sum_finding);
  const double factor = found.factor;
  const double tolerance = std::max(kNearFactor, 6 * found.factor_error / std::abs(factor));
  const std::vector<FactorName> names =
      found.uses_cosines ? cosine_names(sizes, factor, expected && expected->has_norm)
                         : factor_names(sizes, factor, tolerance);
  auto [name, is_named, is_meant] = name_of(found, names, sizes, tolerance);
  const bool differs = !is_meant || !is_as_said;
  const bool says_meant = command.like || command.multiplier;
  const bool is_explained =
      is_named && found.is_explained && found.are_sums_explained && found.residual_is_explained;
  const ExitCode code =
      is_explained && !(says_meant && differs) ? ExitCode::kDone : ExitCode::kMismatch;
  if (!found.residual_is_explained && found.is_told) {
    name = fmt::format(
        "not explained: a straight line of the logits on q.k leaves {:.3g} of a "
        "logit{}{}",
        found.residual, name.empty() ? "" : "; its factor is ", name);
  }
  if (command.json) return {tensors_json(found, names, sizes, is_explained), code};
  std::string text = headline(found, name);
  const auto [low, high] = std::ranges::minmax(found.head_factors);
  text +=
      fmt::format("  factor     {:.5g} +- {:.1g} (heads {:.5g} to {:.5g}){}; {}\n", factor,
                  found.factor_error, low, high, as_fraction(factor), over_meant(factor, sizes));
  text += fmt::format("  layer      {}; {} queries, {} keys{}\n", found.head_words,
                      tensors.queries.rows, tensors.keys.rows,
                      found.rows < tensors.queries.rows
                          ? fmt::format("; {} queries of each head were looked at", found.rows)
                          : "");
  text += fmt::format("  mask       {}\n", found.mask_words);
  if (!found.sum_words.empty()) text += fmt::format("  sums       {}\n", found.sum_words);
  text += fmt::format("  residual   {:.2g} of a logit, {}\n", found.residual, found.residual_words);
  if (!is_named && found.is_told) {
    for (std::size_t i = 0; i < 3; ++i) {
      text += fmt::format("  nearest    {}: {} of it\n", names[i].name,
                          short_number(factor / names[i].factor));
    }
  }
  return {text, code};
}

}  // namespace

Answer audit(AuditCommand command, std::size_t width) {
  return command.queries ? audit_tensor_files(command) : audit_numbers(command, width);
}

}  // namespace attnscale
