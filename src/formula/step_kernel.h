// One step of a formula on many numbers at once, in vectors. The same bits on every machine, and
// for one number as for many.
#pragma once

#include <cstddef>

#include "formula/formula.h"

namespace attnscale {

/// out[n] = operation of a[n] and, where it takes two, b[n], for n below `count`; `out` is apart
/// from both or the memory of one. From numerics/portable_math.h, with its errors; e^x is 0 below
/// x = -700 and infinite above 700, and the logarithm of a subnormal number is that of 0. A power
/// is e^(b ln a), with an error of |b ln a| roundings. Precondition: an operation on numbers.
void apply_step(Operation operation, const double* a, const double* b, double* out,
                std::size_t count);

/// The same of one pair.
double apply_step(Operation operation, double a, double b = 0);

}  // namespace attnscale
