#include "experiment/presets.h"

#include <algorithm>

#include "formula/parse.h"

namespace attnscale {
namespace {

constexpr double kMostPosition = 1e12;
constexpr PresetParameter kPosition{"position", 0, kMostPosition,
                                    "position of the query's token, from 0"};
constexpr PresetParameter kFactor40{"factor", 1, 1e6, "how many times longer the context became",
                                    "40"};
constexpr PresetParameter kCap50{"cap", 1e-9, 1e9, "where logits end", "50"};
constexpr PresetParameter kCap30{"cap", 1e-9, 1e9, "where logits end", "30"};

// Each row stays a few lines: its name and what it is, its source, its formula, its numbers.
// clang-format off
constexpr auto kPresets = std::to_array<PresetRow>({
    {"none", "the raw score", "what the lesson starts from", "q.k"},
    {"div_sqrt_d", "the transformer's rule", "Vaswani et al. 2017, 3.2.1", "q.k / sqrt(d)"},
    {"div_d", "as in muP; a common slip elsewhere", "Yang et al. 2022, arXiv 2203.03466", "q.k / d"},
    {"div_cbrt_d", "the cube root of d: between no scaling and the transformer's rule",
     "songjunxi.com, among roots that it compares", "q.k / cbrt(d)"},
    {"quarter_powers", "d^-1/4 on q and on k: 1/sqrt(d) that does not overflow early",
     "OpenAI's diffusion U-Nets, guided-diffusion issue 38", "(q / sqrt(sqrt(d))).(k / sqrt(sqrt(d)))"},
    {"mup", "muP as its package writes it: 1/sqrt(d) at d = 64", "microsoft/mup README at 1981497",
     "8 q.k / d"},
    {"mutransformers", "muP with its attention multiplier", "microsoft/mutransformers at 480287c",
     "attn_mult q.k / d",
     {{{"attn_mult", 1e-6, 1e6, "what q.k / d is multiplied by; sqrt(d) there, unless it is said"}}}},
    {"granite3_8b", "1/128, which is 1/d for its heads of 128",
     "config of ibm-granite/granite-3.1-8b-instruct", "0.0078125 q.k", {}, {}, {}, 128},
    {"granite3_2b", "1/64, which is 1/d for its heads of 64",
     "config of ibm-granite/granite-3.1-2b-instruct", "0.015625 q.k", {}, {}, {}, 64},
    {"gemma2_2b", "1/sqrt(256) for heads of 256, and a soft-cap of 50",
     "google/gemma_pytorch gemma/config.py at 014acb7", "cap tanh(q.k / sqrt(256) / cap)", {kCap50}, {}, {}, 256},
    {"gemma2_9b", "the same: 1/sqrt(256) for heads of 256, and a soft-cap of 50",
     "google/gemma_pytorch gemma/config.py at 014acb7", "cap tanh(q.k / sqrt(256) / cap)", {kCap50}, {}, {}, 256},
    {"gemma2_27b", "1/sqrt(144) for heads of 128, and a soft-cap of 50",
     "google/gemma_pytorch gemma/config.py at 014acb7", "cap tanh(q.k / sqrt(144) / cap)", {kCap50}, {}, {}, 128},
    {"gemma3_4b", "1/sqrt(256) for heads of 256, after RMS norm of q and k; 1b and 12b alike",
     "google/gemma_pytorch gemma/config.py at 014acb7", "rms(q).rms(k) / sqrt(256)", {}, {}, {}, 256},
    {"gemma3_27b", "1/sqrt(168) for heads of 128, after RMS norm of q and k",
     "google/gemma_pytorch gemma/config.py at 014acb7", "rms(q).rms(k) / sqrt(168)", {}, {}, {}, 128},
    {"gemma4", "1 after RMS norm of q and k, whose gains are learned",
     "huggingface/transformers issue 45676, mlc-ai/mlc-llm PR 3485", "rms(q).rms(k)"},
    {"qwen3", "RMS norm of q and k in each head, then 1/sqrt(d)",
     "Qwen3's code in huggingface/transformers", "rms(q).rms(k) / sqrt(d)"},
    {"qwen1", "1/sqrt(d) and log n beyond the length of training",
     "QwenLM/Qwen issue 42, vllm-project/vllm PR 44136", "max(1, ln(keys) / ln(length)) q.k / sqrt(d)",
     {{{"length", 2, kMostPosition, "tokens in training", "2048"}}}},
    {"olmo2", "RMS norm of all heads together, then 1/sqrt(d)", "OLMo 2's code in huggingface/transformers",
     "rms(q, width).rms(k, key_width) / sqrt(d)",
     {{{"width", 1, 4294967296, "numbers in the queries of all heads, here of 7B", "4096"},
       {"key_width", 1, 4294967296, "numbers in the keys of all heads", "4096"}}}},
    {"minimax_m2", "RMS norm of all heads together, 48 of queries and 8 of keys, then 1/sqrt(d)",
     "config of MiniMaxAI/MiniMax-M2", "rms(q, width).rms(k, key_width) / sqrt(d)",
     {{{"width", 1, 4294967296, "numbers in the queries of all heads", "6144"},
       {"key_width", 1, 4294967296, "numbers in the keys of all heads", "1024"}}}},
    {"vit22b", "LayerNorm of q and k, then 1/sqrt(d)", "Dehghani et al. 2023, arXiv 2302.05442",
     "layer(q).layer(k) / sqrt(d)"},
    {"command_r_plus", "LayerNorm of q and k in each head, then 1/sqrt(d)",
     "Cohere's code in huggingface/transformers", "layer(q).layer(k) / sqrt(d)"},
    {"alibi", "1/sqrt(d), less a slope times the distance", "Press et al. 2022, arXiv 2108.12409",
     "q.k / sqrt(d) - slope (i - j)",
     {{{"slope", 0, 1e6, "of the head: of 8 heads 1/2, 1/4 and so on to 1/256"}}}},
    {"falcon_h1", "1/sqrt(d), with keys times a number of the model's",
     "Falcon-H1's code in huggingface/transformers", "q.(key_multiplier k) / sqrt(d)",
     {{{"key_multiplier", 1e-6, 1e6, "of the model's config, such as 0.390625"}}}},
    {"phi3_128k", "LongRoPE: 1/sqrt(d) and 1 + ln(factor) / ln(length)",
     "microsoft/LongRoPE issue 21, ggml-org/llama.cpp PR 7225", "(1 + ln(factor) / ln(length)) q.k / sqrt(d)",
     {{{"factor", 1, 1e6, "how many times longer the context became", "32"},
       {"length", 2, kMostPosition, "tokens before", "4096"}}}},
    {"grok1", "1/sqrt(128) and a soft-cap of 30", "xai-org/grok-1 model.py and run.py at 7050ed2",
     "cap tanh(q.k / sqrt(128) / cap)", {kCap30}, {}, {}, 128},
    {"grok2", "1/sqrt(d), a soft-cap of 30, then warmer far into the text",
     "sgl-project/sglang issue 32942 and PR 32943",
     "ln(max(position, start)) / ln(start) * cap tanh(q.k / sqrt(d) / cap)",
     {{kPosition, {"start", 2, kMostPosition, "position from which on it gets warmer", "1024"}, kCap30}}},
    {"gpt_neo", "no scaling", "huggingface/transformers issue 20828", "q.k"},
    {"t5", "no scaling: 1/sqrt(d) is in how W_q starts, so draw queries with sd 1/sqrt(d)",
     "dmlc/gluon-nlp PR 1482", "q.k"},
    {"inverse_layer", "1/sqrt(d) and 1/(layer + 1)",
     "GPT-2 in Mistral, stanford-crfm/mistral PR 77", "1 / (layer + 1) * q.k / sqrt(d)",
     {{{"layer", 0, 1e6, "number of the layer, from 0"}}}},
    {"qknorm", "cosines times a learned gain, at its start log2(L^2 - L)",
     "Henry et al. 2020, arXiv 2010.04245", "log2(length (length - 1)) cos(q, k)",
     {{{"length", 2, kMostPosition, "typical length of a sequence, L"}}}},
    {"swin2", "cosines over a learned temperature",
     "microsoft/Swin-Transformer swin_transformer_v2.py at f82860b", "1 / tau * cos(q, k)",
     {{{"tau", 0.01, 1e3, "temperature, at least 0.01; 0.1 at the start of training"}}}},
    {"ssmax", "scalable softmax: 1/sqrt(d) and s ln(keys)", "arXiv 2501.19399",
     "s ln(keys) q.k / sqrt(d)", {{{"s", -1e3, 1e3, "learned strength; 0.43 in the paper"}}}},
    {"log_keys", "1/sqrt(d) and ln(keys)", "Chiang and Cholak 2022, ACL", "ln(keys) q.k / sqrt(d)"},
    {"log_512", "1/sqrt(d) and log_512(keys): entropy invariance as it is used",
     "Su, kexue.fm 8823 and 9034", "ln(keys) / ln(512) * q.k / sqrt(d)"},
    {"entropy_invariant", "kappa ln(keys) / d", "Su, kexue.fm 8823", "kappa ln(keys) q.k / d",
     {{{"kappa", 1e-6, 1e6, "strength; sqrt(d) / ln(512) gives log_512"}}}},
    {"llama4", "1/sqrt(d), warmer far into the text; in layers without RoPE",
     "Llama 4's code in huggingface/transformers",
     "(1 + beta ln(1 + floor((position + 1) / length))) q.k / sqrt(d)",
     {{kPosition, {"length", 1, kMostPosition, "tokens from one step to the next", "8192"},
       {"beta", -1e3, 1e3, "strength", "0.1"}}}},
    {"ministral3", "Llama 4's rule without the 1 on the position", "huggingface/transformers PR 44860",
     "(1 + beta ln(1 + floor(position / length))) q.k / sqrt(d)",
     {{kPosition, {"length", 1, kMostPosition, "tokens from one step to the next", "16384"},
       {"beta", -1e3, 1e3, "strength", "0.1"}}}},
    {"yarn", "1/sqrt(d) and (0.1 mscale ln(factor) + 1)^2", "arXiv 2309.00071, jquesnelle/yarn at 995db5b",
     "(0.1 mscale ln(factor) + 1)^2 q.k / sqrt(d)",
     {{{"factor", 1, 1e6, "how many times longer the context became, s"},
       {"mscale", -1e3, 1e3, "strength", "1"}}}},
    {"deepseek_v2", "YaRN of 40 times the context, with 0.0707 in place of 0.1",
     "DeepSeek-V2, arXiv 2405.04434, 3.1.4", "(0.1 mscale ln(factor) + 1)^2 q.k / sqrt(d)",
     {{kFactor40, {"mscale", -1e3, 1e3, "strength", "0.707"}}}},
    {"deepseek_v2_lite", "the same: YaRN of 40 times the context, with 0.0707 in place of 0.1",
     "config of deepseek-ai/DeepSeek-V2-Lite", "(0.1 mscale ln(factor) + 1)^2 q.k / sqrt(d)",
     {{kFactor40, {"mscale", -1e3, 1e3, "strength", "0.707"}}}},
    {"deepseek_v3", "YaRN of 40 times the context", "config of deepseek-ai/DeepSeek-V3",
     "(0.1 mscale ln(factor) + 1)^2 q.k / sqrt(d)",
     {{kFactor40, {"mscale", -1e3, 1e3, "strength", "1"}}}},
    {"kimi_k2", "YaRN of 32 times the context", "config of moonshotai/Kimi-K2-Instruct",
     "(0.1 mscale ln(factor) + 1)^2 q.k / sqrt(d)",
     {{{"factor", 1, 1e6, "how many times longer the context became; 64 in 0905", "32"},
       {"mscale", -1e3, 1e3, "strength", "1"}}}},
    {"gpt_oss", "1/sqrt(d) and a learned sink in each head",
     "openai/gpt-oss torch/model.py at 7b58334", "q.k / sqrt(d)",
     {{{"sink", -1e3, 1e3, "the learned logit of the head"}}}, NormaliserKind::kSink, "sink"},
    {"softmax1", "1/sqrt(d) and a sink of logit 0: e^x / (1 + sum e^x)",
     "Miller, evanmiller.org, \"Attention is off by one\"", "q.k / sqrt(d)",
     {}, NormaliserKind::kSink, "0"},
    {"sigmoid", "1/sqrt(d) and a sigmoid of each logit, with no sum over keys", "arXiv 2409.04431",
     "q.k / sqrt(d)", {{{"bias", -1e3, 1e3, "added to each logit; -ln(keys) in the paper"}}},
     NormaliserKind::kSigmoid, "bias"},
});
// clang-format on

constexpr std::string_view kOnWeights =
    "acts on the weights of q and k in training, not on scores; its frozen effect on a score is a "
    "factor: write {\"name\": ..., \"logit\": \"0.5 q.k / sqrt(d)\"}";
constexpr std::string_view kOnRows =
    "needs a statistic of the whole row of scores, which scalings do not see; a fixed factor is "
    "{\"name\": ..., \"logit\": \"0.5 q.k / sqrt(d)\"}";
constexpr std::string_view kOnOutputs =
    "multiplies the output of attention, not the scores; its scores are \"div_sqrt_d\" or "
    "\"div_d\"";
constexpr std::string_view kOnOneSide =
    "divides by the length of the key alone; a norm here is of queries and keys, write {\"name\": "
    "..., \"logit\": \"cos(q, k)\"}";
constexpr std::string_view kOnRange =
    "changes no weight in exact arithmetic, only what fits into half precision; write "
    "{\"preset\": \"quarter_powers\"} or \"(q / sqrt(d)).k\" with a \"precision\"";

constexpr std::array kRefused{
    RefusedScaling{"qk_clip", kOnWeights},
    RefusedScaling{"muon_clip", kOnWeights},
    RefusedScaling{"muonclip", kOnWeights},
    RefusedScaling{"sigma_reparam", kOnWeights},
    RefusedScaling{"norm_softmax", kOnRows},
    RefusedScaling{"normsoftmax", kOnRows},
    RefusedScaling{"adaptive_temperature", kOnRows},
    RefusedScaling{"u_mup", kOnOutputs},
    RefusedScaling{"fully_scaled", kOnOutputs},
    RefusedScaling{"key_norm", kOnOneSide},
    RefusedScaling{"sum_of_key_lengths", kOnRows},
    RefusedScaling{"pb_relax", kOnRange},
    RefusedScaling{"self_adjusting_softmax", kOnRows},
};

std::vector<std::string_view> names_of(std::span<const PresetParameter> parameters) {
  std::vector<std::string_view> names;
  for (const PresetParameter& parameter : parameters) names.emplace_back(parameter.name);
  return names;
}

}  // namespace

std::span<const PresetParameter> PresetRow::parameters() const {
  const auto end = std::ranges::find(all_parameters, "", &PresetParameter::name);
  return {all_parameters.begin(), end};
}

std::span<const PresetRow> preset_table() {
  return kPresets;
}

const PresetRow* find_preset(std::string_view name) {
  const auto* row = std::ranges::find(kPresets, name, &PresetRow::name);
  return row == kPresets.end() ? nullptr : row;
}

std::string formula(const PresetRow& row) {
  std::string text(row.formula);
  if (row.normaliser == NormaliserKind::kSink) text += "; softmax with a sink of logit ";
  if (row.normaliser == NormaliserKind::kSigmoid) text += "; weight = sigmoid(logit + ";
  text += row.bias;
  return row.normaliser == NormaliserKind::kSigmoid ? text + ")" : text;
}

Scaling scaling_of(const PresetRow& row, std::span<const double> numbers) {
  const std::vector<std::string_view> names = names_of(row.parameters());
  FormulaValues values;
  for (std::size_t i = 0; i < names.size(); ++i) values.emplace_back(names[i], numbers[i]);
  WeightRule weights{.normaliser = {row.normaliser}};
  if (!row.bias.empty()) {
    const Formula bias = parse_formula(row.bias, FormulaKind::kNumber, names);
    weights.normaliser.bias = value_of(with_values(bias, values), {});
  }
  Scaling scaling =
      make_scaling(std::string(row.name), parse_formula(row.formula, FormulaKind::kLogit, names),
                   std::move(values), weights);
  scaling.preset = row.name;
  return scaling;
}

std::optional<Scaling> find_scaling(std::string_view name) {
  const PresetRow* row = find_preset(name);
  if (row == nullptr) return std::nullopt;
  std::vector<double> numbers;
  for (const PresetParameter& parameter : row->parameters()) {
    if (parameter.is_required()) return std::nullopt;
    numbers.push_back(value_of(parse_formula(parameter.fallback, FormulaKind::kNumber), {}));
  }
  return scaling_of(*row, numbers);
}

const RefusedScaling* find_refused_scaling(std::string_view name) {
  const auto* row = std::ranges::find(kRefused, name, &RefusedScaling::name);
  return row == kRefused.end() ? nullptr : row;
}

}  // namespace attnscale
