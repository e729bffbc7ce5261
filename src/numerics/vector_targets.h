// Which instruction sets the vector kernels are compiled for. Included before any Highway header,
// by kernels only: AVX2, AVX-512 and NEON give the same bytes, everything older runs on the
// baseline. Vectors of SVE have no size, so that they can be no members.
#pragma once

// Before the header that gives these names their values: it would refuse a baseline of AVX3_DL,
// which -march=native is on new servers. AVX3 takes its place there.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#include <hwy/detect_targets.h>
