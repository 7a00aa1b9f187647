#include "scheduler/detail/device_side.hpp"

#include <algorithm>
#include <limits>

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

/// What the driver moves may be more than the device has, and what the host keeps for it is the host's.
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

DevicePoolOptions valuesOf(const DeviceBackend& device, const DeviceOptions& options) {
  if (options.memory == DeviceMemoryKind::Managed) {
    return {.space = DeviceSpace::Managed, .limitBytes = kNoLimit};
  }
  return {.space = DeviceSpace::Device, .limitBytes = limitOf(device, options)};
}

}  // namespace

DeviceSide::DeviceSide(DataWarehouse& data, const DeviceOptions& options, int theSlot, Trace* trace)
    : slot(theSlot),
      backend(makeBackend(options, theSlot)),
      tables(*backend, {DeviceSpace::Device, kTableBytes, kTableSlab}),
      pinned(*backend, {DeviceSpace::PinnedHost, kTableBytes, kTableSlab}),
      values(*backend, valuesOf(*backend, options)),
      swap(*backend, {.space = DeviceSpace::PinnedHost, .limitBytes = kNoLimit}),
      storeStream(backend->makeStream()),
      storeMemory(*backend, values, storeStream, &swap),
      store(data, theSlot, storeMemory),
      lane(*backend, options.lane),
      timeline(trace != nullptr ? std::make_unique<DeviceTimeline>(*backend, *trace) : nullptr) {}

DevicePagingCounts DeviceSide::paging() const {
  if (pager() != nullptr) return pager()->counts();
  DevicePagingCounts counts;
  counts.neededBytes = storeMemory.neededBytes();
  counts.limitBytes = values.limitBytes();
  return counts;
}

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
