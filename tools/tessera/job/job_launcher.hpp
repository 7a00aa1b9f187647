#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/simulation/run_folder/job_note.hpp"

namespace tessera {

/// The MPI launcher as a child, and what stands between it and whoever started this program.
///
/// Signals: the launcher, its helpers and the ranks are started with the signals that ask to stop held back,
/// so that none of them dies of one. This process takes them, whoever of the job they were sent to, and
/// passes the first on to each rank once that rank is able to hear it; a second one, a second later, as well.
/// Output: comes through pipes and is written on here; a reader who has gone loses it, and nothing else
/// happens. Ranks whose launcher was killed become children of this process, which stops them and waits for
/// them.
class JobLauncher {
 public:
  /// Starts `arguments`. Throws InternalError.
  JobLauncher(std::vector<std::string> arguments, int ranks, const JobNote& note);
  JobLauncher(const JobLauncher&) = delete;
  JobLauncher& operator=(const JobLauncher&) = delete;

  /// Until nothing of the job is left; returns the wait status of the launcher.
  int wait();

 private:
  using Clock = std::chrono::steady_clock;

  /// One of the two outputs of the job.
  struct Stream {
    FileHandle from;
    int to = -1;
    bool readerGone = false;
  };

  void start(std::vector<char*> arguments);
  void takeSignals();
  void takeMisdirectedSignals();
  void request(int number);
  void passOn();
  void stopOrphans();
  void endSlowOnes();
  void look();
  bool reap();
  void relay(Stream& stream);
  void waitForSomething();

  const int ranks_;
  const JobNote& note_;
  pid_t launcher_ = -1;
  std::optional<int> status_;
  FileHandle signals_;
  std::array<Stream, 2> streams_;
  int wish_ = 0;    ///< the signal to pass on; 0: none
  int wishes_ = 0;  ///< signals that count
  Clock::time_point firstWish_{};
  Clock::time_point lastWish_{};
  Clock::time_point started_ = Clock::now();
  Clock::time_point ended_{};  ///< the launcher
  Clock::time_point lastLook_{};
  std::set<std::pair<pid_t, int>> passed_;       ///< process, and which of the wishes it has got
  std::set<std::pair<pid_t, int>> misdirected_;  ///< process and signal, seen
};

}  // namespace tessera
