// Lets a function of simple loops use the widest vectors of the machine it runs on.
#pragma once

/// Before a function's definition: the compiler makes one version for each instruction set, and the
/// loader picks one. Only for loops whose steps do not depend on each other: nothing is fused
/// (-ffp-contract=off) and no sum changes its order, so that every version gives the same bits.
/// Not under ThreadSanitizer, whose checks would run before it has started: the loader picks early.
/// Not by clang, whose version 14 makes the one for AVX-512 alone, whatever the machine.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__clang__)
#define ATTNSCALE_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ATTNSCALE_VECTOR_CLONES
#endif

/// Of what such a loop calls: what is not inlined into each version stays a call and makes no
/// vectors of the loop.
#define ATTNSCALE_INLINED __attribute__((always_inline))
