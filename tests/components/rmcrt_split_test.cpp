// Rays of a patch that several tasks share.
#include <string>

#include <gtest/gtest.h>

#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

Simulate small(const std::string& rays) {
  return simulate("rmcrt/burns_christon_two_level")
      .cells({4, 4, 4})
      .patches({1, 1, 1})
      .set("grid.level=[{ lower = [0, 0, 0], upper = [1, 1, 0.5], patch_size = [8, 8, 4] }]")
      .set("rmcrt.rays=" + rays)
      .set("rmcrt.wall_rays=3")
      .set("rmcrt.incident=true")
      .set("rmcrt.solid.where=\"x > 0.8 && y < 0.3\"")
      .set("rmcrt.wall.emissivity=0.7")
      .set("rmcrt.box=[{ name = \"low\", lower = [0, 0, 0], upper = [1, 0.5, 0.5] }]");
}

// Fewer rays than parts, as many, and more that do not divide evenly.
TEST(RmcrtSplit, AnySharesGiveTheSameBits) {
  for (const std::string rays : {"1", "5", "16", "37"}) {
    const Outcome right = small(rays).run();
    EXPECT_GT(right.end.at("rmcrt.loss"), 0.1);
    for (const char* shares : {"2", "3", "16"})
      EXPECT_EQ(firstDifference(right, small(rays).set(std::string("rmcrt.split=") + shares).run()), "")
          << rays << " rays, " << shares << " shares";
  }
}

TEST(RmcrtSplit, ThreadsRanksAndDevicesGiveTheSameBits) {
  for (const char* kind : {"rmcrt.scattering=1", "rmcrt.precision=\"float\""}) {
    const auto deck = [&](const char* shares) {
      return small("21").set(kind).set(std::string("rmcrt.split=") + shares);
    };
    const Outcome right = deck("1").run();
    EXPECT_EQ(firstDifference(right, deck("8").threads(4).run()), "");
    EXPECT_EQ(firstDifference(right, deck("3").patches({2, 1, 2}).ranks(2).seed(7).run()), "");
    EXPECT_EQ(firstDifference(right, deck("5").checked().run()), "");
    for (const int devices : {1, 2})
      EXPECT_EQ(firstDifference(right, deck("4").devices(firstDevices(DeviceKind::Emulated, devices)).run()),
                "");
  }
}

TEST(RmcrtSplit, WithoutRaysFromCellsSharesWallsAndBoxes) {
  const auto deck = [](const char* shares) {
    return small("0").set("rmcrt.incident=false").set(std::string("rmcrt.split=") + shares);
  };
  EXPECT_EQ(firstDifference(deck("1").run(), deck("4").threads(2).run()), "");
}

}  // namespace
}  // namespace tessera::test
