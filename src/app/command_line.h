// The commands as plain values, and how arguments become one, or a text of help.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/arguments.h"
#include "app/audit.h"
#include "config/config.h"
#include "execution/shard.h"
#include "report/progress.h"
#include "report/screen_table.h"

namespace attnscale {

/// What to do where the folder already holds another run.
enum class OtherRun { kRefuse, kReplace };

/// Whether tables are printed after a run.
enum class Verbosity { kNormal, kQuiet };

/// How `run` and `merge` write a run.
struct WritingOptions {
  Verbosity verbosity = Verbosity::kNormal;
  OtherRun other_run = OtherRun::kRefuse;
  std::vector<std::string> arguments = {};  ///< as given, for the manifest
  int threads = 1;
};

struct RunCommand {
  std::string config;
  std::optional<std::string> out;
  std::vector<Override> overrides;  ///< of --set and --seed
  std::optional<Shard> shard;
  std::optional<std::chrono::duration<double>> time_limit;
  ProgressForm progress = ProgressForm::kAuto;
  WritingOptions writing;
};

struct PlanCommand {
  std::string config;
  std::vector<Override> overrides;
  TableFormat format = TableFormat::kTable;
};

struct MergeCommand {
  std::string out;
  std::vector<std::string> shards;  ///< folders, in any order
  WritingOptions writing;
};

struct ShowCommand {
  std::vector<std::string> folders;
  TableFormat format = TableFormat::kTable;
};

struct VerifyCommand {
  std::string folder;
};

struct SoftmaxCommand {
  std::vector<double> scores;
  std::optional<std::int64_t> d;
};

struct SchemaCommand {};

struct ListCommand {
  std::string what;  ///< scalings, laws, metrics or samplers
};

/// Help or version: nothing to do but to print it.
struct PrintCommand {
  std::string text;
};

using Command =
    std::variant<RunCommand, PlanCommand, MergeCommand, ShowCommand, VerifyCommand, SoftmaxCommand,
                 AuditCommand, SchemaCommand, ListCommand, PrintCommand>;

/// A command of the program. Help reads these rows; a new command is one more.
struct CommandRow {
  std::string_view name;
  std::string_view words;    ///< what follows the name, beside options
  std::string_view summary;  ///< one line
  std::span<const OptionRow> options;
  Command (*make)(const Arguments&);  ///< throws UserError
};

std::span<const CommandRow> command_table();

/// Reads the arguments after the program's name. Throws UserError for anything it does not know,
/// with the nearest thing it does; options are never guessed from an abbreviation.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace attnscale
