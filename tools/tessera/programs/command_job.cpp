#include "tools/tessera/programs/command_job.hpp"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <thread>

#include "scheduler/device/backend/cuda_device.hpp"
#include "scheduler/device/backend/emulated_device.hpp"

namespace tessera {

std::vector<std::string> jobForms() { return jobs::formChoices(); }

int jobCommand(const JobCommandRequest& request) {
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::unique_ptr<jobs::JobDevice>> devices;
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const bool hasDevices = request.devices.kind != DeviceKind::None;
  // Devices wait whenever the thread that hands them tasks has no core.
  const int all = hasDevices ? std::max(1, cores - 1) : cores;
  if (request.threads >= 0 || !hasDevices)
    devices.push_back(jobs::makeHostJobDevice(request.threads > 0 ? request.threads : all));
  const DeviceOptions options = devicesOf(request.devices, 0, 1);
  for (std::size_t n = 0; hasDevices && n < options.numbers.size(); ++n) {
    std::unique_ptr<DeviceBackend> backend;
    if (request.devices.kind == DeviceKind::Emulated) {
      EmulatedOptions emulated;
      emulated.number = static_cast<std::int32_t>(n);
      emulated.memoryBytes = (request.deviceMebibytes + 64) << 20;
      backend = makeEmulatedDevice(emulated);
    } else {
      backend = makeCudaDevice(options.numbers[n]);
    }
    devices.push_back(
        jobs::makeBackendJobDevice(std::move(backend), {.memoryBytes = request.deviceMebibytes << 20}));
  }
  return jobs::runJobDeck(request.job, std::move(devices), std::cout);
}

}  // namespace tessera
