#pragma once

#include <cstdint>
#include <span>

namespace tessera::jobs::detail {

/// What is known of a device when a task of a job is cut for it.
struct DeviceDemand {
  int slots = 1;
  int busy = 0;                 ///< slots that have tasks
  bool isNarrow = false;        ///< a slot runs one unit at a time, two slots a thread
  std::int64_t width = 1;       ///< units that run at a time
  double rate = 0.0;            ///< units a second of all slots; 0: not known yet
  double unitsPerSecond = 0.0;  ///< of the last task, while it ran
  int forms = 1;                ///< more than one: they are being compared
  bool isLastRound = false;     ///< of that

  /// Tasks that run at a time.
  int workers() const { return isNarrow && slots > 1 ? slots / 2 : 1; }
};

/// What is left of a job.
struct JobDemand {
  std::int64_t pieces = 0;
  std::int64_t left = 0;  ///< pieces that nobody has got
  std::int64_t unitsOfPiece = 1;
  double seconds = 0.0;  ///< since its first task
};

/// Pieces of the next task of device `n`: half of its share of what is left by the paces of all, for each of
/// its slots; before the paces are known, an eighth of an equal share. Then bounds: no task of a device is
/// shorter than its hand-over or keeps only a part of it busy, and none of a thread of the host is so long
/// that a device, which may be a thousand times as fast, would wait for it.
std::int64_t piecesOf(const JobDemand& job, std::span<const DeviceDemand> devices, std::size_t n);

/// Whether device `n` should leave what is left to faster ones, which would be through before it had ended
/// its smallest task; or wait for its first tasks to end, because nobody knows how long they take.
bool shouldWait(const JobDemand& job, std::span<const DeviceDemand> devices, std::size_t n);

}  // namespace tessera::jobs::detail
