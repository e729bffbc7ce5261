// Which instruction sets the vector kernels are compiled for. Included before any Highway header,
// by kernels only: AVX2 and AVX-512 give the same bytes, everything older runs on the baseline.
#pragma once

#include <hwy/detect_targets.h>

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
