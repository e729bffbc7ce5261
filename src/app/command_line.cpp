#include "app/command_line.h"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <sstream>

#include "app/command_line_arguments.h"
#include "app/processors.h"
#include "app/provenance.h"
#include "config/nearest_name.h"
#include "config/user_error.h"

namespace attnscale {
namespace {

namespace po = boost::program_options;


// What --set and --seed change in the config; --seed comes last, so that it wins.
std::vector<Override> overrides_of(const Arguments& arguments) {
  std::vector<Override> overrides;
  for (const std::string& text : arguments.texts("set")) overrides.push_back(parse_override(text));
  const auto seed = arguments.whole_number("seed", 0, kLargestSeed);
  if (seed) overrides.push_back({"seed", std::to_string(*seed)});
  return overrides;
}

constexpr std::int64_t kMostShards = 1'000'000;

std::optional<Shard> shard_of(const Arguments& arguments) {
  const auto text = arguments.text("shard");
  if (!text) return std::nullopt;
  const std::size_t slash = text->find('/');
  if (slash != std::string::npos) {
    const auto index = Arguments::parse<std::int64_t>(std::string_view(*text).substr(0, slash));
    const auto count = Arguments::parse<std::int64_t>(std::string_view(*text).substr(slash + 1));
    const bool good = index && count && *index >= 1 && *index <= *count && *count <= kMostShards;
    if (good) return Shard{*index, *count};
  }
  arguments.refuse("shard", *text, "I/N with I from 1 to N, N at most a million, such as 2/7");
}

Command build_run(const Arguments& arguments) {
  RunCommand run;
  run.config = arguments.only_word("config");
  run.out = arguments.text("out");
  if (run.out && run.out->empty()) arguments.refuse("out", "", "a folder");
  run.overrides = overrides_of(arguments);
  run.threads =
      static_cast<int>(arguments.whole_number("threads", 1, 1024).value_or(available_processors()));
  run.shard = shard_of(arguments);
  run.time_limit_seconds = arguments.positive_number("time-limit", "seconds above 0");
  run.progress = arguments.choice(
      "progress",
      std::array{std::pair{"auto", ProgressForm::kAuto}, std::pair{"bar", ProgressForm::kBar},
                 std::pair{"plain", ProgressForm::kPlain},
                 std::pair{"never", ProgressForm::kNever}},
      ProgressForm::kAuto);
  run.verbosity = arguments.flag("quiet") ? Verbosity::kQuiet : Verbosity::kNormal;
  run.other_run = arguments.flag("force") ? OtherRun::kReplace : OtherRun::kRefuse;
  return run;
}

Command build_plan(const Arguments& arguments) {
  PlanCommand plan;
  plan.config = arguments.only_word("config");
  plan.overrides = overrides_of(arguments);
  plan.format = arguments.choice(
      "format",
      std::array{std::pair{"table", TableFormat::kTable}, std::pair{"csv", TableFormat::kCsv},
                 std::pair{"json", TableFormat::kJson}},
      TableFormat::kTable);
  return plan;
}

Command build_merge(const Arguments& arguments) {
  MergeCommand merge;
  if (arguments.words().size() < 2) {
    throw UserError(
        "attnscale merge: wants the folder to write and the shards' folders; see "
        "attnscale merge --help");
  }
  merge.out = arguments.words().front();
  merge.shards.assign(arguments.words().begin() + 1, arguments.words().end());
  merge.verbosity = arguments.flag("quiet") ? Verbosity::kQuiet : Verbosity::kNormal;
  merge.other_run = arguments.flag("force") ? OtherRun::kReplace : OtherRun::kRefuse;
  return merge;
}

Command build_show(const Arguments& arguments) {
  if (arguments.words().empty()) arguments.only_word("run's folder");
  return ShowCommand{arguments.words(),
                     arguments.choice("format",
                                      std::array{std::pair{"table", TableFormat::kTable},
                                                 std::pair{"markdown", TableFormat::kMarkdown},
                                                 std::pair{"csv", TableFormat::kCsv}},
                                      TableFormat::kTable)};
}

Command build_verify(const Arguments& arguments) {
  return VerifyCommand{arguments.only_word("run's folder")};
}

Command build_softmax(const Arguments& arguments) {
  SoftmaxCommand softmax;
  softmax.scores = parse_scores(arguments, arguments.only_word("list of scores"));
  softmax.d = arguments.whole_number("d", 1, std::int64_t{1} << 53);
  return softmax;
}

// The head size, said or as width over heads.
std::int64_t head_size(const Arguments& arguments, const AuditCommand& audit,
                       std::optional<std::int64_t> said) {
  if (said) return *said;
  if (!audit.d_model || !audit.heads) {
    arguments.refuse("wants --d N, or --d-model N and --heads N, of which it is the quotient");
  }
  if (*audit.d_model % *audit.heads != 0) {
    arguments.refuse("--d-model " + std::to_string(*audit.d_model) + " is no multiple of --heads " +
                     std::to_string(*audit.heads) + "; say the head size with --d");
  }
  return *audit.d_model / *audit.heads;
}

Command build_audit(const Arguments& arguments) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;
  arguments.no_words();
  const auto size = [&](const std::string& name) {
    return arguments.whole_number(name, 1, kLargest);
  };
  AuditCommand audit;
  audit.measured_sd =
      arguments.positive_number("measured-sd", "the spread of measured logits, a number above 0");
  audit.d_model = size("d-model");
  audit.heads = size("heads");
  audit.padded_d = size("padded-d");
  audit.value_d = size("value-d");
  audit.layers = size("layers");
  audit.d = head_size(arguments, audit, size("d"));
  return audit;
}

Command build_schema(const Arguments& arguments) {
  arguments.no_words();
  return SchemaCommand{};
}

Command build_list(const Arguments& arguments) {
  constexpr std::array<std::string_view, 4> kLists{"scalings", "laws", "metrics", "samplers"};
  const std::string& what = arguments.only_word("list (scalings, laws, metrics or samplers)");
  if (std::find(kLists.begin(), kLists.end(), what) == kLists.end()) {
    arguments.refuse(unknown_name("list", what, kLists));
  }
  return ListCommand{what};
}

void add_config_options(po::options_description_easy_init add) {
  add("set", po::value<std::vector<std::string>>()->value_name("PATH=VALUE"),
      "change the config: PATH is a JSON Pointer (/experiments/0/d), a top-level key, "
      "EXPERIMENT.key, or a bare key, set in every drawn experiment; VALUE is JSON, else a string; "
      "may be repeated")("seed", po::value<std::string>()->value_name("N"),
                         "the seed, instead of the config's");
}

void add_run_options(po::options_description_easy_init add) {
  add("out", po::value<std::string>()->value_name("DIR"),
      "where results go (default results/NAME; with --set or --seed results/NAME-FINGERPRINT; "
      "with --shard results/NAME.shard-I-of-N)");
  add_config_options(add);
  add("threads", po::value<std::string>()->value_name("N"),
      "threads (default: the processors this process may use); never changes a number")(
      "shard", po::value<std::string>()->value_name("I/N"),
      "measure share I of N, to be joined by attnscale merge")(
      "time-limit", po::value<std::string>()->value_name("SECONDS"),
      "stop after that time and keep what was measured: the same command goes on")(
      "progress", po::value<std::string>()->value_name("MODE"),
      "auto, bar, plain or never (default auto); goes to stderr")(
      "quiet", po::bool_switch(), "print no tables and no progress")(
      "force", po::bool_switch(), "replace another run in the folder");
}

void add_plan_options(po::options_description_easy_init add) {
  add_config_options(add);
  add("format", po::value<std::string>()->value_name("FORMAT"), "table, csv or json");
}

void add_merge_options(po::options_description_easy_init add) {
  add("quiet", po::bool_switch(), "print no tables")("force", po::bool_switch(),
                                                     "replace another run in OUT_DIR");
}

void add_show_options(po::options_description_easy_init add) {
  add("format", po::value<std::string>()->value_name("FORMAT"),
      "table, markdown or csv; csv joins the summaries of all runs");
}

void add_softmax_options(po::options_description_easy_init add) {
  add("d", po::value<std::string>()->value_name("N"),
      "divide the scores by sqrt(N) and by N as well");
}

void add_audit_options(po::options_description_easy_init add) {
  const auto size = [] { return po::value<std::string>()->value_name("N"); };
  add("d", size(), "the head size; by default d-model over heads")(
      "measured-sd", po::value<std::string>()->value_name("X"),
      "the spread (standard deviation) that was measured of what enters the softmax")(
      "d-model", size(), "the model's width")("heads", size(), "heads that share the width")(
      "padded-d", size(), "the head size as a kernel pads it")(
      "value-d", size(), "the head size of the values")("layers", size(), "layers of the model");
}

void add_no_options(po::options_description_easy_init) {}

struct CommandRow {
  std::string_view name;
  std::string_view words;    // what follows the name, beside options
  std::string_view summary;  // one line
  void (*add_options)(po::options_description_easy_init);
  Command (*build)(const Arguments&);
};

constexpr std::array kCommands{
    CommandRow{"run", "CONFIG", "measure what a config asks for; files and tables", add_run_options,
               build_run},
    CommandRow{"plan", "CONFIG", "cells, blocks, formulas and expected time; runs nothing",
               add_plan_options, build_plan},
    CommandRow{"merge", "OUT_DIR SHARD_DIR...",
               "shards of one run, in any order, into the single run's bytes", add_merge_options,
               build_merge},
    CommandRow{"show", "DIR...", "the tables of finished runs again", add_show_options, build_show},
    CommandRow{"verify", "DIR", "hashes, query counts, estimates against exact values",
               add_no_options, build_verify},
    CommandRow{"softmax", "SCORES", "weights and slopes of a list of scores, such as 16,8,0",
               add_softmax_options, build_softmax},
    CommandRow{"audit", "--d N --measured-sd X", "which usual mistake explains a measured spread",
               add_audit_options, build_audit},
    CommandRow{"schema", "", "JSON Schema (draft-07) of the config", add_no_options, build_schema},
    CommandRow{"list", "scalings|laws|metrics|samplers",
               "what a config may name, and what it means", add_no_options, build_list},
};

// "run CONFIG"
std::string usage(const CommandRow& row) {
  std::string text(row.name);
  if (!row.words.empty()) text.append(" ").append(row.words);
  return text;
}

po::options_description options_of(const CommandRow& row) {
  po::options_description options("Options", 100, 50);
  row.add_options(options.add_options());
  options.add_options()("help", po::bool_switch(), "this text");
  return options;
}

std::string command_help(const CommandRow& row) {
  std::ostringstream text;
  text << "Usage: attnscale " << usage(row) << " [options]\n\n"
       << row.summary << "\n\n"
       << options_of(row);
  return text.str();
}

std::string program_help() {
  std::ostringstream text;
  text << "attnscale measures how big attention scores get, and what that does to softmax.\n\n"
          "Usage: attnscale COMMAND ...\n\nCommands\n";
  for (const CommandRow& row : kCommands) {
    text << "  " << std::left;
    text.width(38);
    text << usage(row) << row.summary << "\n";
  }
  text << "\nattnscale COMMAND --help tells the options of one command; attnscale --version the "
          "version.\n\n"
          "Try: attnscale run configs/try_this.json\n\n"
          "Exit codes: 0 done; 1 failed; 2 wrong usage or config, or another run in the folder;\n"
          "3 finished, but a precision target was not reached; 4 interrupted, run again to go on;\n"
          "5 a mismatch was found\n";
  return text.str();
}

// Refuses an option that `row` does not have, with the nearest one that it has.
[[noreturn]] void refuse_option(const CommandRow& row, const std::string& found) {
  const auto options = options_of(row);
  std::vector<std::string> names;
  for (const auto& option : options.options()) {
    names.push_back(std::string("--").append(option->long_name()));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  throw UserError("attnscale " + std::string(row.name) + ": " +
                  unknown_name("option", found.substr(0, found.find('=')), views));
}

// Refuses what Program_options would take for something else: an option as the value of the one
// before it, and a short option as a word. A number such as -1,2 is a word like any other.
void check_words(const CommandRow& row, const po::options_description& options,
                 const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      const bool is_option = word.size() > 1 && word[0] == '-' &&
                             std::isalpha(static_cast<unsigned char>(word[1])) != 0;
      if (is_option) refuse_option(row, word);
      continue;
    }
    const auto* option = options.find_nothrow(word.substr(2), false);
    if (option == nullptr || option->semantic()->min_tokens() == 0) continue;
    ++i;
    if (i == words.size() || words[i].starts_with("--")) {
      throw UserError("attnscale " + std::string(row.name) + ": " + word + " wants " +
                      option->semantic()->name() + " behind it" +
                      (i == words.size() ? "" : std::string(", not ").append(words[i])));
    }
  }
}

