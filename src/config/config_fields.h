// The one table of everything a config may say. Parser, error messages, schema and help all read
// it: a new key is one row here and a place to land in.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/config_draft.h"
#include "config/json_document.h"

namespace attnscale {

/// The object a key belongs to.
enum class FieldPlace {
  kInConfig,
  kInExperiment,
  kInEntries,
  kInLaw,
  kInScaling,
  kInRange,
  kInGiven,
  kInMatrixFile,
  kInStop
};

/// What a value looks like.
enum class FieldType {
  kText,         ///< any text
  kName,         ///< a text that is safe as a file name and a CSV cell
  kChoice,       ///< one of the field's choices
  kBoolean,      ///< true or false
  kInteger,      ///< a number without fraction, within the field's bounds
  kNumber,       ///< a number within the field's bounds
  kIntegerAxis,  ///< an integer, a list or a range of them
  kNumberAxis,   ///< a number, a list or a range of them
  kChoiceList,   ///< a list of choices
  kMetrics,      ///< a list of choices, or "all"
  kGain,         ///< a number, two of them, or a range
  kNormaliser,   ///< "softmax", or an object of the name of another and its number
  kScalings,     ///< a list of choices or of scaling objects
  kEntries,      ///< a choice, an object, or a list of them
  kLaw,          ///< a choice or an object: one side's law
  kMatrix,       ///< a list of lists of numbers, or a file of them
  kGiven,        ///< an object of given numbers
  kStop,         ///< an object that says how precise is enough
  kExperiments   ///< a list of experiments
};

/// Whether a key must be there, and what an experiment with `given` makes of it.
enum class FieldUse {
  kOptional,  ///< where it is missing, its default (if it has one) takes its place
  kRequired,
  kIfDrawn,          ///< optional; refused beside `given`
  kRequiredIfDrawn,  ///< required, or refused beside `given`
  kDefaultIfDrawn    ///< the default is for drawn experiments only
};

/// Which ends of its bounds a number may not reach.
enum class Ends { kIncluded, kLeastExcluded, kBothExcluded };

struct FieldBounds {
  double least = 0;
  double most = 0;
  Ends ends = Ends::kIncluded;
  std::string_view hint = "";  ///< what to write instead, said behind the bounds
};

struct FieldChoices {
  std::string_view noun;  ///< what one choice is: "metric", "law"
  std::vector<std::string_view> (*names)() = nullptr;
};

struct ConfigField {
  FieldPlace place;
  std::string_view name;
  FieldType type;
  FieldUse use;
  std::string_view fallback;  ///< the default, as JSON; empty where there is none
  /// Checks the value and puts it into the draft. Throws UserError.
  void (*land)(const JsonValue& value, const ConfigField& field, ConfigDraft& draft);
  std::string_view help;  ///< one line
  FieldBounds bounds = {};
  FieldChoices choices = {};
};

/// The rows about laws and scalings, which are part of the table; a query has keys within the
/// bounds.
std::vector<ConfigField> rule_fields(const FieldBounds& keys_bounds);
/// The part of the table about given numbers, in a file of its own for its length.
std::vector<ConfigField> given_fields();

/// The keys of one object, in the order they are read, checked and documented.
std::span<const ConfigField> fields_of(FieldPlace place);

/// The field of that name, or nullptr.
const ConfigField* find_field(FieldPlace place, std::string_view name);

std::vector<std::string_view> field_names(FieldPlace place);

}  // namespace attnscale
