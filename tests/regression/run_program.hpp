#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace tessera::test {

/// The program under test: that of this build, or of the bundle that TESSERA_TEST_BUNDLE names, where the
/// tests themselves were carried to another machine.
std::string programPath();

/// What a program left. A program ended by signal s has exit code 128 + s; one that did not end in time has
/// -1.
struct ProgramResult {
  int exitCode = -1;
  std::string out;
  std::string err;
  double seconds = 0.0;
};

/// A program that runs, in a process group of its own and with its output in files. Whatever is left of the
/// group is killed at the end.
class RunningProgram {
 public:
  RunningProgram(const std::vector<std::string>& command, const std::filesystem::path& folder);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// All processes below this one, for example the ranks of a job.
  std::vector<pid_t> descendants() const;
  ProgramResult wait(double timeoutSeconds = 60.0);

 private:
  pid_t pid_ = -1;
  bool over_ = false;
  std::filesystem::path out_;
  std::filesystem::path err_;
  double start_ = 0.0;
};

/// An empty folder for one test, removed at its end, and the program in it.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes a file and returns its name.
  std::string file(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  bool has(const std::string& name) const { return std::filesystem::exists(path_ / name); }
  /// Runs `tessera` with these arguments in the folder.
  ProgramResult tessera(std::vector<std::string> arguments, double timeoutSeconds = 60.0) const;
  /// The same with the program whose component goes wrong on request (tests/regression/faulty).
  ProgramResult faulty(std::vector<std::string> arguments, double timeoutSeconds = 60.0) const;
  /// Runs it with a small file system mounted on the folder `disk`, of these mount options ("size=100k");
  /// what is left on it is in the folder `copy` afterwards. Needs root, or a system that gives users name
  /// spaces of their own.
  ProgramResult onSmallDisk(const std::string& options, const std::vector<std::string>& arguments) const;
  /// The command of `tessera` with these arguments, to be started by hand.
  static std::vector<std::string> command(std::vector<std::string> arguments);
  static std::vector<std::string> faultyCommand(std::vector<std::string> arguments);

 private:
  std::filesystem::path path_;
};

/// A value of RUN/result.json as text: "75", "stopped".
std::string resultOf(const Workplace& place, const std::string& run, const std::string& key);

/// How often `what` stands in `text`.
int countOf(const std::string& text, const std::string& what);

/// A new seed, or that of TESSERA_TEST_SEED to do a random test again.
unsigned testSeed();

/// Waits until `condition` holds, at most 30 s.
template <class Condition>
bool eventually(Condition condition) {
  for (int n = 0; n < 30000; ++n) {
    if (condition()) return true;
    usleep(1000);
  }
  return false;
}

}  // namespace tessera::test