Command parse_command(const CommandRow& row, const std::vector<std::string>& words) {
  namespace style = po::command_line_style;
  const auto options = options_of(row);
  const std::string command(row.name);
  try {
    check_words(row, options, words);
    // Long options only, never guessed from an abbreviation.
    const po::parsed_options parsed =
        po::command_line_parser(words)
            .options(options)
            .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
            .run();
    po::variables_map checked;
    po::store(parsed, checked);
    std::map<std::string, std::vector<std::string>> given;
    std::vector<std::string> positional;
    for (const po::option& option : parsed.options) {
      auto& texts = option.string_key.empty() ? positional : given[option.string_key];
      texts.insert(texts.end(), option.value.begin(), option.value.end());
    }
    if (given.contains("help")) return PrintCommand{command_help(row)};
    return row.build(Arguments(command, std::move(given), std::move(positional)));
  } catch (const po::unknown_option& error) {
    refuse_option(row, error.get_option_name());
  } catch (const po::multiple_occurrences& error) {
    throw UserError("attnscale " + command + ": " + error.get_option_name() + " is given twice");
  } catch (const po::error& error) {
    throw UserError("attnscale " + command + ": " + error.what());
  }
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

Command parse_command_line(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    const std::string help = program_help();
    throw UserError(help.substr(0, help.size() - 1));  // the printer of errors ends the line
  }
  const std::string& first = arguments.front();
  std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  if (first == "--help" || first == "-h" || first == "help") {
    return PrintCommand{words.empty() ? program_help() : command_help(find_command(words.front()))};
  }
  if (first == "--version") {
    if (words.empty()) return PrintCommand{version_text()};
    throw UserError("attnscale --version: takes no \"" + words.front() + "\"");
  }
  std::replace(words.begin(), words.end(), std::string("-h"), std::string("--help"));
  Command command = parse_command(find_command(first), words);
  if (auto* run = std::get_if<RunCommand>(&command)) run->arguments = arguments;
  if (auto* merge = std::get_if<MergeCommand>(&command)) merge->arguments = arguments;
  return command;
}

}  // namespace attnscale
