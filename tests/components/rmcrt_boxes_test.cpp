// Net powers that leave boxes as radiation.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

constexpr const char* kInner =
    "rmcrt.box=[{ name = \"inner\", lower = [0.25, 0.25, 0.25], upper = [0.75, 0.75, 0.75] }]";
constexpr const char* kWhole = "rmcrt.box=[{ name = \"whole\", lower = [0, 0, 0], upper = [1, 1, 1] }]";

Simulate cube(std::int64_t cells, int rays) {
  return simulate("rmcrt/burns_christon")
      .cells({cells, cells, cells})
      .set("rmcrt.rays=" + std::to_string(rays));
}

TEST(RmcrtBoxes, ThatHoldAllLoseWhatTheWallsTakeUp) {
  const Outcome o = cube(16, 0).set("rmcrt.wall_rays=40").set(kWhole).run();

  EXPECT_NEAR(o.end.at("rmcrt.box_whole"), 0.749847, 0.01 * 0.749847);
  double walls = 0.0;
  for (const char* side : {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"})
    walls += o.end.at(std::string("rmcrt.wall_") + side);
  EXPECT_NEAR(o.end.at("rmcrt.box_whole"), walls, 0.01 * walls);
  EXPECT_EQ(o.fields.count("rmcrt.divQ"), 0U);
  EXPECT_EQ(o.end.count("rmcrt.loss"), 0U);
}

double lossWithin(const WholeField& divQ, const Box& cells, double volume) {
  double sum = 0.0;
  forEachIndex(cells, [&](Index x) { sum += divQ(x) * volume; });
  return sum;
}

TEST(RmcrtBoxes, LoseWhatTheirCellsLose) {
  const Outcome o = cube(16, 40).set("rmcrt.wall_rays=100").set(kInner).run();

  const double loss =
      lossWithin(o.fields.at("rmcrt.divQ"), {{4, 4, 4}, {12, 12, 12}}, std::pow(1.0 / 16.0, 3));
  EXPECT_NEAR(o.end.at("rmcrt.box_inner"), loss, 0.02 * loss);
  EXPECT_EQ(o.fields.at("rmcrt.power_inner")({3, 8, 8}), 0.0);
  EXPECT_EQ(o.fields.at("rmcrt.power_inner")({5, 8, 8}), 0.0);
  EXPECT_GT(o.fields.at("rmcrt.power_inner")({4, 8, 8}), 0.0);
}

// The border of the box is inside, across and beside the refined part.
TEST(RmcrtBoxes, LoseWhatTheirCellsLoseOnLevels) {
  const Outcome o =
      cube(8, 40)
          .set("grid.level=[{ lower = [0.25, 0.25, 0], upper = [0.75, 0.5, 1], patch_size = [4, 4, 4] }]")
          .set("rmcrt.wall_rays=200")
          .set("rmcrt.halo=1")
          .set(kInner)
          .run();

  const double coarse = std::pow(1.0 / 8.0, 3);
  const double loss =
      lossWithin(o.fields.at("rmcrt.divQ"), {{2, 4, 2}, {6, 6, 6}}, coarse) +
      lossWithin(o.fields.at("rmcrt.divQ on level 1"), {{4, 4, 4}, {12, 8, 12}}, coarse / 8.0);
  EXPECT_NEAR(o.end.at("rmcrt.box_inner"), loss, 0.03 * loss);
}

/// A grey cube, hot, that sees nothing but cold and black walls.
Simulate hotBody() {
  return cube(8, 0)
      .set("rmcrt.emissive_power=0")
      .set("rmcrt.absorption=0")
      .set("rmcrt.stefan_boltzmann=1")
      .set(
          "rmcrt.solid={ where = \"max(abs(x - 0.5), max(abs(y - 0.5), abs(z - 0.5))) < 0.25\", temperature "
          "= 2, emissivity = 0.6 }");
}

TEST(RmcrtBoxes, AroundABodyLoseWhatItSends) {
  const double sent = 0.6 * 16.0 * 6.0 * 0.25;
  const Outcome tight = hotBody().set("rmcrt.wall_rays=1").set(kInner).run();
  const Outcome loose = hotBody()
                            .set("rmcrt.wall_rays=200")
                            .set(
                                "rmcrt.box=[{ name = \"loose\", lower = [0.1, 0.1, 0.1], upper = [0.8, 0.8, "
                                "0.8], rays = 100 }]")
                            .run();

  EXPECT_NEAR(tight.end.at("rmcrt.box_inner"), sent, 1e-13);
  EXPECT_NEAR(loose.end.at("rmcrt.box_loose"), sent, 0.02 * sent);
}

TEST(RmcrtBoxes, LoseNothingBetweenEquals) {
  const Outcome o =
      simulate("rmcrt/enclosure")
          .cells({8, 8, 8})
          .set("grid.level=[{ lower = [0.25, 0.25, 0], upper = [0.75, 0.5, 1], patch_size = [4, 4, 4] }]")
          .set("rmcrt.rays=0")
          .set("rmcrt.wall_rays=0")
          .set(
              "rmcrt.box=[{ name = \"a\", lower = [0.1, 0.3, 0.3], upper = [0.7, 1, 0.9], rays = 3 }, "
              "{ name = \"b\", lower = [0.4, 0.4, 0.4], upper = [0.6, 0.6, 0.6], rays = 3 }]")
          .run();
  EXPECT_EQ(o.end.at("rmcrt.box_a"), 0.0);
  EXPECT_EQ(o.end.at("rmcrt.box_b"), 0.0);
}

TEST(RmcrtBoxes, HaveTheSameBitsOnEveryLayoutRankAndDevice) {
  for (const char* rays : {"rmcrt.rays=2", "rmcrt.rays=0"}) {
    const auto small = [&] {
      return simulate("rmcrt/burns_christon_two_level")
          .cells({4, 4, 4})
          .set(rays)
          .set("rmcrt.wall_rays=2")
          .set("rmcrt.wall.emissivity=0.7")
          .set(kInner);
    };
    const Outcome right = small().patches({1, 1, 1}).run();
    EXPECT_EQ(firstDifference(right, small().patches({2, 2, 1}).ranks(3).threads(2).run()), "");
    EXPECT_EQ(firstDifference(right, small().patches({2, 1, 1}).checked().run()), "");
    const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
    EXPECT_EQ(firstDifference(right, small().patches({2, 1, 2}).ranks(2).devices(devices).run()), "");
  }
}

TEST(RmcrtBoxes, DecksThatMakeNoSenseAreErrors) {
  const auto errorOf = [](const std::string& assignment) -> std::string {
    try {
      cube(4, 0).set("rmcrt.wall_rays=0").set(assignment).run();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(errorOf("rmcrt.seed=1").find("rmcrt.rays is 0 and nothing else has rays; give rmcrt.wall_rays"),
            std::string::npos);
  EXPECT_NE(errorOf(kWhole).find("the box \"whole\" has no rays, since wall_rays is 0"), std::string::npos);
  EXPECT_NE(errorOf("rmcrt.box=[{ name = \"out\", lower = [2, 0, 0], upper = [3, 1, 1], rays = 1 }]")
                .find("the box \"out\" has nothing of the domain in it"),
            std::string::npos);
  EXPECT_NE(
      errorOf("rmcrt.box=[{ name = \"a b\", lower = [0, 0, 0], upper = [1, 1, 1], rays = 1 }]").find("a b"),
      std::string::npos);
}

}  // namespace
}  // namespace tessera::test
