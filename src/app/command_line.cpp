#include "app/command_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/completion.h"
#include "app/exact_command.h"
#include "app/process.h"
#include "app/version.h"
#include "config/config.h"
#include "config/nearest_name.h"
#include "config/user_error.h"
#include "config/values.h"
#include "numerics/shortest.h"

namespace attnscale {
namespace {

// What --set and --seed change in the config; --seed comes last, so that it wins.
std::vector<Override> overrides_of(const Arguments& arguments) {
  std::vector<Override> overrides;
  for (const std::string& text : arguments.texts("set")) overrides.push_back(parse_override(text));
  const auto seed = arguments.whole_number("seed", 0, kLargestSeed);
  if (seed) overrides.push_back({"seed", std::to_string(*seed)});
  return overrides;
}

std::optional<Shard> shard_of(const Arguments& arguments) {
  const auto text = arguments.text("shard");
  if (!text) return std::nullopt;
  const std::size_t slash = text->find('/');
  if (slash != std::string::npos) {
    constexpr std::int64_t kMostShards = 1'000'000;
    const auto index = parse_number<std::int64_t>(std::string_view(*text).substr(0, slash));
    const auto count = parse_number<std::int64_t>(std::string_view(*text).substr(slash + 1));
    const bool good = index && count && *index >= 1 && *index <= *count && *count <= kMostShards;
    if (good) return Shard{*index, *count};
  }
  arguments.refuse("shard", *text, "I/N with I from 1 to N, N at most a million, such as 2/7");
}

WritingOptions writing_options(const Arguments& arguments) {
  return {.verbosity = arguments.flag("quiet") ? Verbosity::kQuiet : Verbosity::kNormal,
          .other_run = arguments.flag("force") ? OtherRun::kReplace : OtherRun::kRefuse,
          .arguments = arguments.typed()};
}

// The file, or the ready config of that name.
std::string config_place(const std::string& word) {
  const bool may_be_name = is_name(word) && !std::filesystem::exists(word);
  const std::filesystem::path ready =
      may_be_name ? shipped_file("configs/" + word + ".json") : std::filesystem::path();
  return ready.empty() ? word : ready.string();
}

Command make_run(const Arguments& arguments) {
  RunCommand run;
  run.config = config_place(arguments.only_word("config"));
  run.out = arguments.text("out");
  if (run.out && run.out->empty()) arguments.refuse("out", "", "a folder");
  run.overrides = overrides_of(arguments);
  run.shard = shard_of(arguments);
  run.time_limit = std::optional<std::chrono::duration<double>>(
      arguments.positive_number("time-limit", "seconds above 0"));
  run.progress = arguments.choice<ProgressForm>("progress", {{"auto", ProgressForm::kAuto},
                                                             {"bar", ProgressForm::kBar},
                                                             {"plain", ProgressForm::kPlain},
                                                             {"never", ProgressForm::kNever}});
  if (arguments.flag("quiet")) run.progress = ProgressForm::kNever;
  run.writing = writing_options(arguments);
  run.writing.threads =
      static_cast<int>(arguments.whole_number("threads", 1, 1024).value_or(available_processors()));
  return run;
}

TableFormat format_of(const Arguments& arguments) {
  return arguments.choice<TableFormat>("format", {{"table", TableFormat::kTable},
                                                  {"markdown", TableFormat::kMarkdown},
                                                  {"csv", TableFormat::kCsv},
                                                  {"json", TableFormat::kJson}});
}

Command make_plan(const Arguments& arguments) {
  PlanCommand plan;
  plan.config = config_place(arguments.only_word("config"));
  plan.overrides = overrides_of(arguments);
  plan.format = arguments.choice<TableFormat>(
      "format",
      {{"table", TableFormat::kTable}, {"csv", TableFormat::kCsv}, {"json", TableFormat::kJson}});
  return plan;
}

Command make_merge(const Arguments& arguments) {
  MergeCommand merge;
  if (arguments.words().size() < 2) {
    arguments.refuse(
        "needs the folder to write and the folders of the shards; see attnscale merge --help");
  }
  merge.out = arguments.words().front();
  merge.shards.assign(arguments.words().begin() + 1, arguments.words().end());
  merge.writing = writing_options(arguments);
  return merge;
}

Command make_show(const Arguments& arguments) {
  if (arguments.words().empty()) arguments.only_word("run's folder");
  const auto format = arguments.choice<TableFormat>("format", {{"table", TableFormat::kTable},
                                                               {"markdown", TableFormat::kMarkdown},
                                                               {"csv", TableFormat::kCsv}});
  return ShowCommand{arguments.words(), format, arguments.texts("metric")};
}

Command make_pool(const Arguments& arguments) {
  constexpr std::size_t kFewest = 3;
  if (arguments.words().size() < kFewest) {
    arguments.refuse(
        "needs the folder to write and those of two runs or more; see attnscale pool --help");
  }
  const auto& words = arguments.words();
  return PoolCommand{words.front(), {words.begin() + 1, words.end()}, writing_options(arguments)};
}

Command make_compare(const Arguments& arguments) {
  const auto& words = arguments.words();
  if (words.size() != 2) {
    arguments.refuse(fmt::format(
        "compares the folders of two runs, not {}; see attnscale compare --help", words.size()));
  }
  return CompareCommand{words[0], words[1], format_of(arguments)};
}

Command make_verify(const Arguments& arguments) {
  return VerifyCommand{arguments.only_word("run's folder")};
}

Command make_softmax(const Arguments& arguments) {
  return SoftmaxCommand{parse_numbers(arguments, "scores", arguments.only_word("list of scores")),
                        arguments.whole_number("d", 1, Arguments::kLargestSize)};
}

Command make_check(const Arguments& arguments) {
  return check_command(arguments);
}

Command make_schema(const Arguments& arguments) {
  arguments.no_words();
  return PrintCommand{config_schema()};
}

Command make_list(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words();
  const std::vector<std::string_view> lists = list_names();
  if (words.empty() || words.size() > 2) arguments.only_word("list (" + join(lists) + ")");
  if (std::ranges::find(lists, words[0]) == lists.end()) {
    arguments.refuse(unknown_name("list", words[0], lists));
  }
  return ListCommand{words[0], words.size() > 1 ? words[1] : "",
                     arguments.choice<TableFormat>("format", {{"table", TableFormat::kTable},
                                                              {"csv", TableFormat::kCsv},
                                                              {"json", TableFormat::kJson}})};
}

Command make_exact(const Arguments& arguments) {
  ExactCommand exact = exact_command(arguments);
  exact.format = format_of(arguments);
  return exact;
}

Command make_audit(const Arguments& arguments) {
  return audit_command(arguments);
}

Command make_new(const Arguments& arguments) {
  return NewCommand{arguments.only_word("file to write, such as my_question.json")};
}

// The script's options are in one of ours, so that help and checks are the same as everywhere.
ScriptCommand script_command(const std::string& script, const Arguments& arguments,
                             std::span<const OptionRow> options) {
  if (arguments.words().empty()) arguments.only_word("run's folder");
  ScriptCommand command{script, arguments.words()};
  for (const OptionRow& row : options) {
    const std::string name(row.name);
    if (row.value.empty() && arguments.flag(name)) command.arguments.push_back("--" + name);
    for (const std::string& text : arguments.texts(name)) {
      command.arguments.insert(command.arguments.end(), {"--" + name, text});
    }
  }
  return command;
}

// A command of the program. Help reads these rows; a new command is a new row.
struct CommandRow {
  std::string_view name;
  std::string_view words;    // what follows the name, apart from options
  std::string_view summary;  // one line
  std::span<const OptionRow> options;
  Command (*make)(const Arguments&);  // throws UserError
};

constexpr OptionRow kSeed{"seed", "N", "use this seed instead of the config's"};
constexpr OptionRow kSet{
    "set", "PATH=VALUE",
    "change the config: PATH is a JSON Pointer (/experiments/0/d), a top-level key, "
    "EXPERIMENT.key, or a bare key, set in every drawn experiment; VALUE is JSON, else a string; "
    "may be repeated",
    true};

// A row takes a line or two.
// clang-format off
constexpr std::array kRunOptions{
    OptionRow{"out", "DIR", "folder of the results (default results/NAME; with --set or --seed "
              "results/NAME-FINGERPRINT; with --shard results/NAME.shard-I-of-N)"},
    kSet,
    kSeed,
    OptionRow{"threads", "N",
              "number of threads (default: all available processors); never changes a result"},
    OptionRow{"shard", "I/N", "measure only share I of N; attnscale merge joins the shares"},
    OptionRow{"time-limit", "SECONDS",
              "stop after this time and keep what was measured; the same command goes on from there"},
    OptionRow{"progress", "MODE", "show progress on stderr: auto, bar, plain or never (default auto)",
              false, "auto bar plain never"},
    OptionRow{"quiet", "", "print no tables and no progress"},
    OptionRow{"force", "", "replace another run in the folder, which stays until this one is whole"},
    kHelp};
constexpr std::array kPlanOptions{
    kSet, kSeed,
    OptionRow{"format", "FORMAT", "table, csv or json (default table)", false, "table csv json"}, kHelp};
constexpr std::array kMergeOptions{
    OptionRow{"quiet", "", "print no tables"},
    OptionRow{"force", "", "replace another run in OUT_DIR, which stays until this one is whole"},
    kHelp};
constexpr std::array kPoolOptions{
    OptionRow{"quiet", "", "print no tables"},
    OptionRow{"force", "", "replace what OUT_DIR holds, which stays until the pooled run is whole"},
    kHelp};
constexpr std::array kCompareOptions{
    OptionRow{"format", "FORMAT", "table, markdown, csv or json (default table); csv and json have every line"},
    kHelp};
constexpr std::array kShowOptions{
    OptionRow{"format", "FORMAT", "table, markdown or csv (default table); csv joins the summaries of all runs",
              false, "table markdown csv"},
    OptionRow{"metric", "NAME", "print the tables of this metric alone, or of all; may be repeated", true},
    kHelp};
constexpr std::array kSoftmaxOptions{
    OptionRow{"d", "N", "also divide the scores by sqrt(N) and by N"}, kHelp};
constexpr std::array kPlotOptions{
    OptionRow{"metric", "M", "draw this metric; may be repeated (default: all that the run measured)", true},
    OptionRow{"x", "X", "along the axis: d, keys, scaling_value, entries_value, scaling, entries or logit_sd (default: what varies)"},
    OptionRow{"sort", "", "sort what stands below each other by its value"},
    OptionRow{"out", "DIR", "folder of the pictures (default: figures in the run's; of several runs here)"},
    OptionRow{"pdf", "", "write a PDF of each picture as well"},
    kHelp};
constexpr std::array kReportOptions{
    OptionRow{"out", "FILE", "the page (default: report.html in DIR; for several runs here)"}, kHelp};
constexpr std::array kListOptions{
    OptionRow{"format", "FORMAT", "table, csv or json (default table)", false, "table csv json"}, kHelp};
constexpr std::array kHelpAlone{kHelp};
// clang-format on

Command make_plot(const Arguments& arguments) {
  return script_command("plot.py", arguments, kPlotOptions);
}

Command make_report(const Arguments& arguments) {
  return script_command("report.py", arguments, kReportOptions);
}

Command make_completion(const Arguments& arguments);

// A row takes a line or two.
// clang-format off
const std::array kCommands{
    CommandRow{"run", "CONFIG", "measure what a config asks for; write files, print tables",
               kRunOptions, make_run},
    CommandRow{"plan", "CONFIG", "show cells, blocks, formulas and expected time; run nothing",
               kPlanOptions, make_plan},
    CommandRow{"merge", "OUT_DIR SHARD_DIR...",
               "join the shards of a run into the files of the whole run",
               kMergeOptions, make_merge},
    CommandRow{"pool", "OUT_DIR DIR...", "join runs that differ in the seed alone, and count how many "
               "intervals hold the exact value", kPoolOptions, make_pool},
    CommandRow{"compare", "DIR_A DIR_B", "print how far two runs differ, line by line, the furthest first",
               kCompareOptions, make_compare},
    CommandRow{"show", "DIR...", "print the tables of finished runs again", kShowOptions, make_show},
    CommandRow{"plot", "DIR...", "draw a run's pictures, or the intervals of many seeds",
               kPlotOptions, make_plot},
    CommandRow{"report", "DIR...", "write report.html: one page of a run or several",
               kReportOptions, make_report},
    CommandRow{"verify", "DIR", "check the hashes, query counts and estimates of a run",
               kHelpAlone, make_verify},
    CommandRow{"softmax", "SCORES", "print weights and slopes of a list of scores like 16,8,0",
               kSoftmaxOptions, make_softmax},
    CommandRow{"exact", "--d N --keys N [--reach X]", "print exact values, or what d, keys or factor gives X",
               kExactOptions, make_exact},
    CommandRow{"audit", "--queries F --keys F ...", "find the mistake between q, k and weights, or in a spread",
               kAuditOptions, make_audit},
    CommandRow{"check", "--d N --keys N --queries N ...", "compare printed numbers with exact values",
               check_options(), make_check},
    CommandRow{"schema", "", "print the JSON Schema (draft-07) of the config", kHelpAlone, make_schema},
    CommandRow{"list", "WHAT [NAME | DIR]", "list scalings, laws, metrics, precisions, samplers or runs in DIR",
               kListOptions, make_list},
    CommandRow{"new", "FILE", "write a config to start from", kHelpAlone, make_new},
    CommandRow{"completion", "SHELL", "print what bash or zsh completes commands with", kHelpAlone,
               make_completion},
};
// clang-format on

Command make_completion(const Arguments& arguments) {
  const std::vector<std::string_view> shells = shell_names();
  const std::string shell = arguments.only_word("shell (" + join(shells, " or ") + ")");
  if (std::ranges::find(shells, shell) == shells.end()) {
    arguments.refuse(unknown_name("shell", shell, shells));
  }
  std::vector<CompletedCommand> commands;
  for (const CommandRow& row : kCommands) {
    commands.push_back({row.name, row.summary, row.options, {}});
    if (row.make == make_list) commands.back().words = list_names();
    if (row.make == make_completion) commands.back().words = shells;
  }
  return PrintCommand{completion_text(shell, commands)};
}

// "run CONFIG"
std::string usage(const CommandRow& row) {
  return fmt::format("{}{}{}", row.name, row.words.empty() ? "" : " ", row.words);
}

std::string command_help(const CommandRow& row) {
  const std::size_t width = terminal_width(STDOUT_FILENO);
  return fmt::format("{}\n\n{}\n\n{}",
                     wrapped(fmt::format("Usage: attnscale {} [options]", usage(row)), width),
                     wrapped(std::string(row.summary), width, 0), options_text(row.options, width));
}

std::string program_help() {
  constexpr std::size_t kColumn = 40;
  const std::size_t width = terminal_width(STDOUT_FILENO);
  std::string commands;
  for (const CommandRow& row : kCommands) {
    commands += list_entry("  " + usage(row), row.summary, kColumn, width);
  }
  const auto paragraph = [&](const char* text) { return wrapped(text, width, 0) + "\n"; };
  return paragraph(
             "attnscale measures how big attention scores get, and what that does to softmax.") +
         "\nUsage: attnscale COMMAND ...\n\nCommands\n" + commands + "\n" +
         paragraph(
             "attnscale COMMAND --help lists the options of a command; attnscale --version "
             "shows the version.") +
         "\nTry: attnscale run configs/try_this.json\n\n" +
         paragraph(
             "Exit codes: 0 done; 1 failed; 2 wrong usage or config, or another run in the "
             "folder; 3 finished, but a precision target was not reached; 4 interrupted, run "
             "again to go on; 5 a mismatch was found");
}

const CommandRow& find_command(const std::string& name) {
  const auto found = std::ranges::find(kCommands, name, &CommandRow::name);
  if (found != kCommands.end()) return *found;
  std::vector<std::string_view> names;
  names.reserve(kCommands.size() + 2);
  for (const CommandRow& row : kCommands) names.push_back(row.name);
  for (const char* option : {"--help", "--version"}) names.emplace_back(option);
  throw UserError("attnscale: " + unknown_name("command", name, names));
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    const std::string help = program_help();
    throw UserError(help.substr(0, help.size() - 1));  // the printer of errors ends the line
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    if (arguments.size() == 1) return PrintCommand{program_help()};
    return PrintCommand{command_help(find_command(arguments[1]))};
  }
  if (first == "--version" || first == "-V" || first == "version") {
    if (arguments.size() == 1) return PrintCommand{version_text()};
    throw UserError("attnscale " + first + ": takes no \"" + arguments[1] + "\"");
  }
  const CommandRow& row = find_command(first);
  std::vector<std::string> typed = arguments;
  std::replace(typed.begin(), typed.end(), std::string("-h"), std::string("--help"));
  const Arguments parsed = parse_options(row.options, std::move(typed));
  if (parsed.flag("help")) return PrintCommand{command_help(row)};
  return row.make(parsed);
}

}  // namespace attnscale
