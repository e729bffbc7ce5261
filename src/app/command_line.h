// The commands as plain values, and the way from arguments to a command or a help text.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/arguments.h"
#include "app/audit.h"
#include "app/check.h"
#include "app/exact.h"
#include "app/list.h"
#include "config/config.h"
#include "execution/shard.h"
#include "report/progress.h"
#include "report/screen_table.h"

namespace attnscale {

/// What to do if the folder already holds another run.
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
  std::vector<std::string> metrics = {};  ///< of --metric; none for a report
};

struct PoolCommand {
  std::string out;
  std::vector<std::string> runs;  ///< folders, in any order
  WritingOptions writing;
};

struct CompareCommand {
  std::string a, b;  ///< folders
  TableFormat format = TableFormat::kTable;
};

struct VerifyCommand {
  std::string folder;
};

struct SoftmaxCommand {
  std::vector<double> scores;
  std::optional<std::int64_t> d;
};

struct NewCommand {
  std::string file;
};

/// A command that a script of the same name does.
struct ScriptCommand {
  std::string script;  ///< such as "plot.py"
  std::vector<std::string> arguments;
};

/// Help, version or schema: a text to print.
struct PrintCommand {
  std::string text;
};

using Command = std::variant<RunCommand, PlanCommand, MergeCommand, PoolCommand, CompareCommand,
                             ShowCommand, VerifyCommand, SoftmaxCommand, ExactCommand, AuditCommand,
                             CheckCommand, ListCommand, NewCommand, ScriptCommand, PrintCommand>;

/// Reads the arguments after the program's name. Throws UserError for anything unknown and names
/// the nearest known word; options are never guessed from an abbreviation.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace attnscale
