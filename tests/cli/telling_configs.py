"""Configs whose last digits tell machines, compilers and options apart."""

# The roots of these d and Student's quantile for 566 queries have another last digit on Arm
# than on x86 where they are computed in `long double`.
CUBE_ROOTS = {"name": "cube_roots", "experiments": [
    {"name": "roots", "d": [1465, 2894], "keys": 8, "queries": 1000, "sampler": "direct",
     "scalings": [{"name": "cube_root", "logit": "q.k / cbrt(d)"},
                  {"name": "root", "logit": "q.k * d^-0.25"}],
     "metrics": ["top_weight", "entropy", "slope"], "histogram": ["slope", "entropy"]}]}

# Kernels of entries, rounding and narrow softmaxes that the other configs do not reach.
NARROW = {"name": "narrow", "experiments": [
    {"name": "steps", "d": 64, "keys": 48, "queries": 200, "metrics": [
        "top_weight", "entropy", "total_weight", "weight_error", "output_error", "logit_error"],
     "scalings": [
         "div_sqrt_d",
         *({"name": name, "logit": "(q / sqrt(d)).k", "precision": name} for name in (
             "bfloat16", "float16", "flash_attention", "fp8_qk", "int8_qk", "sequential_half"))]},
    {"name": "laws", "d": 96, "keys": 16, "queries": 200, "scalings": ["div_sqrt_d"],
     "metrics": ["logit_sd", "logit_kurtosis", "top_weight"],
     "entries": [{"name": "clipped", "law": "student_t", "nu": 3, "clip": 2},
                 {"name": "parts", "blocks": [{"d": 64}, {"d": 32, "law": "laplace", "sd": 1.5}]}]},
    {"name": "signs", "d": 130, "keys": 9, "queries": 200, "entries": "rademacher",
     "sampler": "direct", "scalings": ["div_sqrt_d"], "metrics": ["logit_sd", "top_weight"]}]}
