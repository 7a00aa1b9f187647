#pragma once

#include "scheduler/device/device_options.hpp"
#include "scheduler/send_limit.hpp"

namespace tessera {

class FaultPlan;
class KokkosAnnotations;
class NvtxAnnotations;
class Trace;

/// How a StepRunner runs its steps.
struct RunnerOptions {
  bool checked = false;         ///< compare every access with the declaration; slow
  FaultPlan* faults = nullptr;  ///< of tests; the point is "scheduler.send"
  SendLimit sends{};            ///< changes no bit of the result
  bool findNonFinite = true;    ///< after each task look for NaN and infinity in what it wrote
  /// Hears of every task by its name, where a profiler listens; nullptr: nobody does, and nothing is spent on
  /// it.
  KokkosAnnotations* regions = nullptr;
  /// Hears of steps, nodes and messages, where it is active; nullptr as above. Both outlive the runner.
  NvtxAnnotations* nvtx = nullptr;
  /// Let the next step begin while reductions of the last one are under way (`runAhead`).
  bool stepsOverlap = false;
  Trace* trace = nullptr;  ///< records what runs when; outlives the runner
  /// Devices for the tasks that can run there. Steps do not overlap then.
  DeviceOptions devices{};
};

}  // namespace tessera
