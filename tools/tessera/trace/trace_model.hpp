#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace tessera {

/// What a node of a traced step does.
enum class TraceKind : std::uint8_t { Task, Fill, Send, Receive, Reduce };

/// One node in one run, as a trace tells it; nanoseconds.
struct TracedNode {
  TraceKind kind = TraceKind::Task;
  std::string name;
  int worker = -1;  ///< -1: it took no worker's time worth a slice
  std::int64_t begin = -1;
  std::int64_t end = -1;   ///< its worker was free again
  std::int64_t done = -1;  ///< complete, seen by this rank
  bool onDevice = false;   ///< a task or fill whose worker handed it to a device
  std::int64_t ready = 0;
  /// The predecessor that made it ready; -1: it could run from the start of the step; -2: it waited for the
  /// length of the step, from the reductions of the step before.
  std::int32_t after = -1;
  int peer = -1;           ///< of a message
  std::int64_t tag = -1;   ///< of a message
  std::int64_t item = -1;  ///< which reduction, the same on every rank
};

/// One run of a plan on one rank.
struct TracedRun {
  std::string plan;
  std::int64_t step = 0;
  int workers = 1;
  std::int64_t begin = 0;
  std::int64_t executed = 0;  ///< all nodes had finished
  std::int64_t end = 0;
  std::map<std::int32_t, TracedNode> nodes;
};

/// A launch on a device; nanoseconds.
struct TracedLaunch {
  std::string name;
  std::string kind;  ///< "kernel", "copy", "fill" or "pack"
  int device = 0;
  std::int64_t run = 0;
  std::int64_t part = 0;  ///< of a launch over several streams
  std::int64_t tasks = 0;
  std::int64_t bytes = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What the calling thread did outside of steps, "checkpoint" for example.
struct TracedSpan {
  std::string name;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct TracedRank {
  std::map<std::int64_t, TracedRun> runs;  ///< by the number that all ranks give a run
  std::vector<TracedSpan> spans;           ///< by begin
  std::vector<TracedLaunch> launches;
};

/// A trace read back.
struct TraceModel {
  std::map<int, TracedRank> ranks;
};

/// Reads what `tessera run --trace` wrote, also after another program has formatted it. Throws InputError
/// where it is something else.
TraceModel readTrace(std::istream& in, const std::string& name);
/// The same from a file, gzip or plain; or from the run folder that it is in.
TraceModel readTrace(const std::filesystem::path& fileOrRun);

/// Leaves only the runs of this step.
void keepStep(TraceModel& model, std::int64_t step);

}  // namespace tessera
