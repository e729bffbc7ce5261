// One experiment of a config: its keys, the objects inside it, and what must hold between them.
// Every function that reads or checks throws UserError at the value that can be mended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"
#include "experiment/experiment.h"

namespace attnscale {

/// The name of the experiment at `index`, given or by default.
std::string experiment_name(const JsonValue& experiment, std::size_t index);

/// Reads and checks the experiment at `index`, drawn by `sampler` unless it says otherwise. Adds to
/// `warnings` what is allowed but probably not meant.
Experiment read_experiment(const JsonValue& value, std::size_t index, const SamplerRow& sampler,
                           std::vector<std::string>& warnings);

std::vector<std::string_view> experiment_keys();

/// The object in lines that begin at `indent`.
std::string experiment_text(const Experiment& experiment, const std::string& indent);

/// The keywords of JSON Schema for the object.
std::string experiment_schema();

/// The key `entries`: laws by name or as objects, one for both sides or one for each, and how keys
/// are aligned with their query; one of them or a list. A sweep is one object of the list.
void read_into(const JsonValue& value, const Field& field, std::vector<Entries>& entries);
std::string json_text(const Field& field, const std::vector<Entries>& entries);

/// The keywords of JSON Schema for the key, for one of its objects and for the law of one side.
std::string entries_shape(const Field& field);
std::string entries_schema();
std::string law_schema();

/// The list `scalings`: scalings and presets by name, or objects that start from one and change it.
/// A sweep is one object of the list.
void read_into(const JsonValue& value, const Field& field, std::vector<Scaling>& scalings);
std::string json_text(const Field& field, const std::vector<Scaling>& scalings);

/// The keywords of JSON Schema for the list, and for an object of it.
std::string scalings_shape(const Field& field);
std::string scaling_schema();

/// The key `precision` of a scaling: one format for all steps but the sum, or an object of steps.
void read_into(const JsonValue& value, const Field& field, PrecisionSteps& steps);
std::string json_text(const Field& field, const PrecisionSteps& steps);
std::string precision_shape(const Field& field);

/// Puts a user's own presets, the key `presets` of a config, into the scalings that take them.
/// Throws UserError if one of them is no scaling.
void put_in_presets(JsonValue& document);

/// The keywords of JSON Schema for that key, and for an item of `scalings` where it is missing.
std::string presets_shape();
std::string preset_names_shape();
std::string built_in_scaling_shape();

/// The object `given`: numbers to use instead of drawn ones, with their files.
void read_into(const JsonValue& value, const Field& field, Given& given);
std::string json_text(const Field& field, const Given& given);

/// The keywords of JSON Schema for the object, and for the object that names a file.
std::string given_schema();
std::string matrix_file_schema();

/// The object `stop`: how precise is enough. `min_queries` is 0 if it is not given.
void read_into(const JsonValue& value, const Field& field, PrecisionTarget& target);
std::string json_text(const Field& field, const PrecisionTarget& target);
std::string stop_schema();

/// The most queries of a cell.
inline constexpr double kMostQueries = 1e15;

/// From 1 to the largest number that some sampler takes; the real limit is that of the experiment's
/// own sampler.
FieldBounds limits_of_samplers(std::int64_t SamplerRow::*limit);

/// True if no query has a second key, drawn or given.
bool has_one_key_only(const Experiment& experiment);

/// True if all entries of the experiment say how many keys are aligned.
bool counts_aligned_keys(const Experiment& experiment);

/// How many cells a drawn experiment has.
double cell_count(const Experiment& experiment);

/// Lines of the files whose length is a product of lists. No other file of drawn numbers has more:
/// wide.csv has a line where summary.csv has one per metric, and contrasts.csv one per line of
/// summary.csv at most.
struct FileLines {
  double summary = 0, crossings = 0, samples = 0, histogram = 0;
};

/// Adds those of the experiment. Throws UserError at `value` where a file has too many.
void add_lines(const JsonValue& value, const Experiment& experiment, FileLines& lines);

/// Refuses a file of more than 10 million lines or a gibibyte; a line has so many numbers besides
/// the columns that name it.
void check_file_size(const JsonValue& value, std::string_view file, double lines, double numbers);

/// What must hold across several keys of an experiment; `value` is the experiment. First all but
/// `given` and `stop`, such as sampler against laws and scalings. Then the given numbers, after
/// what must hold within them, where the form of the mask is found; then the precision target, of
/// which exactly one error must be given, its metric and scaling be measured, and its queries lie
/// within the experiment's; `min_queries` gets its default. Adds to `warnings` what is allowed but
/// probably not meant.
void check_experiment(const JsonValue& value, const Experiment& experiment,
                      std::vector<std::string>& warnings);
void complete_given(const JsonValue& value, Given& given);
void check_given(const JsonValue& value, const Experiment& experiment,
                 std::vector<std::string>& warnings);
void complete_stop(const JsonValue& value, Experiment& experiment);

}  // namespace attnscale
