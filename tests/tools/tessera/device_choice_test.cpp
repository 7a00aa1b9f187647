#include "tools/tessera/device_choice.hpp"

#include <gmock/gmock.h>

#include "core/text/error.hpp"

namespace tessera {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DeviceChoice, NamesAKindAndGpus) {
  EXPECT_EQ(parseDeviceChoice("none").kind, DeviceKind::None);
  EXPECT_EQ(parseDeviceChoice("emulated").kind, DeviceKind::Emulated);
  EXPECT_EQ(parseDeviceChoice("cuda").kind, DeviceKind::Cuda);
  EXPECT_TRUE(parseDeviceChoice("cuda").numbers.empty());
  EXPECT_THAT(parseDeviceChoice("cuda:2,0").numbers, ElementsAre(2, 0));
  EXPECT_TRUE(parseDeviceChoice("emulated").numbers.empty());
  EXPECT_THAT(parseDeviceChoice("emulated:3").numbers, ElementsAre(0, 1, 2));
}

TEST(DeviceChoice, MoreRanksThanGpusTakeThemInTurns) {
  const DeviceChoice choice = parseDeviceChoice("cuda:2,0");
  EXPECT_THAT(devicesOf(choice, 0, 3).numbers, ElementsAre(2));
  EXPECT_THAT(devicesOf(choice, 1, 3).numbers, ElementsAre(0));
  EXPECT_THAT(devicesOf(choice, 2, 3).numbers, ElementsAre(2));
}

TEST(DeviceChoice, MoreGpusThanRanksAreDealtOutInRanges) {
  const DeviceChoice choice = parseDeviceChoice("cuda:4,3,2,1,0");
  EXPECT_THAT(devicesOf(choice, 0, 1).numbers, ElementsAre(4, 3, 2, 1, 0));
  EXPECT_THAT(devicesOf(choice, 0, 2).numbers, ElementsAre(4, 3, 2));
  EXPECT_THAT(devicesOf(choice, 1, 2).numbers, ElementsAre(1, 0));
  EXPECT_THAT(devicesOf(choice, 4, 5).numbers, ElementsAre(0));
}

TEST(DeviceChoice, RanksGetTheGpusThatAreNearerToThem) {
  const DeviceChoice choice = parseDeviceChoice("cuda:4,3,2,1");
  const std::vector<std::vector<int>> distances{{20, 20, 10, 10}, {10, 10, 20, 20}};
  EXPECT_THAT(devicesOf(choice, 0, distances).numbers, ElementsAre(2, 1));
  EXPECT_THAT(devicesOf(choice, 1, distances).numbers, ElementsAre(4, 3));
}

TEST(DeviceChoice, EachRankHasEmulatedDevicesOfItsOwn) {
  for (const std::int32_t place : {0, 1}) {
    EXPECT_THAT(devicesOf(parseDeviceChoice("emulated"), place, 2).numbers, ElementsAre(0));
    EXPECT_THAT(devicesOf(parseDeviceChoice("emulated:2"), place, 2).numbers, ElementsAre(0, 1));
  }
}

TEST(DeviceChoice, ARankHasNoMoreEmulatedDevicesThanStatusWordsHavePlacesFor) {
  EXPECT_EQ(parseDeviceChoice("emulated:8").numbers.size(), 8U);
  for (const char* wrong : {"emulated:0", "emulated:9"}) {
    try {
      parseDeviceChoice(wrong);
      FAIL() << wrong;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.message(), HasSubstr("one to 8 emulated devices")) << wrong;
    }
  }
}

TEST(DeviceChoice, WhatIsNoDeviceIsRefusedWithWhatCanBeWritten) {
  for (const char* wrong : {"", "gpu", "cuda:", "cuda:x", "cuda:1,", "cuda:-1", "none:1", "emulated:"}) {
    try {
      parseDeviceChoice(wrong);
      FAIL() << wrong;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.message(), HasSubstr("cuda:0,2")) << wrong;
    }
  }
  EXPECT_THROW(parseDeviceChoice("cuda:1,1"), UsageError);
}

}  // namespace
}  // namespace tessera
