#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/simulation/run_folder/folder_handle.hpp"

namespace tessera {

/// Why a run was asked to stop; where there are several, the largest counts.
enum class StopReason : int {
  None = 0,
  StopFile = 1,
  WallTime = 2,
  StarterGone = 3,
  CpuTime = 4,
  User1 = 5,
  User2 = 6,
  Hangup = 7,
  Interrupt = 8,
  Terminate = 9,
};

/// The signals by which terminals and batch systems ask a program to stop: SIGTERM, SIGINT, SIGHUP, SIGUSR1,
/// SIGUSR2, SIGXCPU.
std::span<const int> stopSignals();

/// "stopped by SIGTERM"
std::string asText(StopReason reason);

/// Listens for wishes to stop: the signals of `stopSignals`, a limit of wall time, a file `stop` in the run
/// folder, the death of the process that started the job. The run stops at the end of the step, writes a
/// checkpoint and ends with exit code 75. A second signal, at least a second after the first and before that
/// checkpoint is there, ends the process at once with code 6 and a sentence on the last checkpoint
/// (forced_end.hpp); after it there is nothing left to cut short.
///
/// One object in a process; takes over the signals for its lifetime. The ranks combine what they see: one
/// rank's signal stops all. One thread calls it.
class StopRequests {
 public:
  /// `wallSeconds` counts from here.
  explicit StopRequests(std::optional<double> wallSeconds);
  ~StopRequests();
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  /// Takes the signals over once more, after a library has put its own handlers in place, and lets through
  /// those that were held back until now.
  void listen();

  /// Rank 0: look for the file `stop` in this folder (at most once a second), which has to outlive this
  /// object.
  void watch(const FolderHandle& folder) { folder_ = &folder; }
  /// How long the longest step and the longest checkpoint took: the wall time has to suffice for both once
  /// more.
  void expect(double stepSeconds, double checkpointSeconds);

  /// What this rank knows of.
  StopReason look();
  /// The run is over, and the process is about to end: signals that come from here on are ignored, so that
  /// none of them takes the place of its exit code. The object is not used any more.
  void end();
  /// The checkpoint is written, or could not be. Takes the file away, so that a restart is not stopped by it.
  void answered();

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_;
  std::optional<double> wallSeconds_;
  double reserve_ = 0.0;
  const FolderHandle* folder_ = nullptr;
  std::optional<Clock::time_point> lastLook_;
  bool fileSeen_ = false;
  bool starterGone_ = false;
  bool over_ = false;
};

/// "90", "90s", "15m", "1h30m" or "01:30:00" as seconds. Throws UsageError for anything else.
double parseDuration(std::string_view text);

}  // namespace tessera
