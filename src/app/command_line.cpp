#include "app/command_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "app/audit.h"
#include "app/check.h"
#include "app/commands.h"
#include "app/compare.h"
#include "app/completion.h"
#include "app/exact.h"
#include "app/list.h"
#include "app/new_config.h"
#include "app/process.h"
#include "app/run_experiment.h"
#include "app/run_folder.h"
#include "app/verify.h"
#include "app/version.h"
#include "config/config.h"
#include "config/nearest_name.h"
#include "config/values.h"

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
  constexpr std::int64_t kMostShards = 1'000'000;
  const auto shard = parse_shard(*text, "/");
  if (shard && shard->count <= kMostShards) return shard;
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

// The first word, and those after it; `needs` says what they are where there are fewer than
// `least`.
std::pair<std::string, std::vector<std::string>> folder_and_parts(const Arguments& arguments,
                                                                  std::size_t least,
                                                                  const std::string& needs) {
  const std::vector<std::string>& words = arguments.words();
  if (words.size() < least) {
    arguments.refuse(fmt::format("needs the folder to write and {}; see attnscale {} --help", needs,
                                 arguments.typed().front()));
  }
  return {words.front(), {words.begin() + 1, words.end()}};
}

// What each command does.

ExitCode do_run(const Arguments& arguments, Executor& executor) {
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
  return run_experiment(run, executor);
}

ExitCode do_merge(const Arguments& arguments, Executor& /*executor*/) {
  const auto [out, shards] = folder_and_parts(arguments, 2, "the folders of the shards");
  return merge_experiment(out, shards, writing_options(arguments));
}

ExitCode do_pool(const Arguments& arguments, Executor& /*executor*/) {
  const auto [out, runs] = folder_and_parts(arguments, 3, "those of two runs or more");
  return pool_experiment(out, runs, writing_options(arguments));
}

ExitCode do_show(const Arguments& arguments, Executor& /*executor*/) {
  if (arguments.words().size() < 2) arguments.only_word("run's folder");
  write_stdout(show_text(arguments.words(), format_of(arguments), arguments.texts("metric"),
                         terminal_size(STDOUT_FILENO)));
  return ExitCode::kDone;
}

Answer do_plan(const Arguments& arguments, std::size_t width) {
  const LoadedConfig loaded =
      load_config(config_place(arguments.only_word("config")), overrides_of(arguments));
  for (const std::string& warning : loaded.warnings) say("warning: " + warning);
  return {plan_text(loaded.config, overrides_of(arguments), format_of(arguments), width)};
}

Answer do_compare(const Arguments& arguments, std::size_t width) {
  const auto& words = arguments.words();
  if (words.size() != 2) {
    arguments.refuse(fmt::format(
        "compares the folders of two runs, not {}; see attnscale compare --help", words.size()));
  }
  return {compare_text(words[0], words[1], format_of(arguments), width)};
}

Answer do_verify(const Arguments& arguments, std::size_t /*width*/) {
  return verify_folder(run_place(arguments.only_word("run's folder")));
}

Answer do_softmax(const Arguments& arguments, std::size_t width) {
  return {softmax_text(parse_numbers(arguments, "scores", arguments.only_word("list of scores")),
                       arguments.whole_number("d", 1, Arguments::kLargestSize), width)};
}

Answer do_audit(const Arguments& arguments, std::size_t width) {
  return audit(audit_command(arguments), width);
}

Answer do_schema(const Arguments& arguments, std::size_t /*width*/) {
  arguments.no_words();
  return {config_schema()};
}

Answer do_list(const Arguments& arguments, std::size_t width) {
  const std::vector<std::string>& words = arguments.words();
  const std::vector<std::string_view> lists = list_names();
  if (words.empty() || words.size() > 2) arguments.only_word("list (" + join(lists) + ")");
  if (std::ranges::find(lists, words[0]) == lists.end()) {
    arguments.refuse(unknown_name("list", words[0], lists));
  }
  return {list_text(words[0], words.size() > 1 ? words[1] : "", format_of(arguments), width)};
}

Answer do_new(const Arguments& arguments, std::size_t /*width*/) {
  return {write_new_config(arguments.only_word("file to write (such as my_question.json)"))};
}

// The script's options are in one of ours, so that help and checks are the same as everywhere.
[[noreturn]] void do_script(const std::string& script, const Arguments& arguments,
                            std::span<const OptionRow> options) {
  if (arguments.words().size() < 2) arguments.only_word("run's folder");
  std::vector<std::string> words = arguments.words();
  for (const OptionRow& row : options) {
    const std::string name(row.name);
    if (row.value.empty() && arguments.flag(name)) words.push_back("--" + name);
    for (const std::string& text : arguments.texts(name)) {
      words.insert(words.end(), {"--" + name, text});
    }
  }
  become_script(script, words);
}

template <Answer (*answer)(const Arguments&, std::size_t width)>
ExitCode print(const Arguments& arguments, Executor& /*executor*/) {
  const auto [text, code] = answer(arguments, terminal_width(STDOUT_FILENO));
  write_stdout(text);
  return code;
}

