#include "experiment/precision_sets.h"

#include <array>

namespace attnscale {
namespace {

// A product of tensors of one format, summed in float32, and a softmax in float32 whose weights and
// outputs go back to that format.
constexpr PrecisionSteps eager(Precision stored) {
  PrecisionSteps steps;
  steps.entries = steps.product = steps.logit = steps.weight = steps.output = stored;
  steps.product_sum = steps.exponential = steps.sum = Precision::kFloat32;
  return steps;
}

// All in float32, in tiles of keys.
constexpr PrecisionSteps tiled(Precision stored, Precision quantised, Precision product_sum) {
  PrecisionSteps steps;
  steps.entries = stored;
  steps.quantised = quantised;
  steps.product_sum = product_sum;
  steps.product = steps.logit = steps.exponential = steps.sum = Precision::kFloat32;
  steps.weight = steps.output = stored;
  steps.sum_order = SumOrder::kTiles;
  steps.tile_keys = 128;
  return steps;
}

constexpr PrecisionSteps in_float16_key_by_key() {
  PrecisionSteps steps(Precision::kFloat16);
  steps.sum = steps.output = Precision::kFloat16;
  return steps;
}

// Each row stays a few lines.
// clang-format off
constexpr auto kSets = std::to_array<PrecisionSet>({
    {.name = "torch_eager_bf16", .help = "bfloat16 tensors multiplied and scaled, softmax in float32",
     .source = "eager_attention_forward of Hugging Face Transformers' modeling_llama.py",
     .steps = eager(Precision::kBfloat16)},
    {.name = "torch_eager_fp16", .help = "the same of float16 tensors",
     .source = "eager_attention_forward of Hugging Face Transformers' modeling_llama.py",
     .steps = eager(Precision::kFloat16)},
    {.name = "flash_attention",
     .help = "bfloat16 tensors, online softmax in float32 over tiles of 128 keys, rescaled sums",
     .source = "FlashAttention-2, arXiv:2307.08691, algorithm 1; weights are rounded here after "
               "they are divided",
     .steps = tiled(Precision::kBfloat16, Precision::kFloat64, Precision::kFloat32)},
    {.name = "fp8_qk", .help = "the same with queries and keys in E4M3 without a scale, saturated",
     .source = "FlashAttention-3, arXiv:2407.08608, section 3.3; arXiv:2209.05433 for the format",
     .steps = tiled(Precision::kBfloat16, Precision::kSaturatedE4M3, Precision::kFloat32)},
    {.name = "int8_qk",
     .help = "the same with queries and keys in integers of 8 bits, a scale for each of them, and "
             "exact sums",
     .source = "SageAttention, arXiv:2410.02367, per token, without its smoothing of keys",
     .steps = tiled(Precision::kBfloat16, Precision::kInt8Row, Precision::kFloat64)},
    {.name = "sequential_half", .help = "every step in float16, exponentials summed key by key",
     .source = "huggingface/candle issue 3727, sonos/tract PR 2586",
     .steps = in_float16_key_by_key()},
});
// clang-format on

}  // namespace

std::span<const PrecisionSet> precision_sets() {
  return kSets;
}

}  // namespace attnscale
