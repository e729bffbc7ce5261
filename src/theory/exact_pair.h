// The law of the top weight of two keys, whose logits' difference is normal given the query: the
// only softmax of which more than means is known. Knows nothing of config, plan or rows of results.
#pragma once

#include <optional>

#include "theory/weighing.h"

namespace attnscale {

/// P(top weight > threshold); empty but for 2 keys of normal scores without soft-cap and sink.
std::optional<double> exact_saturated(const ExactRequest& request, double threshold);

}  // namespace attnscale
