#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/components/several_devices.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kScratchSteps = 3;
constexpr std::int64_t kMebibyte = 1 << 20;

/// Fluxes of a patch of so many cells along x and y: 5 doubles for each face.
constexpr std::int64_t scratchOfPatch(std::int64_t n) { return 2 * (n + 1) * n * 5 * 8; }

Simulate wideVortex(int patch) {
  const std::string size = std::to_string(patch);
  return simulate("euler/vortex")
      .set("grid.cells=[128,128,1]")
      .set("grid.patch_size=[" + size + "," + size + ",1]");
}

Simulate wideVortexOnDevice(int patch, std::int64_t limit, std::int64_t launchBytes) {
  DeviceOptions options = firstDevices(DeviceKind::Emulated, 1);
  options.limitBytes = limit;
  options.launchBytes = launchBytes;
  return wideVortex(patch).devices(options);
}

std::int64_t bytesOfVariables(int patch) {
  return wideVortexOnDevice(patch, 0, 1 << 30).run(1).paging.neededBytes;
}

TEST(DeviceScratch, FieldsOfAllTasksComeOutOfWhatTheVariablesLeave) {
  const Outcome right = wideVortex(16).run(kScratchSteps);
  const std::int64_t enough = bytesOfVariables(16) + 65 * scratchOfPatch(16);
  EXPECT_EQ(firstDifference(right, wideVortexOnDevice(16, enough, 2 * kMebibyte).run(kScratchSteps)), "");
}

TEST(DeviceScratch, WhereTheyDoNotFitFewerTasksAreLaunchedAtATime) {
  const Outcome right = wideVortex(16).run(kScratchSteps);
  const std::int64_t needed = bytesOfVariables(16);
  // All 64 tasks need 1.4 MB, and as much is left for their tables: two halves are launched.
  EXPECT_EQ(firstDifference(right, wideVortexOnDevice(16, needed, 2 * kMebibyte).run(kScratchSteps)), "");
}

TEST(DeviceScratch, OneTaskThatDoesNotFitIsAnErrorWithItsBytes) {
  const std::int64_t needed = bytesOfVariables(128);
  try {
    wideVortexOnDevice(128, needed, kMebibyte).run(1);
    FAIL() << "the scratch fields of the only task need more than a MiB";
  } catch (const Error& error) {
    EXPECT_EQ(error.exitCode(), 6);
    EXPECT_THAT(error.what(),
                HasSubstr("wanted    " + std::to_string(scratchOfPatch(128)) + " bytes for scratch fields"));
    EXPECT_THAT(error.what(), HasSubstr("device.limit"));
  }
}

}  // namespace
}  // namespace tessera::test
