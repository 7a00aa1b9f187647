#include "tools/tessera/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <functional>
#include <limits>
#include <map>

#include <CLI/CLI.hpp>

#include "core/build_info.hpp"
#include "tools/simulation/agreement.hpp"
#include "tools/simulation/run_folder/job_note.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/job/process_limits.hpp"
#include "tools/tessera/programs/command_ensemble.hpp"
#include "tools/tessera/programs/command_job.hpp"
#include "tools/tessera/python_commands.hpp"
#include "tools/tessera/usage_message.hpp"

namespace tessera {
namespace {

/// Refuses a value in a sentence of our own; `shown` is what --help says of the values.
CLI::Validator needs(const std::string& option, const std::string& wanted, const std::string& shown,
                     const std::function<bool(const std::string&)>& fits) {
  const auto check = [=](const std::string& value) {
    if (!fits(value)) throw UsageError(badValueText(option, value, wanted));
    return std::string();
  };
  return CLI::Validator(check, shown);
}

template <class T>
bool isNumberIn(const std::string& text, T lowest, T highest) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= lowest && value <= highest;
}

CLI::Validator wholeNumber(const std::string& option, std::int64_t lowest, std::int64_t highest) {
  const std::string range = std::to_string(lowest) + " to " + std::to_string(highest);
  return needs(option, "a whole number from " + range,
               std::to_string(lowest) + ".." + std::to_string(highest),
               [=](const std::string& text) { return isNumberIn(text, lowest, highest); });
}

CLI::Validator notNegative(const std::string& option) {
  return needs(option, "a number that is not negative, for example 1e-9", ">= 0",
               [](const std::string& text) { return isNumberIn(text, 0.0, 1e308); });
}

CLI::Validator oneOf(const std::string& option, const std::vector<std::string>& choices) {
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  return needs(option, "one of: " + list, "{" + list + "}", [=](const std::string& text) {
    return std::find(choices.begin(), choices.end(), text) != choices.end();
  });
}

/// Refuses an empty name of a file or folder: messages about it would begin with nothing.
CLI::Validator path(const std::string& name) {
  const auto check = [=](const std::string& text) {
    if (!text.empty()) return std::string();
    throw UsageError(Message(name + " is empty").line("fix  give the path of a file or folder").text());
  };
  return CLI::Validator(check, "");
}

CommandWords wordsOf(const CLI::App& app, const std::string& name) {
  CommandWords words{name, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    CommandWord word{{}, type.substr(0, type.find(':')), option->get_description()};
    if (option->get_positional()) {
      word.names.push_back(option->get_single_name());
      if (option->get_required()) words.operands.push_back(word);
      continue;
    }
    for (const std::string& shortName : option->get_snames()) word.names.push_back("-" + shortName);
    for (const std::string& longName : option->get_lnames()) word.names.push_back("--" + longName);
    words.options.push_back(word);
  }
  return words;
}

/// All commands of the program, and what the command line asked of the one that was named.
class CommandLine {
 public:
  CommandLine(int argc, char** argv, const ComponentRegistry& registry, const EmulatedOptions& emulated);
  int run();
  /// A run goes on whether somebody reads what it prints or not.
  bool ranJob() const { return app_.got_subcommand("run") || app_.got_subcommand("restart"); }

 private:
  void addRun();
  void addRestart();
  void addCheck();
  void addDescribe();
  void addGraph();
  void addCompare();
  void addTrace();
  void addEnsemble();
  void addJob();
  void addOthers();
  void addRunOptions(CLI::App* command);
  void addWatchOptions(CLI::App* command);
  static void addJson(CLI::App* command, TableFormat& format);
  static void addSet(CLI::App* command, std::vector<std::string>& overrides);
  std::string usageTextOf(const CLI::ParseError& error) const;
  int runJob(bool restart);
  int runEnsembleJob();
  int dispatch();

