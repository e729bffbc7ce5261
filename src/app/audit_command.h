// What a user asks an audit: how it is typed, the files opened and checked against each other, and
// what the model means its scores to be multiplied by.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "app/arguments.h"
#include "audit/factor_names.h"
#include "audit/head_cells.h"
#include "io/tensor.h"

namespace attnscale {

/// What the user says.
struct AuditCommand {
  ModelSizes sizes = {};
  std::optional<double> told_d = {};       ///< --d beside files, which have one themselves
  std::optional<double> measured_sd = {};  ///< of what enters the softmax; 0 or more
  double query_sd = 1;                     ///< of an entry
  double key_sd = 1;
  std::optional<double> factor = {};      ///< in place of a spread
  std::optional<std::string> like = {};   ///< what is meant: a preset or a formula
  std::optional<double> multiplier = {};  ///< what is meant, times sqrt(d)
  std::optional<std::string> queries = {}, keys = {}, weights = {}, scores = {};  ///< files
  TensorReading reading = {};
  std::optional<double> masked_below = {};
  bool causal = false;
  bool json = false;
};

// A row takes a line or two.
// clang-format off
inline constexpr std::array kAuditOptions{
    OptionRow{"queries", "FILE", "queries of a layer: .safetensors, .npz (both \"FILE:NAME\"), .npy or .csv"},
    OptionRow{"keys", "FILE", "its keys; heads that queries share are known by their number"},
    OptionRow{"weights", "FILE", "its attention weights"},
    OptionRow{"scores", "FILE", "in place of weights: what enters the softmax; -inf hides a key"},
    OptionRow{"causal", "", "queries see no later keys"},
    OptionRow{"masked-below", "X", "scores down there hide a key, such as -1e4"},
    OptionRow{"layout", "LAYOUT", "heads_first (default) or rows_first: (batch, rows, heads, d)",
              false, "heads_first rows_first"},
    OptionRow{"dtype", "TYPE", "of files that hold bits, such as bfloat16"},
    OptionRow{"like", "PRESET|FORMULA", "what is meant; another factor then ends with exit code 5"},
    OptionRow{"multiplier", "X", "what is meant, as X / sqrt(d)"},
    OptionRow{"d", "N", "head size (default: d-model divided by heads)"},
    OptionRow{"measured-sd", "X",
              "measured spread (standard deviation) of what enters the softmax"},
    OptionRow{"query-sd", "X", "spread of the entries of queries (default 1)"},
    OptionRow{"key-sd", "X", "spread of the entries of keys (default 1)"},
    OptionRow{"factor", "X", "in place of a spread: what q.k is multiplied by"},
    OptionRow{"d-model", "N", "width of the model"},
    OptionRow{"heads", "N", "number of heads that share the width"},
    OptionRow{"kv-heads", "N", "number of heads of keys and values"},
    OptionRow{"padded-d", "N", "head size as padded by a kernel"},
    OptionRow{"value-d", "N", "head size of the values"},
    OptionRow{"latent-d", "N", "size of the latent that keys and values come from"},
    OptionRow{"rope-d", "N", "part of the head size that is rotated"},
    OptionRow{"layers", "N", "number of layers of the model"},
    OptionRow{"layer", "N", "number of the measured layer, from 0"},
    OptionRow{"tokens", "N", "number of keys"},
    OptionRow{"gain", "X", "gain that norms of queries and keys learned"},
    OptionRow{"format", "FORMAT", "table or json (default table)", false, "table json"},
    kHelp};
// clang-format on

/// Throws UserError.
AuditCommand audit_command(const Arguments& arguments);

struct ExpectedLogit {
  std::string name;
  double factor = 1;  ///< of q.k; of cos(q, k) if there is a norm
  std::optional<double> soft_cap = {};
  std::optional<double> sink = {};  ///< its logit
  bool has_norm = false;
  bool is_square = false;  ///< the multiplier of 1/sqrt(d) is a square, as YaRN's m^2
};

/// Of the preset, or of the formula of a logit such as "q.k / sqrt(d)", at that head size and
/// number of keys. Throws UserError for what is neither.
ExpectedLogit expected_logit(const std::string& like, double d, double keys);

/// What presets multiply q.k by at that head size: those that need no number, nor a norm or a cap.
std::vector<NamedFactor> preset_factors(double d, double keys);

/// The tensors that the command names; what they say of the model's sizes goes into the command.
/// Throws UserError.
AuditTensors open_audit_tensors(AuditCommand& command);

}  // namespace attnscale
