#pragma once

#include <cstdint>
#include <string_view>

#include "datawarehouse/device_store.hpp"
#include "scheduler/device/device_pool.hpp"

namespace tessera {

/// Memory for a DeviceStore out of a pool, in the order of one stream: `synchronize` that stream when all
/// entries are added, before others use them. Thread rule: the backend's.
class StoreMemory final : public DeviceMemory {
 public:
  /// All three outlive the store.
  StoreMemory(DeviceBackend& device, DevicePool& pool, DeviceStream stream)
      : device_(device), pool_(pool), stream_(stream) {}

  void* allocate(std::int64_t bytes, std::string_view owner) override {
    void* memory = pool_.allocate(stream_, bytes, owner);
    device_.fill(stream_, memory, 0xFF, bytes);
    return memory;
  }
  void free(void* memory) override { pool_.free(stream_, memory); }

 private:
  DeviceBackend& device_;
  DevicePool& pool_;
  DeviceStream stream_;
};

}  // namespace tessera
