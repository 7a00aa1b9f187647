#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/device_store.hpp"
#include "datawarehouse/table_view.hpp"
#include "scheduler/device/device_options.hpp"
#include "scheduler/device/lane/device_lane.hpp"
#include "scheduler/device/memory/device_pool.hpp"
#include "scheduler/device/memory/store_memory.hpp"
#include "scheduler/device_step/kernel_error_board.hpp"
#include "scheduler/tracing/device_timeline.hpp"

namespace tessera::detail {

/// One device of a rank: backend, memory, lane, and what of the data warehouse lies on it.
struct DeviceSide {
  /// `slot`: its place among the rank's devices. `trace` may be null. Throws DeviceError.
  DeviceSide(DataWarehouse& data, const DeviceOptions& options, int slot, Trace* trace);

  /// Where values on this device are valid, in status words.
  MemorySpace space() const { return store.space(); }
  /// Null where all variables fit on the device.
  DevicePager* pager() const { return storeMemory.pager(); }
  /// While nobody serves the lane.
  DevicePagingCounts paging() const;
  /// For so many bytes of scratch fields of one launch; null where there is no room beside what is in use.
  DevicePool* poolWithRoomFor(std::int64_t bytes);

  const int slot;
  const bool graphs;  ///< steps are to be replayed as graphs of the device
  const std::unique_ptr<DeviceBackend> backend;
  DevicePool tables;  ///< on the device, for launches
  DevicePool pinned;  ///< of the host, for launches
  DevicePool values;  ///< on the device, for the store
  DevicePool swap;    ///< of the host, for what does not fit on the device
  const DeviceStream storeStream;
  StoreMemory storeMemory;
  DeviceStore store;
  const std::vector<TableView> constants;  ///< constant tables, on the device
  KernelErrorBoard findings;
  DeviceLane lane;
  const std::unique_ptr<DeviceTimeline> timeline;  ///< null without a trace
};

/// All devices of a rank, in the order of the options; empty for DeviceKind::None.
std::vector<std::unique_ptr<DeviceSide>> makeDeviceSides(DataWarehouse& data, const DeviceOptions& options,
                                                         Trace* trace);

}  // namespace tessera::detail
