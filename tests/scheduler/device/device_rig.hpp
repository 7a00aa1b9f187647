#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/device/backend/cuda_device.hpp"
#include "scheduler/device/backend/emulated_device.hpp"

namespace tessera::test {

/// The kinds of device that this build can make: every claim of a suite holds for each.
inline std::vector<std::string> deviceKinds() {
  std::vector<std::string> kinds{"emulated"};
  if (builtWithCuda()) kinds.emplace_back("cuda");
  return kinds;
}

/// A suite over deviceKinds().
class OnEachDevice : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cuda" && cudaDeviceCount() == 0) {
      GTEST_SKIP() << "this case needs a GPU, and there is none here";
    }
  }
  static bool isCuda() { return GetParam() == "cuda"; }
  static std::unique_ptr<DeviceBackend> makeDevice() {
    return isCuda() ? makeCudaDevice(0) : makeEmulatedDevice({});
  }
};

/// Memory of a device for `count` values, given back at the end.
template <class T>
class OnDevice {
 public:
  OnDevice(DeviceBackend& device, std::size_t count, DeviceSpace space = DeviceSpace::Device)
      : device_(device), space_(space), bytes_(static_cast<std::int64_t>(count * sizeof(T))) {
    data_ = static_cast<T*>(device.allocate(space, bytes_));
  }
  ~OnDevice() { device_.release(space_, data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* data() { return data_; }
  std::int64_t bytes() const { return bytes_; }
  /// Waits for the copy.
  void set(DeviceStream stream, const std::vector<T>& values) {
    device_.copy(stream, CopyDirection::HostToDevice, data_, values.data(), bytes_);
    device_.synchronize(stream);
  }
  /// What is there after all that is in `stream`.
  std::vector<T> get(DeviceStream stream) {
    std::vector<T> values(static_cast<std::size_t>(bytes_) / sizeof(T));
    device_.copy(stream, CopyDirection::DeviceToHost, values.data(), data_, bytes_);
    device_.synchronize(stream);
    return values;
  }

 private:
  DeviceBackend& device_;
  DeviceSpace space_;
  std::int64_t bytes_;
  T* data_ = nullptr;
};

}  // namespace tessera::test
