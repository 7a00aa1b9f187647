#include "scheduler/detail/device_side.hpp"

#include <algorithm>

#include "core/contracts.hpp"
#include "scheduler/device/cuda_device.hpp"

namespace tessera::detail {
namespace {

/// That tables of launches may take at most, on the device and of the host.
constexpr std::int64_t kTableBytes = std::int64_t{1} << 30;
constexpr std::int64_t kTableSlab = std::int64_t{4} << 20;

std::unique_ptr<DeviceBackend> makeBackend(const DeviceOptions& options, int slot) {
  const std::int32_t number = options.numbers[static_cast<std::size_t>(slot)];
  if (options.kind == DeviceKind::Cuda) return makeCudaDevice(number);
  EmulatedOptions emulated = options.emulated;
  emulated.number = number;
  emulated.seed += static_cast<std::uint64_t>(slot);
  return makeEmulatedDevice(emulated);
}

std::int64_t limitOf(const DeviceBackend& device, const DeviceOptions& options) {
  return options.limitBytes > 0 ? options.limitBytes : device.info().memoryBytes / 10 * 9;
}

}  // namespace

DeviceSide::DeviceSide(DataWarehouse& data, const DeviceOptions& options, int theSlot, Trace* trace)
    : slot(theSlot),
      graphs(options.graphs),
      backend(makeBackend(options, theSlot)),
      tables(*backend, {DeviceSpace::Device, kTableBytes, kTableSlab}),
      pinned(*backend, {DeviceSpace::PinnedHost, kTableBytes, kTableSlab}),
      values(*backend, {.space = DeviceSpace::Device, .limitBytes = limitOf(*backend, options)}),
      storeStream(backend->makeStream()),
      storeMemory(*backend, values, storeStream),
      store(data, theSlot, storeMemory),
      lane(*backend, options.lane),
      timeline(trace != nullptr ? std::make_unique<DeviceTimeline>(*backend, *trace) : nullptr) {}

std::vector<std::unique_ptr<DeviceSide>> makeDeviceSides(DataWarehouse& data, const DeviceOptions& options,
                                                         Trace* trace) {
  std::vector<std::unique_ptr<DeviceSide>> sides;
  if (options.kind == DeviceKind::None) return sides;
  TESSERA_EXPECT(options.numbers.size() == 1, "give each rank one device, and more ranks for more devices");
  for (int slot = 0; slot < static_cast<int>(options.numbers.size()); ++slot) {
    sides.push_back(std::make_unique<DeviceSide>(data, options, slot, trace));
  }
  return sides;
}

}  // namespace tessera::detail
