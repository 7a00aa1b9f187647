#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tessera {

/// What the ranks of a job tell the process that started it, past the launcher: mpiexec passes on the exit
/// code of some rank, of none after a signal, and that of a killed rank looks like any other. A file in
/// memory that the ranks reach through /proc, one line a message: no disk that is full can lose it.
class JobNote {
 public:
  /// Makes the file and names it in the environment that the launcher hands on. Throws InternalError.
  JobNote();
  ~JobNote();
  JobNote(const JobNote&) = delete;
  JobNote& operator=(const JobNote&) = delete;

  /// The ranks that have come so far that signals reach them.
  std::vector<pid_t> ready() const;
  /// The exit codes of the ranks that ended by their own decision, by process.
  std::map<pid_t, int> exitCodes() const;
  /// Empty as long as there is none.
  std::filesystem::path runFolder() const;

 private:
  std::vector<std::string> linesOf(const std::string& key) const;

  int descriptor_ = -1;
};

/// The ranks' side; nothing happens in a process that was not started by `tessera run -n`. Any thread.
void noteReady();
void noteRunFolder(const std::filesystem::path& folder);
void noteExitCode(int exitCode);
/// The file that a rank writes to, or nullptr: for a signal handler, which may not look it up.
const char* jobNotePath();
/// The process that started this job; 0 where there is none.
pid_t jobStarter();
/// Whether the process that started this job has gone.
bool jobStarterIsGone();

}  // namespace tessera
