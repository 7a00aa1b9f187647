#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/tessera/trace/trace_devices.hpp"
#include "tools/tessera/trace/trace_model.hpp"

namespace tessera {

/// All runs of one task, or of one kind of fill, pack or join; nanoseconds.
struct TaskRow {
  std::string name;
  TraceKind kind = TraceKind::Task;
  std::int64_t count = 0;
  std::int64_t total = 0;
  double mean = 0.0;
  std::int64_t p99 = 0;    ///< 99 of 100 took at most this
  double delayMean = 0.0;  ///< from ready to begin
  std::int64_t delayP99 = 0;
};

/// All runs of one plan; nanoseconds.
struct PlanRow {
  std::string name;
  std::int64_t runs = 0;   ///< each on all ranks
  std::int64_t total = 0;  ///< of the runs, each on the rank that took longest for it
  std::int64_t tasks = 0;  ///< in tasks on the host, all workers of all ranks together
};

/// A part of a time, by what it was spent on.
struct TimeShare {
  std::string name;
  std::int64_t nanoseconds = 0;
  double share = 0.0;
};

/// What a trace says about the speed of a run.
struct TraceSummary {
  int ranks = 0;
  std::int64_t workers = 0;  ///< of all ranks
  std::int64_t runs = 0;
  std::int64_t wall = 0;       ///< from the first step's begin to the last one's end
  std::vector<PlanRow> plans;  ///< by total time
  std::vector<TaskRow> tasks;  ///< by total time; those that ran on devices are in `devices`
  /// All time of all workers, from the first step's begin on each rank: adds up to 1.
  std::vector<TimeShare> workerTime;
  std::int64_t pathLength = 0;
  /// The critical path: the chain that each step's end waited for, back to the step's begin; by time. Adds up
  /// to 1.
  std::vector<TimeShare> path;
  DeviceSummary devices;
};

/// Sums a trace up. Words of `workerTime` and `path` that are not names of tasks are in docs/user/tracing.md.
TraceSummary summarise(const TraceModel& trace);

/// Parts of their sum, the largest first.
std::vector<TimeShare> sharesOf(const std::map<std::string, std::int64_t>& times);

/// Tables for people; ends in a newline.
std::string asText(const TraceSummary& summary);
/// The same for programs, times in nanoseconds; ends in a newline.
std::string asJson(const TraceSummary& summary);

}  // namespace tessera
