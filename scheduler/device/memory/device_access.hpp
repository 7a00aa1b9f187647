#pragma once

#include <cstdint>
#include <functional>

#include "datawarehouse/device_store.hpp"
#include "scheduler/device/backend/device_backend.hpp"
#include "scheduler/device/memory/device_pool.hpp"

namespace tessera {

/// A device of a rank, for work of one's own between the steps of plans: when it has done all that these
/// launched, and until the next one begins. Thread rule: the backend's. All of it belongs to the step runner.
struct DeviceAccess {
  DeviceBackend& backend;
  DevicePool& values;  ///< on the device, under the limit of the run
  DevicePool& tables;  ///< on the device, for launches
  DevicePool& pinned;  ///< of the host
  /// Where kernels of the device find the values of an own patch, which another device may have that it
  /// reaches.
  std::function<const DeviceStore&(std::int32_t local)> storeOf;
};

}  // namespace tessera
