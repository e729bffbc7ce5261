#include "numerics/precision.h"

namespace attnscale {

ATTNSCALE_VECTOR_CLONES
void round_all(Precision precision, std::span<double> numbers) {
  with_rounding_to(precision, [=](auto round) ATTNSCALE_INLINED {
    for (double& number : numbers) number = round(number);
  });
}

}  // namespace attnscale
