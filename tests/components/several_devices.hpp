#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "datawarehouse/status.hpp"
#include "scheduler/device/backend/cuda_device.hpp"
#include "tests/components/small_decks.hpp"

namespace tessera::test {

/// The first `count` devices of a kind, for each rank.
inline DeviceOptions firstDevices(DeviceKind kind, int count) {
  DeviceOptions options;
  options.kind = kind;
  options.numbers.resize(static_cast<std::size_t>(count));
  std::iota(options.numbers.begin(), options.numbers.end(), 0);
  options.emulated.longestDelay = std::chrono::microseconds(5);
  return options;
}

/// Claims about every deck on devices: that some steps of it, made small, leave what the host alone computes.
class DeckOnDevices : public ::testing::TestWithParam<std::string> {
 protected:
  using OptionsOf = std::function<DeviceOptions(DeviceKind kind, int count)>;

  explicit DeckOnDevices(std::int64_t steps) : steps_(steps) {}

  Simulate small(Extent patches) const {
    return smallDeck(GetParam()).patches(alongResolvedAxes(GetParam(), patches));
  }
  /// What the host alone computes.
  Outcome expected() const { return smallDeck(GetParam()).run(steps_); }

  void expectBitsOnSeveral(const OptionsOf& optionsOf) const {
    const Outcome right = expected();
    for (const int count : {2, 3}) {
      const DeviceOptions devices = optionsOf(DeviceKind::Emulated, count);
      for (const int threads : {0, 1, 3}) {
        for (const int ranks : {1, 2}) {
          const Outcome o = small({3, 2, 2}).ranks(ranks).threads(threads).devices(devices).run(steps_);
          EXPECT_EQ(firstDifference(right, o), "")
              << count << " devices, " << threads << " threads, " << ranks << " ranks";
        }
      }
    }
  }

  void expectBitsOnSeveralUnderEverySeed(const OptionsOf& optionsOf) const {
    const Outcome right = expected();
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const int ranks = 1 + static_cast<int>(seed % 2);
      const int count = 2 + static_cast<int>(seed % 3);
      const DeviceOptions devices = optionsOf(DeviceKind::Emulated, count);
      const Outcome o = small({3, 2, 2}).ranks(ranks).seed(seed).devices(devices).run(steps_);
      EXPECT_EQ(firstDifference(right, o), "")
          << "seed " << seed << ", " << ranks << " ranks, " << count << " devices";
    }
  }

  /// One GPU as several devices, which reach each other without a link: all that CUDA does for several of a
  /// rank, where there is only one.
  void expectBitsOnAGpuTakenForSeveral(const OptionsOf& optionsOf) const {
    if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
    const Outcome right = expected();
    for (const int count : {2, 4}) {
      DeviceOptions devices = optionsOf(DeviceKind::Cuda, count);
      std::fill(devices.numbers.begin(), devices.numbers.end(), 0);
      for (const int ranks : {1, 2}) {
        const Outcome o = small({3, 2, 2}).ranks(ranks).threads(2).devices(devices).run(steps_);
        EXPECT_EQ(firstDifference(right, o), "") << "taken for " << count << ", " << ranks << " ranks";
      }
    }
  }

  void expectBitsOnSeveralGpus(const OptionsOf& optionsOf) const {
    const int gpus = std::min(cudaDeviceCount(), kDeviceSlots);
    if (gpus < 2) GTEST_SKIP() << "this case needs a GPU and another one, and has " << gpus;
    const Outcome right = expected();
    const DeviceOptions devices = optionsOf(DeviceKind::Cuda, gpus);
    for (const int ranks : {1, 2}) {
      const Outcome o = small({3, 2, 2}).ranks(ranks).threads(2).devices(devices).run(steps_);
      EXPECT_EQ(firstDifference(right, o), "") << gpus << " GPUs, " << ranks << " ranks";
    }
  }

 private:
  const std::int64_t steps_;
};

}  // namespace tessera::test
