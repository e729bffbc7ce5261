// A config in the making: what has been read so far of each kind of object. Only the fields of the
// config table write it; the reader takes each part out when its object is done.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/axis.h"
#include "experiment/experiment.h"
#include "experiment/scaling_table.h"

namespace attnscale {

/// Numbers that are not said have no values.
struct ScalingDraft {
  std::optional<std::string> name;
  const ScalingRow* like = nullptr;    ///< where it starts from; the score itself where not said
  std::vector<NumberAxis> parameters;  ///< of that row
  NumberAxis multiplier;
  NumberAxis d_power;
  NumberAxis d;
  NumberAxis log_keys_base;
  NumberAxis softcap;
  NumberAxis gain;
  NumberAxis key_gain;
  NumberAxis bias;
  ScalingChanges words;  ///< all that is not a number
};

/// A number that a scaling may say: where it is read to and where it ends.
struct ScalingNumber {
  std::string_view key;
  NumberAxis ScalingDraft::*axis;
  std::optional<double> ScalingChanges::*number;
};
inline constexpr std::array kScalingNumbers{
    ScalingNumber{"multiplier", &ScalingDraft::multiplier, &ScalingChanges::multiplier},
    ScalingNumber{"d_power", &ScalingDraft::d_power, &ScalingChanges::d_power},
    ScalingNumber{"d", &ScalingDraft::d, &ScalingChanges::d},
    ScalingNumber{"log_keys_base", &ScalingDraft::log_keys_base, &ScalingChanges::log_keys_base},
    ScalingNumber{"softcap", &ScalingDraft::softcap, &ScalingChanges::softcap},
    ScalingNumber{"gain", &ScalingDraft::gain, &ScalingChanges::gain},
    ScalingNumber{"key_gain", &ScalingDraft::key_gain, &ScalingChanges::key_gain},
    ScalingNumber{"bias", &ScalingDraft::bias, &ScalingChanges::bias},
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

struct ConfigDraft {
  std::filesystem::path folder;  ///< where the relative paths of the config begin
  Config config;
  const SamplerRow* sampler = nullptr;  ///< of experiments that name none
  Experiment experiment;
  ScalingDraft scaling;
  LawDraft law;
  EntriesDraft entries;
  std::vector<std::string> warnings;
};

}  // namespace attnscale
