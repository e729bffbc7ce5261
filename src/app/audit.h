// Which usual mistake explains a measured spread of attention scores. One row of a table is one
// thing that people do to q.k, rightly or not. With entries of mean 0 and spread 1 each leaves a
// spread that is known exactly, so the measured spread distinguishes them. Runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attnscale {

/// What is known of the model. Sizes are at least 1.
struct AuditCommand {
  std::int64_t d = 1;                                   ///< head size
  std::optional<double> measured_sd = std::nullopt;     ///< of what enters the softmax; above 0
  std::optional<std::int64_t> d_model = std::nullopt;   ///< the model's width
  std::optional<std::int64_t> heads = std::nullopt;     ///< heads that share the width
  std::optional<std::int64_t> padded_d = std::nullopt;  ///< head size as a kernel pads it
  std::optional<std::int64_t> value_d = std::nullopt;   ///< head size of the values
  std::optional<std::int64_t> layers = std::nullopt;    ///< layers of the model
};

/// One hypothesis about what was done to the scores.
struct Explanation {
  std::string name;             ///< such as "scaled twice"
  std::string formula;          ///< the logit, such as "q.k / d"
  double spread;                ///< of the logits, with entries of spread 1
  std::optional<double> ratio;  ///< measured spread over this one
};

/// Every hypothesis that the known sizes allow. With a measured spread the best comes first: the
/// one whose ratio is nearest to 1, as |log ratio|; what gives the same spread keeps the table's
/// order, in which the right scaling is first.
std::vector<Explanation> explanations(const AuditCommand& command);

/// The answer for the screen, `width` characters wide: which d to divide by, the table, and what
/// the measured spread says.
std::string audit_text(const AuditCommand& command, std::size_t width);

}  // namespace attnscale
