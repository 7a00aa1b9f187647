#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera {

/// What the ranks of a job tell the process that started it, past the launcher: mpiexec passes on the exit
/// code of some rank, of none after a signal, and that of a killed rank looks like any other. A small file in
/// the folder for temporary files, one line a message; where it cannot be made the launcher's word has to do.
class JobNote {
 public:
  /// Makes the file and names it in the environment that the launcher hands on.
  JobNote();
  ~JobNote();
  JobNote(const JobNote&) = delete;
  JobNote& operator=(const JobNote&) = delete;

  bool usable() const { return !path_.empty(); }
  /// The exit codes of the ranks that ended by their own decision, in the order of their ends.
  std::vector<int> exitCodes() const;
  /// Empty as long as there is none.
  std::filesystem::path runFolder() const;

 private:
  std::string path_;
};

/// The ranks' side; nothing happens in a process that was not started by `tessera run -n`. Any thread.
void noteRunFolder(const std::filesystem::path& folder);
void noteExitCode(int exitCode);
/// The file that a rank writes to, or nullptr: for a signal handler, which may not look it up.
const char* jobNotePath();

}  // namespace tessera
