// Wide halos and whole levels stored as one on devices: the bits of the host, from little more memory than
// distinct values.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scheduler/runtime_rig.hpp"
#include "tools/bench/wide_halo/wide_halo_case.hpp"

namespace tessera {
namespace {

using bench::kWholeLevel;
using bench::WideHalo;
using bench::WideHaloCase;
using testing::RunShape;

DeviceOptions emulated() {
  DeviceOptions options;
  options.kind = DeviceKind::Emulated;
  options.standbyThread = false;
  options.emulated.longestDelay = std::chrono::microseconds(5);
  return options;
}

/// The values of all patches after three steps, in the order of their ids.
std::vector<std::vector<double>> valuesAfterSteps(const WideHalo& what, const RunShape& shape) {
  const WideHaloCase c(what);
  std::vector<std::vector<double>> values(static_cast<std::size_t>(c.hierarchy()->patchCount()));
  testing::runOnRanks(shape, c.hierarchy(), c.labels(), c.plans(),
                      [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                        runner.run(0, {0.0, 0.0, 0, {}});
                        for (std::int64_t s = 1; s <= 3; ++s) runner.run(1, {0.0, 0.0, s, {}});
                        runner.bringHome(c.results());
                        for (std::size_t n = 0; n < data.ownPatches().size(); ++n)
                          values[static_cast<std::size_t>(data.ownPatches()[n])] = c.valuesOn(data, n);
                      });
  return values;
}

/// All shapes with halos that stay private, that are shared, and with whole levels, in patches of 4^3.
std::vector<WideHalo> smallCases() {
  std::vector<WideHalo> cases;
  for (const char* shape : {"box", "L", "plus"}) {
    for (const std::int64_t halo : {std::int64_t{0}, std::int64_t{1}, std::int64_t{4}, kWholeLevel}) {
      for (const bool periodic : {false, true}) {
        for (const bool hostReads : {false, true}) cases.push_back({shape, 16, halo, 4, periodic, hostReads});
      }
    }
  }
  return cases;
}

TEST(SharedWindowsOnDevices, GiveTheBitsOfTheHost) {
  for (const WideHalo& what : smallCases()) {
    const auto right = valuesAfterSteps(what, {});
    for (const int ranks : {1, 2}) {
      for (const int threads : {0, 2}) {
        RunShape shape{ranks, threads};
        shape.devices = emulated();
        EXPECT_EQ(valuesAfterSteps(what, shape), right)
            << asText(what) << ", " << ranks << " ranks, " << threads << " threads";
      }
    }
  }
}

TEST(SharedWindowsOnDevices, GiveThemWithPrivateCopiesAndUnderEverySeed) {
  for (const WideHalo& what : smallCases()) {
    const auto right = valuesAfterSteps(what, {});
    RunShape apart;
    apart.sharing = WindowSharing::Off;
    apart.devices = emulated();
    EXPECT_EQ(valuesAfterSteps(what, apart), right) << asText(what);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      RunShape shape{1 + static_cast<int>(seed % 2)};
      shape.schedule = seed;
      shape.devices = emulated();
      shape.devices.emulated.progress = EmulatedProgress::Stepped;
      shape.devices.emulated.seed = seed;
      EXPECT_EQ(valuesAfterSteps(what, shape), right) << asText(what) << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace tessera
