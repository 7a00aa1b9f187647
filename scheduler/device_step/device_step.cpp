#include "scheduler/device_step/device_step.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"

namespace tessera::detail {

DeviceStep::DeviceStep(Runs runs, const RankDevices& devices) : runs_(runs) {
  for (const auto& run : runs_) run->copyOldToDevice();
  for (const auto& run : runs_) run->choose();
  const bool isReplayed = runs_.front()->isReplayed();
  TESSERA_EXPECT(std::all_of(runs_.begin(), runs_.end(),
                             [&](const auto& run) { return run->isReplayed() == isReplayed; }),
                 "replay a step on all devices of a rank or on none: they wait for each other");
  const bool independentOfPeers =
      std::any_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->startsIndependent(); });
  devices.crossDeviceBarrier(independentOfPeers ? DeviceLane::Barrier::DependentOnly
                                                : DeviceLane::Barrier::All);
  for (const auto& run : runs_) run->begin();
}

bool DeviceStep::launchRest() {
  bool finished = true;
  for (const auto& run : runs_) finished = run->finish() && finished;
  return finished;
}

}  // namespace tessera::detail
