// Wide halos and whole levels stored as one on devices: the bits of the host, from little more memory than
// distinct values.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/assignment/patch_devices.hpp"
#include "scheduler/device/backend/cuda_device.hpp"
#include "taskgraph/proof/placement_check.hpp"
#include "tests/scheduler/runtime_rig.hpp"
#include "tests/wide_halo/wide_halo_case.hpp"

namespace tessera {
namespace {

using bench::kWholeLevel;
using bench::WideHalo;
using bench::WideHaloCase;
using test::RunShape;

DeviceOptions emulated(int count = 1) {
  DeviceOptions options;
  options.kind = DeviceKind::Emulated;
  options.numbers.resize(static_cast<std::size_t>(count));
  std::iota(options.numbers.begin(), options.numbers.end(), 0);
  options.standbyThread = false;
  options.emulated.longestDelay = std::chrono::microseconds(5);
  return options;
}

/// The values of all patches after three steps, in the order of their ids.
std::vector<std::vector<double>> valuesAfterSteps(const WideHalo& what, const RunShape& shape) {
  const WideHaloCase c(what);
  std::vector<std::vector<double>> values(static_cast<std::size_t>(c.hierarchy()->patchCount()));
  test::runOnRanks(shape, c.hierarchy(), c.labels(), c.plans(),
                   [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                     runner.run(0, {0.0, 0.0, 0, {}});
                     for (std::int64_t s = 1; s <= 3; ++s) runner.run(1, {0.0, 0.0, s, {}});
                     runner.copyToHost(c.results());
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

struct Manner {
  int ranks = 1;
  int threads = 0;
  int devices = 1;
  std::vector<std::string> cpuTasks{};
};

void expectBitsOfHost(const WideHalo& what, const std::vector<Manner>& manners) {
  const auto right = valuesAfterSteps(what, {});
  for (const Manner& manner : manners) {
    RunShape shape{manner.ranks, manner.threads};
    shape.devices = emulated(manner.devices);
    shape.devices.cpuTasks = manner.cpuTasks;
    EXPECT_EQ(valuesAfterSteps(what, shape), right)
        << asText(what) << ", " << manner.ranks << " ranks, " << manner.threads << " threads, "
        << manner.devices
        << " devices, on the host: " << (manner.cpuTasks.empty() ? "nothing" : manner.cpuTasks.front());
  }
}

TEST(SharedWindowsOnDevices, GiveTheBitsOfTheHost) {
  for (const WideHalo& what : smallCases()) expectBitsOfHost(what, {{1, 0}, {1, 2}, {2, 0}, {2, 2}});
}

TEST(SharedWindowsOnDevices, GiveThemOnSeveralDevices) {
  for (const WideHalo& what : smallCases()) expectBitsOfHost(what, {{1, 0, 2}, {1, 2, 3}, {2, 2, 2}});
}

TEST(SharedWindowsOnDevices, GiveThemWhereTheHostHasSomeOfTheTasks) {
  std::vector<Manner> manners;
  for (const char* task : {"Wide::initial", "Wide::keep", "Wide::step"}) {
    manners.push_back({1, 2, 1, {task}});
    manners.push_back({1, 0, 2, {task}});
  }
  for (const WideHalo& what : smallCases()) expectBitsOfHost(what, manners);
}

TEST(SharedWindowsOnDevices, GiveThemOnGpus) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
  for (const WideHalo& what : smallCases()) {
    RunShape shape;
    shape.devices = emulated(std::min(cudaDeviceCount(), 3));
    shape.devices.kind = DeviceKind::Cuda;
    EXPECT_EQ(valuesAfterSteps(what, shape), valuesAfterSteps(what, {})) << asText(what);
    shape.devices.numbers = {0, 0, 0};  // the first GPU, taken for three
    EXPECT_EQ(valuesAfterSteps(what, shape), valuesAfterSteps(what, {})) << asText(what) << ", three in one";
  }
}

TEST(SharedWindowsOnDevices, AreOneOfEachDevice) {
  const WideHaloCase c({"box", 64, 16});
  const RankMap owners = distribute(*c.hierarchy(), 1);
  CompileInput input{c.hierarchy(), &c.labels(), &owners, 0};
  for (const int devices : {1, 2, 4}) {
    input.devices = devices;
    const CompiledGraphs graphs = compileGraphs(c.plans(), input);
    ASSERT_EQ(std::ssize(graphs.shared), devices);
    const std::vector<DeviceAssignment> homes = detail::PatchDevices(graphs, devices).places();
    for (const SharedWindow& shared : graphs.shared) {
      EXPECT_EQ(std::ssize(shared.members), 64 / devices);
      for (const std::int32_t member : shared.members) {
        EXPECT_EQ(homes[static_cast<std::size_t>(member)],
                  homes[static_cast<std::size_t>(shared.members.front())]);
      }
    }
    const auto place = [&](Rank) -> PlaceTask {
      return [&](const TaskDeclaration&, LevelId, std::int32_t local) {
        return homes[static_cast<std::size_t>(local)];
      };
    };
    expectGoodPlacement(std::span(&graphs, 1), place, [&](Rank) { return homes; });
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

/// What the variables take on the devices of one rank.
std::vector<DeviceMemoryUse> memoryOfDevices(const WideHalo& what, WindowSharing sharing, int devices) {
  const WideHaloCase c(what);
  RunShape shape;
  shape.devices = emulated(devices);
  shape.sharing = sharing;
  std::vector<DeviceMemoryUse> uses;
  test::runOnRanks(shape, c.hierarchy(), c.labels(), c.plans(),
                   [&](StepRunner& runner, DataWarehouse&, Transport&) { uses = runner.deviceMemory(); });
  return uses;
}

DeviceMemoryUse memoryOf(const WideHalo& what, WindowSharing sharing) {
  return memoryOfDevices(what, sharing, 1).at(0);
}

TEST(SharedWindowsOnDevices, OfEachDeviceHoldItsShareAndTheHaloAroundIt) {
  const std::vector<DeviceMemoryUse> uses = memoryOfDevices({"box", 64, 16}, WindowSharing::On, 2);
  ASSERT_EQ(uses.size(), 2U);
  for (const DeviceMemoryUse& use : uses) {
    EXPECT_EQ(use.bytes, 2 * 96 * 96 * 64 * 8) << "Old and New of 64 x 64 x 32 cells and 16 around them";
    EXPECT_EQ(use.distinctBytes, use.bytes);
  }
}

TEST(SharedWindowsOnDevices, TakeThePlaceOfPrivateCopies) {
  const WideHalo what{"box", 32, 16};
  constexpr std::int64_t kDistinct = 2 * 64 * 64 * 64 * 8;  // Old and New of 32^3 cells and 16 around them
  EXPECT_EQ(memoryOf(what, WindowSharing::On).bytes, kDistinct);
  EXPECT_EQ(memoryOf(what, WindowSharing::On).distinctBytes, kDistinct);
  EXPECT_EQ(memoryOf(what, WindowSharing::Off).bytes, 2 * 8 * 48 * 48 * 48 * 8) << "8 patches of 16^3";
  EXPECT_EQ(memoryOf(what, WindowSharing::Off).distinctBytes, kDistinct);
}

TEST(SharedWindowsOnDevices, AreTheLevelWhereItIsReadWhole) {
  const WideHalo what{"box", 32, kWholeLevel};
  constexpr std::int64_t kDistinct = 2 * 32 * 32 * 32 * 8;
  EXPECT_EQ(memoryOf(what, WindowSharing::On).bytes, kDistinct);
  EXPECT_EQ(memoryOf(what, WindowSharing::On).distinctBytes, kDistinct);
  EXPECT_EQ(memoryOf(what, WindowSharing::Off).bytes, kDistinct + kDistinct / 2) << "and a copy of the level";
  EXPECT_EQ(memoryOf(what, WindowSharing::Off).distinctBytes, kDistinct);
}

TEST(SharedWindowsOnDevices, AreBoxesWhereShapesHaveVoids) {
  for (const char* shape : {"L", "plus"}) {
    EXPECT_LE(memoryOf({shape, 64, kWholeLevel}, WindowSharing::On).overDistinct(), 1.34) << shape;
    EXPECT_LE(memoryOf({shape, 64, 16}, WindowSharing::On).overDistinct(), 1.15) << shape;
  }
}

}  // namespace
}  // namespace tessera
