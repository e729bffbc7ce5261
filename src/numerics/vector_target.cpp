#include "numerics/vector_target.h"

#include "numerics/vector_targets.h"
//
#include <hwy/targets.h>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

#include <cstdint>

namespace attnscale {
namespace {

#if HWY_ARCH_X86
// Two of Highway's conditions for AVX2 that not every compiler's __builtin_cpu_supports knows.
bool has_lzcnt_and_f16c() {
  constexpr unsigned kLzcnt = 1U << 5;
  constexpr unsigned kF16c = 1U << 29;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kF16c) != 0;
  return f16c && __get_cpuid(0x80000001U, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kLzcnt) != 0;
}

std::int64_t targets_of_this_machine() {
  std::int64_t targets = HWY_STATIC_TARGET;
  // __builtin_cpu_supports also asks whether the operating system keeps the wide registers.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && has_lzcnt_and_f16c()) {
    targets |= HWY_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd")) {
      targets |= HWY_AVX3;
    }
  }
  return targets;
}
#else
std::int64_t targets_of_this_machine() {
  return HWY_STATIC_TARGET;
}
#endif

std::int64_t forced_targets = 0;

// Targets are bits, the best the lowest.
std::int64_t best_target() {
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return usable & -usable;
}

}  // namespace

std::string vector_target() {
  return hwy::TargetName(best_target());
}

bool vector_target_keeps_bytes() {
  return (best_target() & (HWY_AVX2 | HWY_AVX3 | HWY_NEON)) != 0;
}

}  // namespace attnscale

// The functions of Highway's library that its run-time dispatch calls. The library itself is not
// linked: on being loaded it calibrates a timer, which takes longer than many a run of ours.
namespace hwy {

std::int64_t SupportedTargets() {
  if (attnscale::forced_targets != 0) return attnscale::forced_targets;
  static const std::int64_t targets = attnscale::targets_of_this_machine();
  return targets;
}

void SetSupportedTargetsForTest(std::int64_t targets) {
  attnscale::forced_targets = targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
