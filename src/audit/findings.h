// What an audit of tensors finds, as plain numbers and words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attnscale {

/// A row of weights: what it sums to, how exactly, and ln of its sum of exponentials without a
/// sink.
struct RowSum {
  double sum;
  double error;
  double log_sum;
};

/// What an audit of tensors finds.
struct TensorAudit {
  double factor = 0;
  double factor_error = 0;
  std::vector<double> head_factors;
  double residual = 0;         ///< of a logit
  std::string residual_words;  ///< what it amounts to
  bool residual_is_explained = false;
  std::optional<double> soft_cap = {};
  double soft_cap_error = 0;
  std::optional<double> sums = {};  ///< of each row of weights, if they are one other number than 1
  std::optional<double> sink = {};  ///< its logit, if one explains the sums
  std::vector<RowSum> rows_summed;  ///< of some rows of each head
  std::string sum_finding;          ///< what the sums are, if they are not 1
  bool are_sums_explained = true;
  std::string mask_words;
  bool hides_later = false;  ///< no query sees a later key
  bool is_mask_told = true;  ///< false if weights are too small to show whether that is a mask
  std::int64_t farthest_seen = 0;     ///< i - j of what a query may see
  std::string sum_words;              ///< empty for scores
  std::string head_words;             ///< how query heads share key heads
  std::vector<std::string> findings;  ///< beside the factor, what matters most first
  bool factor_by_head = false;
  bool uses_cosines = false;  ///< the factor is of cos(q, k)
  bool is_told = true;        ///< false if the weights say nothing of a factor
  bool is_zero = false;       ///< the logits do not depend on q.k
  double largest = 0;         ///< logit of the fit, without a cap
  double cosine_factor = 0;   ///< as if queries and keys were normalised, and what that leaves
  double cosine_residual = 0;
  double score_spread = 0;   ///< of q.k of the keys that a query sees
  double resolution = 0;     ///< of a logit, as the answers are written
  bool is_explained = true;  ///< false if a finding is not understood
  std::int64_t rows = 0;     ///< queries of each head that were looked at

  /// True if the mask hides the keys that are i - j away.
  bool hides(double distance) const {
    return (hides_later && distance < 0) || distance > static_cast<double>(farthest_seen);
  }
};

}  // namespace attnscale
