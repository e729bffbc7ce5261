// A config in the making: what has been read so far of each kind of object. Only the fields of the
// config table write it; the reader takes each part out when its object is done.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/axis.h"
#include "experiment/experiment.h"
#include "experiment/scaling_table.h"

namespace attnscale {

struct ConfigDraft {
  std::filesystem::path folder;  ///< where the relative paths of the config begin
  Config config;
  const SamplerRow* sampler = nullptr;  ///< of experiments that name none
  Experiment experiment;
  std::vector<std::string> warnings;
};

}  // namespace attnscale
