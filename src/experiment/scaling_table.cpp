#include "experiment/scaling_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numerics/portable_math.h"

namespace attnscale {
namespace {

using Numbers = std::span<const double>;

constexpr double kMostPosition = 1e12;

// Parameters of presets.
constexpr std::array kAttnMult{ScalingParameter{"attn_mult", 1e-6, 1e6,
                                                "what q.k / d is multiplied by; sqrt(d) there, "
                                                "unless it is said"}};
constexpr std::array kLength{
    ScalingParameter{"length", 2, kMostPosition, "typical length of a sequence, L"}};
constexpr std::array kTau{
    ScalingParameter{"tau", 0.01, 1e3, "temperature, at least 0.01; 0.1 at the start of training"}};
constexpr std::array kS{ScalingParameter{"s", -1e3, 1e3, "learned strength; 0.43 in the paper"}};
constexpr std::array kKappa{
    ScalingParameter{"kappa", 1e-6, 1e6, "strength; sqrt(d) / ln(512) gives log_512"}};
constexpr std::array kPosition{
    ScalingParameter{"position", 0, kMostPosition, "position of the query's token, from 0"}};
constexpr std::array kFactor{
    ScalingParameter{"factor", 1, 1e6, "how many times longer the context became, s"}};
constexpr std::array kSink{ScalingParameter{"sink", -1e3, 1e3, "the learned logit of the head"}};
constexpr std::array kBias{
    ScalingParameter{"bias", -1e3, 1e3, "added to each logit; -ln(keys) in the paper"}};
constexpr std::array kLayer{ScalingParameter{"layer", 0, 1e6, "number of the layer, from 0"}};

// m of Llama 4: 1 + 0.1 ln(1 + floor((position + 1) / 8192)).
double llama4_temperature(double position) {
  return 1 + 0.1 * plain::log(1 + std::floor((position + 1) / 8192));
}

// YaRN's 0.1 ln(factor) + 1, which multiplies both the query and the key.
double yarn_scale(double factor) {
  const double m = 0.1 * plain::log(factor) + 1;
  return m * m;
}

// log2(L^2 - L), where QKNorm's gain starts.
double qknorm_gain(double length) {
  return plain::log(length * (length - 1)) / plain::log(2);
}

constexpr WeightRule with_sink(double logit) {
  return {.normaliser = {NormaliserKind::kSink, logit}};
}

constexpr WeightRule with_sigmoid(double bias) {
  return {.normaliser = {NormaliserKind::kSigmoid, bias}};
}

// Each row stays a few lines: its name and what it is, its source, its rule.
// clang-format off
constexpr auto kScalings = std::to_array<ScalingRow>({
    {"none", "the raw score", "what the lesson starts from",
     [](Numbers) { return ScalingRule{}; }},
    {"div_sqrt_d", "the transformer's rule", "Vaswani et al. 2017, 3.2.1",
     [](Numbers) { return ScalingRule{.d_power = -0.5}; }},
    {"div_d", "as in muP; a common slip elsewhere", "Yang et al. 2022, arXiv 2203.03466",
     [](Numbers) { return ScalingRule{.d_power = -1}; }},
    {"div_cbrt_d", "the cube root of d: between no scaling and the transformer's rule",
     "songjunxi.com, among roots that it compares",
     [](Numbers) { return ScalingRule{.d_power = -1.0 / 3}; }},
    {"quarter_powers", "d^-1/4 on q and on k: 1/sqrt(d) that does not overflow early",
     "OpenAI's diffusion U-Nets, guided-diffusion issue 38",
     [](Numbers) { return ScalingRule{.d_power = -0.5, .scale_order = ScaleOrder::kBefore}; }},
    {"mup", "muP as its package writes it: 1/sqrt(d) at d = 64", "microsoft/mup README at 1981497",
     [](Numbers) { return ScalingRule{.multiplier = 8, .d_power = -1}; }},
    {"mutransformers", "muP with its attention multiplier", "microsoft/mutransformers at 480287c",
     [](Numbers n) { return ScalingRule{.multiplier = n[0], .d_power = -1}; }, kAttnMult,
     "attn_mult q.k / d"},
    {"granite3_8b", "1/128, which is 1/d for its heads of 128",
     "config of ibm-granite/granite-3.1-8b-instruct",
     [](Numbers) { return ScalingRule{.multiplier = 0.0078125}; }},
    {"gemma2_27b", "1/sqrt(144) for heads of 128, and a soft-cap of 50",
     "google/gemma_pytorch gemma/config.py at 014acb7",
     [](Numbers) { return ScalingRule{.d_power = -0.5, .d = 144, .softcap = 50}; }},
    {"gemma3_27b", "1/sqrt(168) for heads of 128, after RMS norm of q and k",
     "google/gemma_pytorch gemma/config.py at 014acb7",
     [](Numbers) { return ScalingRule{.d_power = -0.5, .d = 168, .norm = Norm::kRms}; }},
    {"gemma4", "1 after RMS norm of q and k, whose gains are learned",
     "huggingface/transformers issue 45676, mlc-ai/mlc-llm PR 3485",
     [](Numbers) { return ScalingRule{.norm = Norm::kRms}; }},
    {"qwen3", "RMS norm of q and k in each head, then 1/sqrt(d)",
     "Qwen3's code in huggingface/transformers",
     [](Numbers) { return ScalingRule{.d_power = -0.5, .norm = Norm::kRms}; }},
    {"grok1", "1/sqrt(128) and a soft-cap of 30", "xai-org/grok-1 model.py and run.py at 7050ed2",
     [](Numbers) { return ScalingRule{.d_power = -0.5, .d = 128, .softcap = 30}; }},
    {"gpt_neo", "no scaling", "huggingface/transformers issue 20828",
     [](Numbers) { return ScalingRule{}; }},
    {"t5", "no scaling: 1/sqrt(d) is in how W_q starts, so draw queries with sd 1/sqrt(d)",
     "dmlc/gluon-nlp PR 1482",
     [](Numbers) { return ScalingRule{}; }},
    {"inverse_layer", "1/sqrt(d) and 1/(layer + 1)",
     "GPT-2 in Mistral, stanford-crfm/mistral PR 77",
     [](Numbers n) { return ScalingRule{.multiplier = 1 / (n[0] + 1), .d_power = -0.5}; }, kLayer,
     "1/(layer + 1) q.k / sqrt(d)"},
    {"qknorm", "cosines times a learned gain, at its start log2(L^2 - L)",
     "Henry et al. 2020, arXiv 2010.04245",
     [](Numbers n) { return ScalingRule{.multiplier = qknorm_gain(n[0]), .norm = Norm::kCosine}; },
     kLength, "log2(length^2 - length) cos(q, k)"},
    {"swin2", "cosines over a learned temperature",
     "microsoft/Swin-Transformer swin_transformer_v2.py at f82860b",
     [](Numbers n) { return ScalingRule{.multiplier = 1 / n[0], .norm = Norm::kCosine}; }, kTau,
     "1/tau cos(q, k)"},
    {"ssmax", "scalable softmax: 1/sqrt(d) and s ln(keys)", "arXiv 2501.19399",
     [](Numbers n) { return ScalingRule{.multiplier = n[0], .d_power = -0.5, .log_keys = true}; },
     kS, "s ln(keys) q.k / sqrt(d)"},
    {"log_keys", "1/sqrt(d) and ln(keys)", "Chiang and Cholak 2022, ACL",
     [](Numbers) { return ScalingRule{.d_power = -0.5, .log_keys = true}; }},
    {"log_512", "1/sqrt(d) and log_512(keys): entropy invariance as it is used",
     "Su, kexue.fm 8823 and 9034",
     [](Numbers) { return ScalingRule{.d_power = -0.5, .log_keys = true, .log_keys_base = 512}; }},
    {"entropy_invariant", "kappa ln(keys) / d", "Su, kexue.fm 8823",
     [](Numbers n) { return ScalingRule{.multiplier = n[0], .d_power = -1, .log_keys = true}; },
     kKappa, "kappa ln(keys) q.k / d"},
    {"llama4", "1/sqrt(d), warmer far into the text; in layers without RoPE",
     "Llama 4's code in huggingface/transformers",
     [](Numbers n) { return ScalingRule{.multiplier = llama4_temperature(n[0]), .d_power = -0.5}; },
     kPosition, "(1 + 0.1 ln(1 + floor((position + 1) / 8192))) q.k / sqrt(d)"},
    {"yarn", "1/sqrt(d) and (0.1 ln(factor) + 1)^2", "arXiv 2309.00071, jquesnelle/yarn at 995db5b",
     [](Numbers n) { return ScalingRule{.multiplier = yarn_scale(n[0]), .d_power = -0.5}; },
     kFactor, "(0.1 ln(factor) + 1)^2 q.k / sqrt(d)"},
    {"gpt_oss", "1/sqrt(d) and a learned sink in each head",
     "openai/gpt-oss torch/model.py at 7b58334",
     [](Numbers n) { return ScalingRule{.d_power = -0.5, .weights = with_sink(n[0])}; }, kSink,
     "q.k / sqrt(d); softmax with a sink of logit sink"},
    {"softmax1", "1/sqrt(d) and a sink of logit 0: e^x / (1 + sum e^x)",
     "Miller, evanmiller.org, \"Attention is off by one\"",
     [](Numbers) { return ScalingRule{.d_power = -0.5, .weights = with_sink(0)}; }},
    {"sigmoid", "1/sqrt(d) and a sigmoid of each logit, with no sum over keys", "arXiv 2409.04431",
     [](Numbers n) { return ScalingRule{.d_power = -0.5, .weights = with_sigmoid(n[0])}; }, kBias,
     "q.k / sqrt(d); weight = sigmoid(logit + bias)"},
});
// clang-format on

constexpr std::string_view kOnWeights =
    "acts on the weights of q and k in training, not on scores; its frozen effect on a score is a "
    "factor: write {\"name\": ..., \"like\": \"div_sqrt_d\", \"multiplier\": ...}";
constexpr std::string_view kOnRows =
    "needs a statistic of the whole row of scores, which scalings do not see; a fixed factor is "
    "{\"name\": ..., \"like\": \"div_sqrt_d\", \"multiplier\": ...}";
constexpr std::string_view kOnOutputs =
    "multiplies the output of attention, not the scores; its scores are \"div_sqrt_d\" or "
    "\"div_d\"";
constexpr std::string_view kOnOneSide =
    "divides by the length of the key alone; a norm here is of queries and keys, write {\"name\": "
    "..., \"norm\": \"cosine\"}";
constexpr std::string_view kOnRange =
    "changes no weight in exact arithmetic, only what fits into half precision; write "
    "{\"preset\": \"quarter_powers\"} or a \"precision\" with \"scale_order\": \"before\"";

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

}  // namespace

std::span<const ScalingRow> scaling_table() {
  return kScalings;
}

std::string formula(const ScalingRow& row) {
  return row.parameters.empty() ? formula(row.make({})) : std::string(row.formula);
}

const ScalingRow* find_scaling_row(std::string_view name) {
  const auto* row = std::ranges::find(kScalings, name, &ScalingRow::name);
  return row == kScalings.end() ? nullptr : row;
}

std::optional<Scaling> find_scaling(std::string_view name) {
  const ScalingRow* row = find_scaling_row(name);
  if (row == nullptr || !row->parameters.empty()) return std::nullopt;
  return make_scaling(std::string(name), row, {}, {});
}

Scaling make_scaling(std::string name, const ScalingRow* like, std::vector<double> parameters,
                     const ScalingChanges& changes, std::optional<double> value) {
  const ScalingRule start = like != nullptr ? like->make(parameters) : ScalingRule{};
  return {std::move(name), value, changed(start, changes), like, std::move(parameters), changes};
}

const RefusedScaling* find_refused_scaling(std::string_view name) {
  const auto* row = std::ranges::find(kRefused, name, &RefusedScaling::name);
  return row == kRefused.end() ? nullptr : row;
}

}  // namespace attnscale
