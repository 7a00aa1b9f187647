#pragma once

#include <memory>
#include <span>

#include "core/transport/step_aside.hpp"
#include "scheduler/device_step/device_run.hpp"
#include "scheduler/device_step/rank_devices.hpp"

namespace tessera::detail {

/// One step of a plan on the devices of a rank.
///
///   DeviceStep step(runs, devices);     // from now on nodes may be run, and devices served
///   ...                                 // the executor goes through the graph
///   step.finish([&] { ... });           // all has been launched
class DeviceStep {
 public:
  using Runs = std::span<const std::unique_ptr<DeviceRun>>;

  /// Brings Old values to where they are read; lets each device come after what the others were given in the
  /// step before, since it may read what any of them has; then hands to the lanes all that waits for nothing
  /// on the host. `runs`: of one plan, by device.
  DeviceStep(Runs runs, const RankDevices& devices);

  /// When the executor has come to its end: launches what is left, with a look at `check()` in each round,
  /// which may throw.
  template <class Check>
  void finish(const Check& check) {
    StepAside stepAside;
    for (check(); !launchRest(); check()) stepAside();
    for (const auto& run : runs_) run->end();
  }

 private:
  /// Whether nothing is left.
  bool launchRest();

  Runs runs_;
};

}  // namespace tessera::detail
