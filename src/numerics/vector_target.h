// Which instruction set the vector kernels run with on this machine.
#pragma once

#include <string>

namespace attnscale {

/// The instruction set's name, such as "AVX3" (AVX-512), "AVX2" or "NEON".
std::string vector_target();

/// True where the kernels give the promised bytes: with fused multiply-add, from AVX2 on
/// and on 64-bit Arm.
bool vector_target_keeps_bytes();

}  // namespace attnscale
