#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/device_store.hpp"
#include "scheduler/device/device_lane.hpp"
#include "scheduler/device/device_options.hpp"
#include "scheduler/device/device_pool.hpp"

namespace tessera::detail {

/// One device of a rank: backend, memory, lane, and what of the data warehouse lies on it.
struct DeviceSide {
  /// `slot`: its place among the rank's devices. Throws DeviceError.
  DeviceSide(DataWarehouse& data, const DeviceOptions& options, int slot);

  /// Where values on this device are valid, in status words.
  MemorySpace space() const { return deviceSlot(slot); }

  const int slot;
  const std::unique_ptr<DeviceBackend> backend;
  DevicePool memory;  ///< on the device
  DevicePool pinned;  ///< of the host
  /// Memory of the warehouse, which stays as long as the run: in no stream's order.
  class StoreMemory : public DeviceMemory {
   public:
    StoreMemory(DeviceBackend& device, std::int64_t limitBytes);
    ~StoreMemory() override;
    void* allocate(std::int64_t bytes, std::string_view owner) override;
    void free(void* memory) override;

   private:
    DeviceBackend& device_;
    DeviceStream stream_;
    DevicePool pool_;
  } storeMemory;
  DeviceStore store;
  DeviceLane lane;
};

/// All devices of a rank, in the order of the options; empty for DeviceKind::None.
std::vector<std::unique_ptr<DeviceSide>> makeDeviceSides(DataWarehouse& data, const DeviceOptions& options);

}  // namespace tessera::detail
