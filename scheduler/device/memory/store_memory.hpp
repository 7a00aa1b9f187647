#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/text/error.hpp"
#include "datawarehouse/device_store.hpp"
#include "scheduler/device/backend/device_error.hpp"
#include "scheduler/device/memory/device_pager.hpp"
#include "scheduler/device/memory/device_pool.hpp"

namespace tessera {

/// Memory for a DeviceStore: out of a pool where all of it fits under the pool's limit; else addresses,
/// behind which a pager has some of it at a time. In the order of one stream: `synchronize` that stream when
/// all entries are brought, before others use them. Thread rule: the backend's.
class StoreMemory final : public DeviceMemory {
 public:
  /// All outlive the store. `swap`: host memory for what a pager has to put somewhere; null where the device
  /// is one of several of a rank: variables that do not fit are an error then.
  StoreMemory(DeviceBackend& device, DevicePool& pool, DeviceStream stream, DevicePool* swap = nullptr)
      : device_(device), pool_(pool), stream_(stream), swap_(swap) {}

  void expect(std::int64_t bytes) override {
    needed_ += bytes;
    if (bytes + pool_.use().inUse <= pool_.limitBytes()) {
      static_cast<void>(pool_.prepare(bytes));  // what is not to be had in one piece may be in several
    } else if (swap_ == nullptr) {
      throw doesNotFit();
    } else if (pager_ == nullptr) {
      pager_ = std::make_unique<DevicePager>(
          device_, *swap_, DevicePagerOptions{.limitBytes = pool_.limitBytes(), .neededBytes = bytes});
    }
  }
  void* allocate(std::int64_t bytes, std::string_view owner) override {
    if (pager_ != nullptr) return pager_->allocate(bytes, owner);
    void* memory = pool_.allocate(stream_, bytes, owner);
    device_.fill(stream_, memory, 0xFF, bytes);
    return memory;
  }
  void free(void* memory) override {
    if (pager_ == nullptr) pool_.free(stream_, memory);
  }

  /// By all that was brought, each piece rounded up.
  std::int64_t neededBytes() const { return needed_; }
  /// Null where all that the store has fits.
  DevicePager* pager() const { return pager_.get(); }

 private:
  DeviceError doesNotFit() const {
    return {
        DeviceFault::OutOfMemory,
        Message("the variables of a rank do not fit on its devices")
            .line("device    ", asText(device_.info()))
            .line("needs     ", needed_, " bytes")
            .line("limit     ", pool_.limitBytes(), " bytes")
            .line("fix       ",
                  "start a rank for each device (-n): a rank with one device swaps with the host what does "
                  "not fit; or raise device.limit")
            .text()};
  }

  DeviceBackend& device_;
  DevicePool& pool_;
  DeviceStream stream_;
  DevicePool* swap_;
  std::int64_t needed_ = 0;
  std::unique_ptr<DevicePager> pager_;
};

}  // namespace tessera
