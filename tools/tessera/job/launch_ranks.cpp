#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "core/text/error.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "tools/simulation/forced_end.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/simulation/run_folder/job_note.hpp"
#include "tools/simulation/run_folder/run_result.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/job/job_launcher.hpp"
#include "tools/tessera/job/mpi_needs.hpp"

namespace tessera {
namespace {

const char* const kLauncher = "mpiexec.mpich";
constexpr int kNoLauncher = 127;
constexpr int kLostRank = static_cast<int>(ErrorKind::Internal);

int numberInEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

/// What the launcher has to say on how it went.
std::string statusText(int status) {
  if (WIFSIGNALED(status)) return std::string("the launcher was ended by ") + ::strsignal(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  std::string text = "the launcher ended with code " + std::to_string(code);
  if (code == SIGKILL || code == SIGSEGV || code == SIGBUS || code == SIGFPE || code == SIGILL)
    text += ", as after the signal \"" + std::string(::strsignal(code)) + "\"";
  return text;
}

std::int64_t newestCheckpoint(const std::filesystem::path& runFolder) {
  try {
    for (const CheckpointListing& listing : listCheckpoints(runFolder / "checkpoints")) {
      if (listing.valid) return listing.step;
    }
  } catch (const Error&) {
    // What is asked for is advice; without it the message is shorter.
  }
  return -1;
}

/// A rank went without a word: killed, crashed, or ended by a call of exit. This process says it in its
/// place.
int reportLostRank(const JobNote& note, int status) {
  const std::filesystem::path run = note.runFolder();
  Message message("a rank of the job ended without a message, so the other ranks were ended too");
  message.line("found  ", statusText(status));
  const std::int64_t step = run.empty() ? -1 : newestCheckpoint(run);
  if (step >= 0) {
    message.line("fix    continue from the checkpoint of step ", step, ": tessera restart ", run.string(),
                 "; if memory ran out, use more machines or fewer cells");
  } else {
    message.line("fix    start it again; if memory ran out, use more machines or fewer cells");
  }
  const InternalError error(message.text());
  if (run.empty() || claimFailure(run, error, std::nullopt)) printError(error);
  return kLostRank;
}

int exitCodeOf(const JobNote& note, int status, int ranks) {
  const int launcher = WIFEXITED(status) ? WEXITSTATUS(status) : kLostRank;
  if (launcher == kNoLauncher) {
    throw InternalError(Message(std::string("cannot start ") + kLauncher)
                            .line("fix  install the package mpich, or run with one rank (without -n)")
                            .text());
  }
  const std::map<pid_t, int> codes = note.exitCodes();
  for (const auto& [rank, code] : codes) {
    if (code != 0) return code;
  }
  if (codes.size() == static_cast<std::size_t>(ranks)) return 0;
  if (note.ready().empty()) throw InternalError(mpiDidNotStart(statusText(status), ranks));
  return reportLostRank(note, status);
}

/// A bundle brings its own launcher, beside the program, which fits its libraries; elsewhere the PATH names
/// it.
std::string launcherBeside(const std::filesystem::path& program) {
  const std::filesystem::path beside = program.parent_path() / kLauncher;
  return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : kLauncher;
}

}  // namespace

bool startedByLauncher() {
  constexpr std::array kStarts{"PMI",       "PMIX_",  "OMPI_",    "SLURM_PROCID", "PALS_", "ALPS_",
                               "MPI_LOCAL", "HYDRA_", "MV2_COMM", "FLUX_",        "JSM_"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    for (const std::string_view start : kStarts) {
      if (variable.substr(0, start.size()) == start) return true;
    }
  }
  return false;
}

int rankOfLauncher() { return numberInEnvironment("PMI_RANK", 0); }

std::optional<int> launchRanks(int ranks, char** argv) {
  if (std::getenv("PMI_RANK") != nullptr) {
    const int started = numberInEnvironment("PMI_SIZE", 1);
    if (started == ranks) return {};
    throw UsageError(Message("-n " + std::to_string(ranks) + " contradicts the launcher, which started " +
                             std::to_string(started) + " rank(s)")
                         .line("fix  leave out -n where mpiexec starts the program")
                         .text());
  }
  if (ranks == 1) return {};
  // The path itself, not /proc/self/exe: it would name the launcher in the processes that the launcher
  // starts.
  std::error_code none;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", none).string();
  const std::string count = std::to_string(ranks);
  const std::string launcher = launcherBeside(program);
  std::vector<std::string> arguments{launcher, "-n", count, program};
  for (char** argument = argv + 1; *argument != nullptr; ++argument) arguments.emplace_back(*argument);
  requireForMpi(ranks);
  const JobNote note;
  const int status = JobLauncher(std::move(arguments), ranks, note).wait();
  return exitCodeOf(note, status, ranks);
}

}  // namespace tessera
