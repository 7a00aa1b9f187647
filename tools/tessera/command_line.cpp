#include "tools/tessera/command_line.hpp"

#include <iostream>
#include <map>

#include <CLI/CLI.hpp>

#include "core/build_info.hpp"
#include "tools/tessera/agreement.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/job_note.hpp"

namespace tessera {
namespace {

constexpr int kExitUsage = 2;

/// All commands of the program, and what the command line asked of the one that was named.
class CommandLine {
 public:
  CommandLine(int argc, char** argv, const ComponentRegistry& registry);
  int run();

 private:
  void addRun();
  void addRestart();
  void addCheck();
  void addDescribe();
  void addGraph();
  void addCompare();
  void addOthers();
  void addRunOptions(CLI::App* command);
  int runJob(bool restart);
  int dispatch();

  int argc_;
  char** argv_;
  const ComponentRegistry& registry_;
  CLI::App app_{"Tessera: multiphysics on patches, by a task graph. `tessera COMMAND --help` tells more."};
  RunRequest run_;
  CheckRequest check_;
  GraphRequest graph_;
  std::string graphFormat_ = "text";
  CompareRequest compare_;
  int ranks_ = 1;
  std::string wall_;
  std::string out_;
  bool quiet_ = false;
  std::string log_ = "text";
  std::string executor_ = "threads";
  std::string component_;
  std::string format_ = "text";
  std::string info_;
};

CommandLine::CommandLine(int argc, char** argv, const ComponentRegistry& registry)
    : argc_(argc), argv_(argv), registry_(registry) {
  app_.name("tessera");
  app_.set_version_flag("--version", [] { return asText(buildInfo()); });
  app_.require_subcommand(1);
  app_.footer(
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
  addOthers();
}

void CommandLine::addRunOptions(CLI::App* command) {
  command
      ->add_option("--set", run_.overrides,
                   "Replace a value of the deck, for example --set time.cfl=0.2; repeat it for more")
      ->type_name("TABLE.KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("-n,--ranks", ranks_, "Start this many processes with mpiexec.mpich")
      ->type_name("R")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--threads", run_.threads,
                   "Threads of each rank; 0: the cores of the machine, shared by its ranks")
      ->type_name("T")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command
      ->add_option("--executor", executor_,
                   "threads, or in-order: one thread, tasks in a fixed order, for debugging")
      ->check(CLI::IsMember({"threads", "in-order"}))
      ->capture_default_str();
  command->add_flag("--checked,!--no-checked", run_.checked,
                    std::string("Compare each access to data with its declaration; slow [default: ") +
                        (run_.checked ? "on]" : "off]"));
  command
      ->add_option("--wall", wall_,
                   "Stop with a checkpoint before this much wall time is over: 3600, 1h30m, 01:30:00 "
                   "[default: no limit]")
      ->type_name("TIME");
  command->add_flag("-q,--quiet", quiet_, "Print nothing but warnings and errors [default: off]");
  command->add_option("--log", log_, "Lines for people (text) or for programs (json)")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

void CommandLine::addRun() {
  CLI::App* command = app_.add_subcommand("run", "Run a deck; everything it leaves is in a new run folder");
  command->add_option("DECK", run_.target, "The deck, a TOML file; `tessera describe` shows all keys")
      ->required();
  command
      ->add_option("--out", out_,
                   "The run folder [default: the deck's name in the current folder, with .001, .002 ... "
                   "where that is taken]")
      ->type_name("DIR");
  addRunOptions(command);
}

void CommandLine::addRestart() {
  CLI::App* command = app_.add_subcommand("restart", "Go on with a run from a checkpoint, in its run folder");
  command->add_option("RUN", run_.target, "The run folder")->required();
  command->add_option("--from", run_.fromStep, "The step of the checkpoint [default: the newest]")
      ->type_name("STEP")
      ->check(CLI::NonNegativeNumber);
  addRunOptions(command);
}

void CommandLine::addCheck() {
  CLI::App* command = app_.add_subcommand("check", "Check a deck and say everything that is wrong with it");
  command->add_option("DECK", check_.deck, "The deck")->required();
  command->add_option("--set", check_.overrides, "Replace a value of the deck")
      ->type_name("TABLE.KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--deep", check_.deep,
                    "Also build the mesh, the task graph and the memory plan, and print them "
                    "[default: off]");
  command->add_option("--ranks", check_.ranks, "With --deep: plan for this many ranks; needs no MPI")
      ->type_name("R")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

void CommandLine::addDescribe() {
  CLI::App* command =
      app_.add_subcommand("describe", "Show all keys of a deck: meaning, type, default, range");
  command->add_option("COMPONENT", component_, "Only this table of the deck [default: all]");
  command->add_option("--format", format_, "text, md (Markdown) or json-schema (for editors)")
      ->check(CLI::IsMember({"text", "md", "json-schema"}))
      ->capture_default_str();
}

void CommandLine::addGraph() {
  CLI::App* command =
      app_.add_subcommand("graph", "Print the task graph of one rank: tasks, messages, memory; needs no MPI");
  command->add_option("DECK", graph_.deck, "The deck")->required();
  command->add_option("--set", graph_.overrides, "Replace a value of the deck")
      ->type_name("TABLE.KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--ranks", graph_.ranks, "Compile for a job of this many ranks")
      ->type_name("R")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--rank", graph_.rank, "From the point of view of this rank")
      ->type_name("r")
      ->check(CLI::Range(0, 999'999))
      ->capture_default_str();
  command
      ->add_option("--plan", graph_.plan,
                   "The step plan: initial, step, diagnostics or one of the component's")
      ->capture_default_str();
  command->add_option("--format", graphFormat_, "text, json, dot (Graphviz) or graphml")
      ->check(CLI::IsMember({"text", "json", "dot", "graphml"}))
      ->capture_default_str();
  command->add_flag("--unfolded", graph_.unfolded,
                    "One node for each instance and message, not for each task [default: off]");
}

void CommandLine::addCompare() {
  CLI::App* command =
      app_.add_subcommand("compare", "Compare two runs, field files (.hdf) or checkpoints, value by value");
  command->add_option("A", compare_.a, "A run folder, a .hdf file or a checkpoint")->required();
  command->add_option("B", compare_.b, "Another one of the same kind; patches and ranks may differ")
      ->required();
  CLI::Option* abs =
      command->add_option("--abs", compare_.tolerance.abs, "Largest difference that counts as none")
          ->check(CLI::NonNegativeNumber)
          ->capture_default_str();
  CLI::Option* rel =
      command->add_option("--rel", compare_.tolerance.rel, "The same as a part of the larger value")
          ->check(CLI::NonNegativeNumber)
          ->capture_default_str();
  command->add_flag("--exact", compare_.tolerance.exact, "Every bit has to be the same [default: off]")
      ->excludes(abs)
      ->excludes(rel);
  command->add_option("--field", compare_.fields, "Only this field; repeat it for more [default: all]")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->footer("Exit codes: 0 equal, 1 different, 2 usage, 3 missing or damaged input.");
}

void CommandLine::addOthers() {
  CLI::App* info = app_.add_subcommand("info", "Say what is in a run folder, a field file or a checkpoint");
  info->add_option("WHAT", info_, "A run folder, a .hdf file or a checkpoint")->required();
  app_.add_subcommand("list", "List the components that decks can name");
}

int CommandLine::runJob(bool restart) {
  run_.restart = restart;
  if (!wall_.empty()) run_.wallSeconds = parseDuration(wall_);
  if (!out_.empty()) run_.out = out_;
  run_.executor = executor_ == "threads" ? ExecutorKind::Threads : ExecutorKind::InOrder;
  run_.screen = quiet_ ? ScreenMode::Quiet : log_ == "json" ? ScreenMode::Json : ScreenMode::Text;
  run_.commandLine.assign(argv_, argv_ + argc_);
  if (app_.get_subcommands().front()->count("--ranks") > 0) {
    if (const std::optional<int> exitCode = launchRanks(ranks_, argv_)) return *exitCode;
  }
  const int exitCode = runCommand(run_, registry_);
  noteExitCode(exitCode);
  return exitCode;
}

int CommandLine::dispatch() {
  if (app_.got_subcommand("run")) return runJob(false);
  if (app_.got_subcommand("restart")) return runJob(true);
  if (app_.got_subcommand("check")) return checkCommand(check_, registry_);
  if (app_.got_subcommand("graph")) {
    static const std::map<std::string, GraphFormat> formats{{"text", GraphFormat::Text},
                                                            {"json", GraphFormat::Json},
                                                            {"dot", GraphFormat::Dot},
                                                            {"graphml", GraphFormat::GraphMl}};
    graph_.format = formats.at(graphFormat_);
    return graphCommand(graph_, registry_);
  }
  if (app_.got_subcommand("compare")) return compareCommand(compare_);
  if (app_.got_subcommand("info")) return infoCommand(info_);
  if (app_.got_subcommand("list")) return listCommand(registry_);
  static const std::map<std::string, DescribeFormat> formats{{"text", DescribeFormat::Text},
                                                             {"md", DescribeFormat::Markdown},
                                                             {"json-schema", DescribeFormat::JsonSchema}};
  return describeCommand(component_, formats.at(format_), registry_);
}

int CommandLine::run() {
  try {
    app_.parse(argc_, argv_);
    return dispatch();
  } catch (const CLI::ParseError& error) {
    // The ranks of a job all see the same command line; one of them answers.
    if (rankOfLauncher() != 0) return error.get_exit_code() == 0 ? 0 : kExitUsage;
    return app_.exit(error) == 0 ? 0 : kExitUsage;
  }
}

}  // namespace

void printError(const Error& error) {
  const std::string firstLine = error.message().substr(0, error.message().find('\n'));
  const bool hasPlace = firstLine.find(": error: ") != std::string::npos;
  std::cerr << (hasPlace ? "" : "tessera: error: ") << error.message() << std::endl;
}

int runTessera(int argc, char** argv, const ComponentRegistry& components) {
  try {
    return CommandLine(argc, argv, components).run();
  } catch (...) {
    const Error error = currentError();
    if (rankOfLauncher() == 0) printError(error);
    noteExitCode(error.exitCode());
    return error.exitCode();
  }
}

}  // namespace tessera
