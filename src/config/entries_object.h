// The key `entries` of an experiment: laws of the numbers in queries and keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/field.h"
#include "draw/entries.h"
#include "draw/sampler.h"

namespace attnscale {

/// The key `entries`: laws by name or as objects, one for both sides or one for each, and how keys
/// are aligned with their query; one of them or a list. A sweep is one object of the list.
void read_into(const JsonValue& value, const Field& field, std::vector<Entries>& entries);
std::string json_text(const Field& field, const std::vector<Entries>& entries);

/// The keywords of JSON Schema for the key, for one of its objects and for a block of a head.
std::string entries_shape(const Field& field);
std::string entries_schema();
std::string block_schema();

/// From 1 to the largest number that some sampler takes; the real limit is that of the experiment's
/// own sampler.
FieldBounds limits_of_samplers(std::int64_t SamplerRow::*limit);

}  // namespace attnscale
