#include "scheduler/device_step/device_side.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "scheduler/device/backend/cuda_device.hpp"

namespace tessera::detail {
namespace {

/// Of memory for launches, at once.
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
  if (options.limitBytes > 0) return options.limitBytes;
  return static_cast<std::int64_t>(options.limitPart * static_cast<double>(device.info().memoryBytes));
}

/// Fills and packs of each device read the memory of the others.
void reachPeer(DeviceBackend& device, DeviceBackend& peer) {
  device.bindThread();
  if (device.enablePeer(peer)) return;
  throw UsageError(asText(device.info()) + " cannot read the memory of " + asText(peer.info()) +
                   " on this machine, so one rank cannot use both; start a rank for each (-n)");
}

/// What the driver moves may be more than the device has, and what the host keeps for it is the host's.
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

DevicePoolOptions valuesOf(const DeviceBackend& device, const DeviceOptions& options) {
  if (options.memory == DeviceMemoryKind::Managed) {
    return {.space = DeviceSpace::Managed, .limitBytes = kNoLimit};
  }
  return {.space = DeviceSpace::Device, .limitBytes = limitOf(device, options)};
}

/// Copies the constant tables to the device; they stay as long as the pool.
std::vector<TableView> constantsOn(DeviceBackend& device, DevicePool& pool, DeviceStream stream,
                                   const LabelTable& labels) {
  std::vector<TableView> views;
  for (LabelId table = 0; table < labels.tableCount(); ++table) {
    const TableInfo& info = labels.table(table);
    const auto bytes = static_cast<std::int64_t>(info.values->size() * sizeof(double));
    void* memory = bytes == 0 ? nullptr : pool.allocate(stream, bytes, info.name);
    if (bytes > 0) device.copy(stream, CopyDirection::HostToDevice, memory, info.values->data(), bytes);
    views.emplace_back(static_cast<const double*>(memory), std::ssize(*info.values));
  }
  if (!views.empty()) device.synchronize(stream);
  return views;
}

}  // namespace

DeviceSide::DeviceSide(DataWarehouse& data, const DeviceOptions& options, int theSlot, Trace* trace)
    : slot(theSlot),
      graphs(options.graphs),
      backend(makeBackend(options, theSlot)),
      tables(*backend, {DeviceSpace::Device, options.launchBytes, kTableSlab}),
      pinned(*backend, {DeviceSpace::PinnedHost, options.launchBytes, kTableSlab}),
      values(*backend, valuesOf(*backend, options)),
      swap(*backend, {.space = DeviceSpace::PinnedHost, .limitBytes = kNoLimit}),
      storeStream(backend->makeStream()),
      storeMemory(*backend, values, storeStream, options.numbers.size() == 1 ? &swap : nullptr),
      store(data, theSlot, storeMemory),
      constants(constantsOn(*backend, tables, storeStream, data.labels())),
      findings(*backend),
      lane(*backend, options.lane),
      timeline(trace != nullptr ? std::make_unique<DeviceTimeline>(*backend, *trace) : nullptr) {}

DevicePool* DeviceSide::poolWithRoomFor(std::int64_t bytes) {
  if (tables.hasRoomFor(2 * bytes)) return &tables;  // the tables of that launch go there as well
  // A pager has the whole of the limit for itself.
  return pager() == nullptr && values.hasRoomFor(bytes) ? &values : nullptr;
}

DevicePagingCounts DeviceSide::paging() const {
  if (pager() != nullptr) return pager()->counts();
  DevicePagingCounts counts;
  counts.neededBytes = storeMemory.neededBytes();
  counts.limitBytes = values.limitBytes() == kNoLimit ? 0 : values.limitBytes();
  return counts;
}

std::vector<std::unique_ptr<DeviceSide>> makeDeviceSides(DataWarehouse& data, const DeviceOptions& options,
                                                         Trace* trace) {
  std::vector<std::unique_ptr<DeviceSide>> sides;
  if (options.kind == DeviceKind::None) return sides;
  TESSERA_EXPECT(!options.numbers.empty(), "give a rank that uses devices at least one");
  if (std::ssize(options.numbers) > kDeviceSlots) {
    throw UsageError("a rank uses at most " + std::to_string(kDeviceSlots) + " devices, but was given " +
                     std::to_string(options.numbers.size()) +
                     "; start more ranks (-n), or name fewer devices (--device)");
  }
  for (int slot = 0; slot < static_cast<int>(options.numbers.size()); ++slot) {
    sides.push_back(std::make_unique<DeviceSide>(data, options, slot, trace));
    sides.back()->findings.launched = &sides.front()->findings.ownLaunched;
  }
  for (const auto& side : sides) {
    for (const auto& other : sides) {
      if (other != side) reachPeer(*side->backend, *other->backend);
    }
  }
  std::vector<DeviceLane*> lanes;
  for (const auto& side : sides) lanes.push_back(&side->lane);
  DeviceLane::connect(lanes);
  return sides;
}

}  // namespace tessera::detail
