#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <string>
#include <sys/prctl.h>
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

namespace tessera {
namespace {

const char* const kLauncher = "mpiexec.mpich";
constexpr int kCannotStart = 127;
constexpr int kLostRank = static_cast<int>(ErrorKind::Internal);
constexpr int kSecondsToEnd = 10;  ///< after a second signal, before the launcher is killed

int numberInEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

sigset_t setOf(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

/// The launcher in a process group of its own: Ctrl-C at a terminal then comes to this process alone, and is
/// passed on once. It would otherwise come twice, and MPICH's launcher takes that for a wish to kill.
class Launcher {
 public:
  explicit Launcher(std::vector<char*> arguments) {
    sigset_t before;
    sigprocmask(SIG_BLOCK, &watched_, &before);
    pid_ = ::fork();
    if (pid_ < 0) throw InternalError(std::string("cannot start ") + kLauncher + ": " + errorText(errno));
    if (pid_ > 0) return;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(kCannotStart);
  }

  /// Passes signals on until the launcher ends; returns its wait status.
  int wait() {
    int signals = 0;
    int secondsLeft = kSecondsToEnd;
    for (;;) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) return status;
      const timespec second{1, 0};
      const int number = sigtimedwait(&watched_, nullptr, &second);
      if (number == SIGTERM || number == SIGINT) {
        // A second SIGINT would kill the ranks before they can say anything.
        if (signals == 0 && ::isatty(STDERR_FILENO) == 1) std::cerr << kStopAnnouncement << std::flush;
        ::kill(pid_, signals++ == 0 ? number : SIGTERM);
      } else if (number < 0 && errno == EAGAIN && signals > 1 && --secondsLeft == 0) {
        ::kill(pid_, SIGKILL);
      }
    }
  }

 private:
  sigset_t watched_ = setOf({SIGTERM, SIGINT, SIGCHLD});
  pid_t pid_ = -1;
};

/// What the launcher has to say on how it went.
std::string statusText(int status) {
  if (WIFSIGNALED(status)) return std::string("the launcher was ended by: ") + ::strsignal(WTERMSIG(status));
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
  Message message("a rank of the job ended without a word, and the others were ended with it");
  message.line("found  ", statusText(status));
  const std::int64_t step = run.empty() ? -1 : newestCheckpoint(run);
  if (step >= 0) {
    message.line("fix    go on from the checkpoint of step ", step, ": tessera restart ", run.string(),
                 "; where memory ran out, with more machines or fewer cells");
  } else {
    message.line("fix    start it again; where memory ran out, with more machines or fewer cells");
  }
  const InternalError error(message.text());
  if (run.empty() || claimFailure(run, error, std::nullopt)) printError(error);
  return kLostRank;
}

int exitCodeOf(const JobNote& note, int status, int ranks) {
  const int launcher = WIFEXITED(status) ? WEXITSTATUS(status) : kLostRank;
  if (launcher == kCannotStart) {
    throw InternalError(Message(std::string("cannot start ") + kLauncher)
                            .line("fix  install the package mpich, or run with one rank (without -n)")
                            .text());
  }
  if (!note.usable()) return launcher;
  const std::vector<int> codes = note.exitCodes();
  for (const int code : codes) {
    if (code != 0) return code;
  }
  if (codes.size() == static_cast<std::size_t>(ranks) || (launcher == 0 && !codes.empty())) return 0;
  return reportLostRank(note, status);
}

/// A bundle brings its own launcher, beside the program, which fits its libraries; elsewhere the PATH names
/// it.
std::string launcherBeside(const std::filesystem::path& program) {
  const std::filesystem::path beside = program.parent_path() / kLauncher;
  return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : kLauncher;
}

}  // namespace

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
  std::vector<char*> arguments{const_cast<char*>(launcher.c_str()), const_cast<char*>("-n"),
                               const_cast<char*>(count.c_str()), const_cast<char*>(program.c_str())};
  for (char** argument = argv + 1; *argument != nullptr; ++argument) arguments.push_back(*argument);
  arguments.push_back(nullptr);
  const JobNote note;
  const int status = Launcher(std::move(arguments)).wait();
  return exitCodeOf(note, status, ranks);
}

}  // namespace tessera