  int argc_;
  char** argv_;
  const ComponentRegistry& registry_;
  CLI::App app_{"Tessera: multiphysics on patches, as a task graph. See also `tessera COMMAND --help`."};
  RunRequest run_;
  ensemble::EnsembleRequest ensemble_;
  JobCommandRequest job_;
  CheckRequest check_;
  GraphRequest graph_;
  std::string graphFormat_ = "text";
  CompareRequest compare_;
  int ranks_ = 1;
  std::string wall_;
  std::int64_t sendMebibytes_ = SendLimit{}.bytes >> 20;
  std::string out_;
  bool quiet_ = false;
  std::string traceFile_;
  std::string log_ = "text";
  std::string executor_ = "threads";
  std::string device_ = "none";
  std::string halos_ = "auto";
  std::string component_;
  std::string format_ = "text";
  InfoRequest info_;
  std::string traceView_;
  TableFormat listFormat_ = TableFormat::Text;
  TraceRequest trace_;
};

CommandLine::CommandLine(int argc, char** argv, const ComponentRegistry& registry,
                         const EmulatedOptions& emulated)
    : argc_(argc), argv_(argv), registry_(registry) {
  run_.emulated = emulated;
  app_.name("tessera");
  app_.set_version_flag("--version", [] { return asText(buildInfo()); });
  app_.require_subcommand(1);
  app_.footer(
      "In Python (docs/user/results.md): plot, report, extract, export, convergence, new, doctor, top, "
      "gallery, completion, man.\n"
      "Exit codes: 0 done, 2 usage or deck, 3 missing or damaged input, 4 numerical failure, 5 cannot "
      "write,\n"
      "6 failure of MPI, memory or of Tessera, 75 stopped on request (a checkpoint was written).");
  run_.checked = buildInfo().checkedByDefault;
  addRun();
  addRestart();
  addCheck();
  addDescribe();
  addGraph();
  addCompare();
  addTrace();
  addEnsemble();
  addJob();
  addOthers();
}

void CommandLine::addRunOptions(CLI::App* command) {
  addSet(command, run_.overrides);
  command
      ->add_option(
          "-n,--ranks", ranks_,
          "Start this many processes with mpiexec.mpich; with the virtual executor: simulate so many, 1 to 8")
      ->type_name("R")
      ->check(wholeNumber("--ranks", 1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--threads", run_.threads,
                   "Threads of each rank; 0: the cores that the launcher allows, shared by the ranks on them")
      ->type_name("T")
      ->check(wholeNumber("--threads", 0, 4096))
      ->capture_default_str();
  command
      ->add_option(
          "--executor", executor_,
          "threads; in-order: one thread, tasks in a fixed order, for debugging; or virtual: tasks, messages "
          "and ranks one at a time, in an order that --seed gives")
      ->check(oneOf("--executor", {"threads", "in-order", "virtual"}))
      ->capture_default_str();
  command->add_option("--seed", run_.seed, "Seed of the virtual executor; it repeats its order")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option(
          "--device", device_,
          "Devices for the tasks that can use them: none; cuda, all GPUs of a host, shared by its ranks; "
          "cuda:0,2, only these GPUs; or emulated (emulated:3), one (three) for each rank made of "
          "host memory, for tests")
      ->type_name("DEVICES")
      ->capture_default_str();
  command
      ->add_option(
          "--halos", halos_,
          "Where halos of old values are kept: in-place, around each patch; scratch, with the thread "
          "that needs them; or auto, in scratch where the data are larger than the caches. Changes no "
          "bit of the result")
      ->check(oneOf("--halos", {"auto", "in-place", "scratch"}))
      ->capture_default_str();
  command->add_flag("--bind,!--no-bind", run_.bind,
                    "Bind each thread to a core of its own where the ranks fill all cores of the machine "
                    "[default: on]");
  command->add_flag("--checked,!--no-checked", run_.checked,
                    std::string("Compare each access to data with its declaration; slow [default: ") +
                        (run_.checked ? "on]" : "off]"));
  command
      ->add_option(
          "--watchdog", run_.stallSeconds,
          "End the run, and report what waits for what, when a step makes no progress for so long, or "
          "twice as long while it waits for another rank; 0: never")
      ->type_name("SECONDS")
      ->check(notNegative("--watchdog"))
      ->capture_default_str();
  command
      ->add_option("--sends", run_.sends.messages,
                   "Messages that a rank may have in flight at a time; further ones wait")
      ->type_name("N")
      ->check(wholeNumber("--sends", 1, 1'000'000))
      ->capture_default_str();
  command->add_option("--send-mib", sendMebibytes_, "Their total size in MiB; a larger message is sent alone")
      ->type_name("MIB")
      ->check(wholeNumber("--send-mib", 1, 1'000'000))
      ->capture_default_str();
  addWatchOptions(command);
}

/// What is limited, recorded and shown.
void CommandLine::addWatchOptions(CLI::App* command) {
  command
      ->add_option("--wall", wall_,
                   "Stop with a checkpoint before this much wall time is over: 3600, 1h30m, 01:30:00 "
                   "[default: no limit]")
      ->type_name("TIME");
  command->add_flag(
      "--trace", traceFile_,
      "Record what each worker does and when, for the Perfetto UI and `tessera trace summary`; --trace=FILE "
      "names the file [default: off; without FILE RUN/trace.json.gz]");
  command->add_flag(
      "--trace-edges", run_.traceEdges,
      "With --trace: also an arrow for each dependency; files several times as large [default: off]");
  command->add_flag("-q,--quiet", quiet_, "Print nothing but warnings and errors [default: off]");
  command->add_option("--log", log_, "Progress lines as text for people or as json for programs")
      ->check(oneOf("--log", {"text", "json"}))
      ->capture_default_str();
}

void CommandLine::addRun() {
  CLI::App* command = app_.add_subcommand("run", "Run a deck; all its output goes into a new run folder");
  command->add_option("DECK", run_.target, "The deck, a TOML file; `tessera describe` shows all keys")
      ->check(path("DECK"))
      ->required();
  command
      ->add_option("--out", out_,
                   "The run folder [default: the deck's name in the current folder, with .001, .002 ... "
                   "where that is taken]")
      ->check(path("--out"))
      ->type_name("DIR");
  addRunOptions(command);
}

void CommandLine::addRestart() {
  CLI::App* command = app_.add_subcommand("restart", "Continue a run from a checkpoint, in its run folder");
  command->add_option("RUN", run_.target, "The run folder")->check(path("RUN"))->required();
  command->add_option("--from", run_.fromStep, "The step of the checkpoint [default: the newest]")
      ->type_name("STEP")
      ->check(wholeNumber("--from", 0, 1'000'000'000'000));
  addRunOptions(command);
}

void CommandLine::addCheck() {
  CLI::App* command = app_.add_subcommand("check", "Check a deck and report all that is wrong with it");
  command->add_option("DECK", check_.deck, "The deck")->check(path("DECK"))->required();
  addSet(command, check_.overrides);
  command->add_flag("--deep", check_.deep,
                    "Also build the mesh, the task graph and the memory plan, and print them "
                    "[default: off]");
  command->add_option("--ranks", check_.ranks, "With --deep: plan for this many ranks; needs no MPI")
      ->type_name("R")
      ->check(wholeNumber("--ranks", 1, 1'000'000))
      ->capture_default_str();
  addJson(command, check_.format);
}

void CommandLine::addDescribe() {
  CLI::App* command =
      app_.add_subcommand("describe", "Show all keys of a deck: meaning, type, default, range");
  command->add_option("COMPONENT", component_, "Only this table of the deck [default: all]");
  command->add_option("--format", format_, "text, md (Markdown) or json-schema (for editors)")
      ->check(oneOf("--format", {"text", "md", "json-schema"}))
      ->capture_default_str();
  command->add_flag_callback(
      "--json", [this] { format_ = "json-schema"; }, "As --format json-schema [default: off]");
}

void CommandLine::addGraph() {
  CLI::App* command =
      app_.add_subcommand("graph", "Print the task graph of one rank: tasks, messages, memory; needs no MPI");
  command->add_option("DECK", graph_.deck, "The deck")->check(path("DECK"))->required();
  addSet(command, graph_.overrides);
  command
      ->add_option(
          "--mesh", graph_.mesh,
          "A checkpoint of a run of the deck (RUN/checkpoints/ckpt-...), whose mesh takes the place of "
          "the deck's")
      ->type_name("CHECKPOINT")
      ->check(path("--mesh"));
  command->add_option("--ranks", graph_.ranks, "Compile for a job of this many ranks")
      ->type_name("R")
      ->check(wholeNumber("--ranks", 1, 1'000'000))
      ->capture_default_str();
  command->add_option("--rank", graph_.rank, "From the point of view of this rank")
      ->type_name("r")
      ->check(wholeNumber("--rank", 0, 999'999))
      ->capture_default_str();
  command
      ->add_option("--plan", graph_.plan,
                   "The step plan: initial, step, diagnostics or one of the component's")
      ->capture_default_str();
  command->add_option("--format", graphFormat_, "text, json, dot (Graphviz) or graphml")
      ->check(oneOf("--format", {"text", "json", "dot", "graphml"}))
      ->capture_default_str();
  command->add_flag_callback(
      "--json", [this] { graphFormat_ = "json"; }, "As --format json [default: off]");
  command->add_flag("--unfolded", graph_.unfolded,
                    "One node for each instance and message, not for each task [default: off]");
  command
      ->add_option(
          "--device", device_,
          "Also print where the nodes would run with these devices (as for `tessera run`) and what is "
          "copied; no device is needed")
      ->type_name("DEVICES")
      ->capture_default_str();
}

void CommandLine::addCompare() {
  CLI::App* command =
      app_.add_subcommand("compare", "Compare two runs, field files (.hdf) or checkpoints, value by value");
  command->add_option("A", compare_.a, "A run folder, a .hdf file or a checkpoint")
      ->check(path("A"))
      ->required();
  command->add_option("B", compare_.b, "Another one of the same kind; patches and ranks may differ")
      ->check(path("B"))
      ->required();
  CLI::Option* abs =
      command->add_option("--abs", compare_.tolerance.abs, "Largest difference that counts as equal")
          ->check(notNegative("--abs"))
          ->capture_default_str();
  CLI::Option* rel =
      command->add_option("--rel", compare_.tolerance.rel, "Largest relative difference that counts as equal")
          ->check(notNegative("--rel"))
          ->capture_default_str();
  command->add_flag("--exact", compare_.tolerance.exact, "Every bit has to be the same [default: off]")
      ->excludes(abs)
      ->excludes(rel);
  command->add_option("--field", compare_.fields, "Only this field; repeat it for more [default: all]")
      ->type_name("NAME")
      ->allow_extra_args(false);
  addJson(command, compare_.format);
  command->footer(
      "With --norms, --tolerance or --picture: norms of the difference (docs/user/results.md).\n"
      "Exit codes: 0 equal, 1 different, 2 usage, 3 missing or damaged input.");
}

void CommandLine::addJson(CLI::App* command, TableFormat& format) {
  command->add_flag_callback(
      "--json", [&format] { format = TableFormat::Json; },
      "Print JSON in the place of a table [default: off]");
}

void CommandLine::addSet(CLI::App* command, std::vector<std::string>& overrides) {
  command
      ->add_option("--set", overrides,
                   "Replace a value of the deck, for example --set time.cfl=0.2; repeat it for more")
      ->type_name("TABLE.KEY=VALUE")
      ->allow_extra_args(false);
}

void CommandLine::addTrace() {
  CLI::App* command = app_.add_subcommand("trace", "Analyse what `tessera run DECK --trace` has recorded");
  command
      ->add_option("VIEW", traceView_,
                   "summary: the critical path, what the workers waited for, and a table of the tasks")
      ->required()
      ->check(oneOf("VIEW", {"summary"}));
  command->add_option("TRACE", trace_.target, "A trace, or the run folder that has one")
      ->check(path("TRACE"))
      ->required();
  command->add_option("--step", trace_.step, "Only this step [default: all]")
      ->type_name("STEP")
      ->check(wholeNumber("--step", 0, std::numeric_limits<std::int64_t>::max()));
  addJson(command, trace_.format);
}

void CommandLine::addEnsemble() {
  CLI::App* command = app_.add_subcommand(
      "ensemble", "Run many small tasks: a sweep of parameters in stages, or a replica exchange");
  command->add_option("DECK", ensemble_.deck, "The deck, a TOML file with [[stages]] or [replica_exchange]")
      ->required();
  command
      ->add_option(
          "--out", ensemble_.out,
          "The folder of the results; what it has already is not run again [default: the deck's name in the "
          "current folder]")
      ->type_name("DIR");
  command->add_option("-n,--ranks", ranks_, "Start this many processes with mpiexec.mpich")
      ->type_name("R")
      ->check(wholeNumber("--ranks", 1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--threads", ensemble_.threads, "Workers of each rank; 0: the cores, shared by the ranks")
      ->type_name("T")
      ->check(wholeNumber("--threads", 0, 4096))
      ->capture_default_str();
  command->add_flag("--cuda", ensemble_.cuda,
                    "Run the tasks on GPUs, ranks in turn; with --threads on threads as well [default: off]");
  command->add_flag("-q,--quiet", ensemble_.quiet,
                    "Print nothing but failed tasks and errors [default: off]");
  command->add_flag("--json", ensemble_.json,
                    "Print what was done as JSON, and progress on standard error [default: off]");
}

void CommandLine::addJob() {
  CLI::App* command = app_.add_subcommand("job", "Run an irregular data-parallel job: photons, rays ...");
  command->add_option("DECK", job_.job.deck, "The deck, a TOML file with [job]")->required();
  addSet(command, job_.job.overrides);
  command->add_option("--out", job_.job.out, "Folder of the results [default: the deck's name]")
      ->type_name("DIR");
  command
      ->add_option("--threads", job_.threads,
                   "Workers on the host; 0: one a core [default: one a core, none beside devices]")
      ->type_name("T")
      ->check(wholeNumber("--threads", 0, 4096));
  command
      ->add_option("--device", device_, "Devices that share it: none, cuda, cuda:0,2, emulated, emulated:3")
      ->type_name("DEVICES")
      ->capture_default_str();
  command
      ->add_option("--device-memory", job_.deviceMebibytes, "Mebibytes of each device for domains and queues")
      ->type_name("MIB")
      ->check(wholeNumber("--device-memory", 1, 1'000'000))
      ->capture_default_str();
  command->add_option("--form", job_.job.form, "How units become threads [default: the deck's]")
      ->check(oneOf("--form", jobForms()));
  command->add_flag("--trace", traceFile_, "Record tasks, as `tessera run --trace` does [default: off]");
  command->add_flag("-q,--quiet", job_.job.quiet, "Print only what is not as expected [default: off]");
  command->add_flag("--json", job_.job.json,
                    "Print the result as JSON, and progress on standard error [default: off]");
}

void CommandLine::addOthers() {
  CLI::App* info = app_.add_subcommand("info", "Show what is in a run folder, a field file or a checkpoint");
  info->add_option("WHAT", info_.target, "A run folder, a .hdf file or a checkpoint")
      ->check(path("WHAT"))
      ->required();
  info->add_flag("--verify", info_.verify,
                 "Read all that the run folder holds, and say what is not as it was written [default: off]");
  addJson(info, info_.format);
  addJson(app_.add_subcommand("list", "List the components that decks can name"), listFormat_);
}

int CommandLine::runJob(bool restart) {
  run_.restart = restart;
  run_.sends.bytes = sendMebibytes_ << 20;
  if (!wall_.empty()) run_.wallSeconds = parseDuration(wall_);
  if (!out_.empty()) run_.out = out_;
  run_.trace = !traceFile_.empty() || run_.traceEdges;
  if (traceFile_ != "true") run_.traceFile = traceFile_;
  static const std::map<std::string, ExecutorKind> executors{{"threads", ExecutorKind::Threads},
                                                             {"in-order", ExecutorKind::InOrder},
                                                             {"virtual", ExecutorKind::Virtual}};
  run_.executor = executors.at(executor_);
  run_.devices = parseDeviceChoice(device_);
  static const std::map<std::string, HaloKeeping> halos{
      {"auto", HaloKeeping::Auto}, {"in-place", HaloKeeping::InPlace}, {"scratch", HaloKeeping::Scratch}};
  run_.halos = halos.at(halos_);
  run_.screen = quiet_ ? ScreenMode::Quiet : log_ == "json" ? ScreenMode::Json : ScreenMode::Text;
  run_.commandLine.assign(argv_, argv_ + argc_);
  if (run_.executor == ExecutorKind::Virtual) {
    if (ranks_ > 8) throw UsageError("the virtual executor simulates 1 to 8 ranks; give --ranks 8 or less");
    run_.ranks = ranks_;
  } else if (app_.get_subcommands().front()->count("--ranks") > 0) {
    if (const std::optional<int> exitCode = launchRanks(ranks_, argv_)) return *exitCode;
  }
  return runCommand(run_, registry_);
}

int CommandLine::runEnsembleJob() {
  checkEnsembleDeck(ensemble_.deck);
  if (app_.get_subcommands().front()->count("--ranks") > 0) {
    if (const std::optional<int> exitCode = launchRanks(ranks_, argv_)) return *exitCode;
  }
  return ensembleCommand(ensemble_);
}

int CommandLine::dispatch() {
  if (app_.got_subcommand("run")) return runJob(false);
  if (app_.got_subcommand("restart")) return runJob(true);
  if (app_.got_subcommand("ensemble")) return runEnsembleJob();
  if (app_.got_subcommand("job")) {
    job_.devices = parseDeviceChoice(device_);
    job_.job.trace = traceFile_;
    return jobCommand(job_);
  }
  if (app_.got_subcommand("check")) return checkCommand(check_, registry_);
  if (app_.got_subcommand("graph")) {
    static const std::map<std::string, GraphFormat> formats{{"text", GraphFormat::Text},
                                                            {"json", GraphFormat::Json},
                                                            {"dot", GraphFormat::Dot},
                                                            {"graphml", GraphFormat::GraphMl}};
    graph_.format = formats.at(graphFormat_);
    graph_.devices = parseDeviceChoice(device_);
    return graphCommand(graph_, registry_);
  }
  if (app_.got_subcommand("compare")) return compareCommand(compare_);
  if (app_.got_subcommand("info")) return infoCommand(info_);
  if (app_.got_subcommand("trace")) return traceSummaryCommand(trace_);
  if (app_.got_subcommand("list")) return listCommand(registry_, listFormat_);
  static const std::map<std::string, DescribeFormat> formats{{"text", DescribeFormat::Text},
                                                             {"md", DescribeFormat::Markdown},
                                                             {"json-schema", DescribeFormat::JsonSchema}};
  return describeCommand(component_, formats.at(format_), registry_);
}

std::string CommandLine::usageTextOf(const CLI::ParseError& error) const {
  const std::vector<CLI::App*> chosen = app_.get_subcommands();
  if (chosen.empty() || !app_.remaining().empty()) {
    std::vector<CommandWords> commands;
    for (const CLI::App* command : app_.get_subcommands(nullptr))
      commands.push_back(wordsOf(*command, command->get_name()));
    for (const std::string& name : pythonCommands()) commands.push_back({name, {}, {}});
    return unknownCommandText(argc_ > 1 ? argv_[1] : "", commands, wordsOf(app_, ""));
  }
  const CLI::App& command = *chosen.front();
  const CommandWords words = wordsOf(command, command.get_name());
  std::vector<std::string> rest = command.remaining();
  if (!rest.empty()) {
    const auto option =
        std::find_if(rest.begin(), rest.end(), [](const auto& word) { return word.front() == '-'; });
    return unknownWordText(option == rest.end() ? rest.front() : *option, words);
  }
  const std::string what = error.what();
  if (error.get_name() == "RequiredError") {
    const auto given = std::count_if(words.operands.begin(), words.operands.end(), [&](const auto& operand) {
      return command.count(operand.names.front()) > 0;
    });
    return missingOperandText(static_cast<std::size_t>(given), words);
  }
  if (error.get_name() == "ArgumentMismatch" && what.find("missing") != std::string::npos)
    return missingValueText(what.substr(0, what.find(':')), words);
  if (error.get_name() == "ArgumentMismatch" && what.find("At Most") != std::string::npos)
    return repeatedText(what.substr(0, what.find(':')));
  const std::size_t excludes = what.find(" excludes ");
  if (excludes != std::string::npos)
    return excludingText(what.substr(0, excludes), what.substr(excludes + 10));
  return Message("the command line cannot be read: " + what).line("fix  write ", usageOf(words)).text();
}

int CommandLine::run() {
  try {
    app_.parse(argc_, argv_);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw UsageError(usageTextOf(error));
    // The ranks of a job all see the same command line; one of them shows the help.
    return rankOfLauncher() == 0 ? app_.exit(error) : 0;
  }
  return dispatch();
}

}  // namespace

int runTessera(int argc, char** argv, const ComponentRegistry& components, const EmulatedOptions& emulated) {
  try {
    if (isPythonCommand(argc, argv)) becomePython(argv);
    settleProcess(argc, argv);
    std::signal(SIGPIPE, SIG_IGN);
    CommandLine line(argc, argv, components, emulated);
    const int exitCode = line.run();
    if (!line.ranJob()) requirePrinted();
    return exitCode;
  } catch (...) {
    const Error error = currentError();
    if (rankOfLauncher() == 0) printError(error);
    noteExitCode(error.exitCode());
    return error.exitCode();
  }
}

}  // namespace tessera
