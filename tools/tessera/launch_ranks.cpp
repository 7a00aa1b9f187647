#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include "core/error.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/folder_handle.hpp"

namespace tessera {
namespace {

const char* const kLauncher = "mpiexec.mpich";

int numberInEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

int rankOfLauncher() { return numberInEnvironment("PMI_RANK", 0); }

void launchRanks(int ranks, char** argv) {
  if (std::getenv("PMI_RANK") != nullptr) {
    const int started = numberInEnvironment("PMI_SIZE", 1);
    if (started == ranks) return;
    throw UsageError(Message("-n " + std::to_string(ranks) + " contradicts the launcher, which started " +
                             std::to_string(started) + " rank(s)")
                         .line("fix  leave out -n where mpiexec starts the program")
                         .text());
  }
  if (ranks == 1) return;
  // The path itself, not /proc/self/exe: it would name the launcher in the processes that the launcher
  // starts.
  std::error_code none;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", none).string();
  const std::string count = std::to_string(ranks);
  std::vector<char*> arguments{const_cast<char*>(kLauncher), const_cast<char*>("-n"),
                               const_cast<char*>(count.c_str()), const_cast<char*>(program.c_str())};
  for (char** argument = argv + 1; *argument != nullptr; ++argument) arguments.push_back(*argument);
  arguments.push_back(nullptr);
  ::execvp(kLauncher, arguments.data());
  throw InternalError(Message(std::string("cannot start ") + kLauncher + ": " + errorText(errno))
                          .line("fix  install the package mpich, or run with one rank (without -n)")
                          .text());
}

}  // namespace tessera
