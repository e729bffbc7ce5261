#include "app/audit_command.h"

#include <fmt/core.h>

#include <cmath>

namespace attnscale {
namespace {

// The head size, given or as width over heads.
double head_size(const Arguments& arguments, const ModelSizes& sizes) {
  if (const auto given = arguments.whole_number("d", 1, Arguments::kLargestSize)) {
    return static_cast<double>(*given);
  }
  if (!sizes.d_model || !sizes.heads) {
    arguments.refuse(
        "needs --d N, or both --d-model N and --heads N, or the files of --queries, --keys and "
        "--weights");
  }
  const double d = *sizes.d_model / *sizes.heads;
  if (d != std::floor(d)) {
    arguments.refuse(
        fmt::format("--d-model {} is not a multiple of --heads {}; give the head size with --d",
                    *sizes.d_model, *sizes.heads));
  }
  return d;
}

}  // namespace

AuditCommand audit_command(const Arguments& arguments) {
  arguments.no_words();
  AuditCommand audit;
  ModelSizes& sizes = audit.sizes;
  const auto size = [&](const std::string& name, std::int64_t least = 1) {
    const auto number = arguments.whole_number(name, least, Arguments::kLargestSize);
    return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
  };
  sizes.d_model = size("d-model");
  sizes.heads = size("heads");
  sizes.key_heads = size("kv-heads");
  sizes.padded_d = size("padded-d");
  sizes.value_d = size("value-d");
  sizes.latent_d = size("latent-d");
  sizes.rope_d = size("rope-d");
  sizes.layers = size("layers");
  sizes.layer = size("layer", 0);
  sizes.tokens = size("tokens");
  audit.measured_sd =
      arguments.positive_number("measured-sd", "the spread of measured logits, a number above 0");
  audit.query_sd = arguments.positive_number("query-sd", "a number above 0").value_or(1);
  audit.key_sd = arguments.positive_number("key-sd", "a number above 0").value_or(1);
  audit.multiplier = arguments.positive_number("multiplier", "a number above 0");
  audit.factor = arguments.finite_number("factor");
  audit.masked_below = arguments.finite_number("masked-below");
  audit.like = arguments.text("like");
  audit.queries = arguments.text("queries");
  audit.keys = arguments.text("keys");
  audit.weights = arguments.text("weights");
  audit.scores = arguments.text("scores");
  audit.causal = arguments.flag("causal");
  audit.json = arguments.choice<bool>("format", {{"table", false}, {"json", true}});
  audit.reading.layout = arguments.choice<MatrixLayout>(
      "layout",
      {{"heads_first", MatrixLayout::kHeadsFirst}, {"rows_first", MatrixLayout::kRowsFirst}});
  if (const auto dtype = arguments.text("dtype")) {
    audit.reading.dtype = find_number_format(*dtype);
    if (!audit.reading.dtype) {
      arguments.refuse("dtype", *dtype, "bfloat16, float16, float8_e4m3fn or float8_e5m2");
    }
  }
  if (audit.like && audit.multiplier) arguments.refuse("takes --like or --multiplier, not both");
  if (audit.factor && audit.measured_sd)
    arguments.refuse("takes --factor or --measured-sd, not both");
  const bool has_files = audit.queries || audit.keys || audit.weights || audit.scores;
  if (has_files && !audit.queries) arguments.refuse("needs --queries FILE beside the other files");
  if (!has_files) sizes.d = head_size(arguments, sizes);
  return audit;
}

}  // namespace attnscale