// A command of the program. Help reads these rows; a new command is a new row.
struct CommandRow {
  std::string_view name;
  std::string_view words;    // what follows the name, apart from options
  std::string_view summary;  // one line
  std::span<const OptionRow> options;
  ExitCode (*run)(const Arguments&, Executor&);
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
    OptionRow{"format", "FORMAT", "table, markdown, csv or json (default table); csv and json have every line",
              false, "table markdown csv json"},
    kHelp};
constexpr std::array kShowOptions{
    OptionRow{"format", "FORMAT", "table, markdown, csv or json (default table); csv and json join the summaries of all runs",
              false, "table markdown csv json"},
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

ExitCode do_plot(const Arguments& arguments, Executor& /*executor*/) {
  do_script("plot.py", arguments, kPlotOptions);
}

ExitCode do_report(const Arguments& arguments, Executor& /*executor*/) {
  do_script("report.py", arguments, kReportOptions);
}

Answer do_completion(const Arguments& arguments, std::size_t width);

// A row takes a line or two.
// clang-format off
const std::array kCommands{
    CommandRow{"run", "CONFIG", "measure what a config asks for; write files, print tables",
               kRunOptions, do_run},
    CommandRow{"plan", "CONFIG", "show cells, blocks, formulas and expected time; run nothing",
               kPlanOptions, print<do_plan>},
    CommandRow{"merge", "OUT_DIR SHARD_DIR...",
               "join the shards of a run into the files of the whole run",
               kMergeOptions, do_merge},
    CommandRow{"pool", "OUT_DIR DIR...", "join runs that differ in the seed alone, and count how many "
               "intervals hold the exact value", kPoolOptions, do_pool},
    CommandRow{"compare", "DIR_A DIR_B", "print how far two runs differ, line by line, the furthest first",
               kCompareOptions, print<do_compare>},
    CommandRow{"show", "DIR...", "print the tables of finished runs again", kShowOptions, do_show},
    CommandRow{"plot", "DIR...", "draw a run's pictures, or the intervals of many seeds",
               kPlotOptions, do_plot},
    CommandRow{"report", "DIR...", "write report.html: one page of a run or several",
               kReportOptions, do_report},
    CommandRow{"verify", "DIR", "check the hashes, query counts and estimates of a run",
               kHelpAlone, print<do_verify>},
    CommandRow{"softmax", "SCORES", "print weights and slopes of a list of scores like 16,8,0",
               kSoftmaxOptions, print<do_softmax>},
    CommandRow{"exact", "--d N --keys N [--reach X]", "print exact values, or what d, keys or factor gives X",
               kExactOptions, print<exact>},
    CommandRow{"audit", "--queries F --keys F ...", "find the mistake between q, k and weights, or in a spread",
               kAuditOptions, print<do_audit>},
    CommandRow{"check", "--d N --keys N --queries N ...", "compare printed numbers with exact values",
               check_options(), print<check>},
    CommandRow{"schema", "", "print the JSON Schema (draft-07) of the config", kHelpAlone, print<do_schema>},
    CommandRow{"list", "WHAT [NAME | DIR]", "list scalings, laws, metrics, precisions, samplers or runs in DIR",
               kListOptions, print<do_list>},
    CommandRow{"new", "FILE", "write a config to start from", kHelpAlone, print<do_new>},
    CommandRow{"completion", "SHELL", "print what bash or zsh completes commands with", kHelpAlone,
               print<do_completion>},
};
// clang-format on

Answer do_completion(const Arguments& arguments, std::size_t /*width*/) {
  const std::vector<std::string_view> shells = shell_names();
  const std::string shell = arguments.only_word("shell (" + join(shells, " or ") + ")");
  if (std::ranges::find(shells, shell) == shells.end()) {
    arguments.refuse(unknown_name("shell", shell, shells));
  }
  std::vector<CompletedCommand> commands;
  for (const CommandRow& row : kCommands) {
    commands.push_back({row.name, row.summary, row.options, {}});
    if (row.run == print<do_list>) commands.back().words = list_names();
    if (row.run == print<do_completion>) commands.back().words = shells;
  }
  return {completion_text(shell, commands)};
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
  for (const CommandRow& row : kCommands) names.push_back(row.name);
  for (const char* option : {"--help", "--version"}) names.emplace_back(option);
  throw UserError("attnscale: " + unknown_name("command", name, names));
}

}  // namespace

ExitCode run_command(const std::vector<std::string>& arguments, Executor& executor) {
  if (arguments.empty()) {
    write_stderr(program_help());
    return ExitCode::kWrongInput;
  }
  const auto print_text = [](const std::string& text) {
    write_stdout(text);
    return ExitCode::kDone;
  };
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    return print_text(arguments.size() == 1 ? program_help()
                                            : command_help(find_command(arguments[1])));
  }
  if (first == "--version" || first == "-V" || first == "version") {
    if (arguments.size() == 1) return print_text(version_text());
    throw UserError("attnscale " + first + ": takes no \"" + arguments[1] + "\"");
  }
  const CommandRow& row = find_command(first);
  std::vector<std::string> typed = arguments;
  std::replace(typed.begin(), typed.end(), std::string("-h"), std::string("--help"));
  const Arguments parsed = parse_options(row.options, std::move(typed));
  return parsed.flag("help") ? print_text(command_help(row)) : row.run(parsed, executor);
}

}  // namespace attnscale
