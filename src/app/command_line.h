// The words of the command line: commands, their options, their help. Turns arguments into plain
// values and does nothing else. Program_options stays behind this header.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

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

struct RunCommand {
  std::string config;
  std::optional<std::string> out;
  std::vector<Override> overrides;  ///< of --set and --seed
  int threads = 1;
  std::optional<Shard> shard;
  std::optional<double> time_limit_seconds;
  ProgressForm progress = ProgressForm::kAuto;
  Verbosity verbosity = Verbosity::kNormal;
  OtherRun other_run = OtherRun::kRefuse;
  std::vector<std::string> arguments;  ///< as given, for the manifest
};

struct PlanCommand {
  std::string config;
  std::vector<Override> overrides;
  TableFormat format = TableFormat::kTable;
};

struct MergeCommand {
  std::string out;
  std::vector<std::string> shards;  ///< folders, in any order
  Verbosity verbosity = Verbosity::kNormal;
  OtherRun other_run = OtherRun::kRefuse;
  std::vector<std::string> arguments;
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

/// Reads the arguments after the program's name. Throws UserError for anything it does not know,
/// with the nearest thing it does; options are never guessed from an abbreviation.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace attnscale
