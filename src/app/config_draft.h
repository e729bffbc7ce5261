// A config in the making: what has been read so far of each kind of object. Only the fields of the
// config table write it; the reader takes each part out when its object is done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace attnscale {

/// One number of the config, or several where it is a list or range.
struct NumberAxis {
  std::vector<double> values;
  bool swept = false;  ///< written as a list or range
};

/// {"from": ..., "to": ..., "times": ...} or with "step".
struct RangeDraft {
  double from = 0;
  double to = 0;
  std::optional<double> times;
  std::optional<double> step;
};

struct ScalingDraft {
  std::optional<std::string> name;
  std::optional<Scaling> like;  ///< where it starts from; the score itself where nothing is said
  NumberAxis multiplier;
  NumberAxis d_power;
};

struct LawDraft {
  const LawRow* row = nullptr;
  NumberAxis mean;
  NumberAxis sd;
  std::vector<NumberAxis> parameters;
};

struct EntriesDraft {
  std::optional<std::string> name;
  std::optional<LawDraft> queries;  ///< where each side has a law of its own
  std::optional<LawDraft> keys;
  NumberAxis alignment;
  NumberAxis aligned_keys;  ///< empty where it is not said
};

struct StopDraft {
  PrecisionTarget target;
  std::optional<std::int64_t> min_queries;
};

struct ConfigDraft {
  Config config;
  const SamplerRow* sampler = nullptr;  ///< of experiments that name none
  Experiment experiment;
  ScalingDraft scaling;
  LawDraft law;
  EntriesDraft entries;
  RangeDraft range;
  Given given;
  StopDraft stop;
  std::vector<std::string> warnings;
};

}  // namespace attnscale
