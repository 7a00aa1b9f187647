#include "tools/tessera/device_choice.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"

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
}

TEST(DeviceChoice, RanksOfAHostTakeTheGpusInTurns) {
  const DeviceChoice choice = parseDeviceChoice("cuda:2,0");
  EXPECT_THAT(devicesOf(choice, 0).numbers, ElementsAre(2));
  EXPECT_THAT(devicesOf(choice, 1).numbers, ElementsAre(0));
  EXPECT_THAT(devicesOf(choice, 2).numbers, ElementsAre(2));
}

TEST(DeviceChoice, WhatIsNoDeviceIsRefusedWithWhatCanBeWritten) {
  for (const char* wrong : {"", "gpu", "cuda:", "cuda:x", "cuda:1,", "cuda:-1", "none:1", "emulated:2"}) {
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
