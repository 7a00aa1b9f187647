#include "tools/simulation/run_folder/job_note.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "core/text/error.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"

namespace tessera {
namespace {

const char* const kVariable = "TESSERA_JOB_NOTE";

void note(const std::string& line) {
  const char* path = jobNotePath();
  if (path == nullptr) return;
  const FileHandle file(::open(path, O_WRONLY | O_APPEND | O_CLOEXEC));
  if (file) writeAll(file.get(), line + "\n");
}

std::string processNumber() { return std::to_string(::getpid()); }

}  // namespace

JobNote::JobNote() : descriptor_(::memfd_create("tessera-job", MFD_CLOEXEC)) {
  const std::string path = "/proc/" + processNumber() + "/fd/" + std::to_string(descriptor_);
  if (descriptor_ >= 0 && ::setenv(kVariable, path.c_str(), 1) == 0) return;
  throw InternalError("the ranks of a job cannot be started: there is no memory for a small file (" +
                      errorText(errno) + ")");
}

JobNote::~JobNote() { ::close(descriptor_); }

std::vector<std::string> JobNote::linesOf(const std::string& key) const {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0;
       (n = ::pread(descriptor_, buffer, sizeof(buffer), static_cast<off_t>(text.size()))) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) == 0) found.push_back(line.substr(key.size()));
  }
  return found;
}

std::vector<pid_t> JobNote::ready() const {
  std::vector<pid_t> processes;
  for (const std::string& line : linesOf("ready ")) processes.push_back(std::atoi(line.c_str()));
  return processes;
}

std::map<pid_t, int> JobNote::exitCodes() const {
  std::map<pid_t, int> codes;
  for (const std::string& line : linesOf("exit ")) {
    std::istringstream in(line);
    pid_t process = 0;
    int code = 0;
    if (in >> process >> code) codes[process] = code;
  }
  return codes;
}

std::filesystem::path JobNote::runFolder() const {
  const std::vector<std::string> folders = linesOf("run ");
  return folders.empty() ? std::filesystem::path() : std::filesystem::path(folders.back());
}

void noteReady() { note("ready " + processNumber()); }

void noteRunFolder(const std::filesystem::path& folder) { note("run " + folder.string()); }

void noteExitCode(int exitCode) { note("exit " + processNumber() + " " + std::to_string(exitCode)); }

const char* jobNotePath() { return std::getenv(kVariable); }

pid_t jobStarter() {
  const std::string_view start = "/proc/";
  const char* path = jobNotePath();
  if (path == nullptr || std::string_view(path).substr(0, start.size()) != start) return 0;
  return std::atoi(path + start.size());
}

bool jobStarterIsGone() {
  const char* path = jobNotePath();
  return path != nullptr && ::access(path, F_OK) != 0;
}

}  // namespace tessera
